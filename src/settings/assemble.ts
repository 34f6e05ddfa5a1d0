import { formFieldsOf } from './form-fields.js'
import { createConsoleLogger } from './logger.js'
import { passkeysOf } from './passkey-site.js'
import { adminPageOf, lifetimesOf } from './rules.js'
import type { Table } from './schema.js'
import { providersOf, type Site } from './site.js'

/** Builds the final settings from a parsed table and site that have no faults. */
export function assemble(table: Table, site: Site) {
  const refreshSecrets = table.JWT_REFRESH_TOKEN_SECRET ?? []
  const { access, refresh, session } = lifetimesOf(table)
  return {
    accessSecrets: table.JWT_ACCESS_TOKEN_SECRET ?? [],
    refreshSecrets,
    encryptionKeys: table.encryptionKey ?? [...refreshSecrets],
    redirectSuccessUrl: table.redirectSuccessUrl,
    redirectFailUrl: table.redirectFailUrl ?? `${site.urlPath}${table.basePath}/login`,
    redirectLogoutUrl: table.redirectLogoutUrl,
    baseAPIRoutes: [...new Set(table.baseAPIRoutes.map((prefix) => prefix.toLowerCase()))],
    publicRoutes: table.publicRoutes,
    providers: providersOf(table),
    basePath: table.basePath,
    origin: site.origin,
    urlPath: site.urlPath,
    ownOrigins: site.ownOrigins,
    development: site.development,
    // Only in development: the rules require it elsewhere.
    database: table.database ?? { kind: 'sqlite' as const, file: './latchkey.db' },
    redis: table.redis,
    mail: table.mail,
    templates: table.templates,
    labels: table.labels,
    locale: table.locale,
    ...namesOf(table, site),
    accessTokenSeconds: access,
    refreshTokenSeconds: refresh,
    sessionSeconds: session,
    maxSessions: table.maxSessions,
    cookies: cookiesOf(table, site),
    trustedOrigins: [...new Set(table.trustedOrigins)],
    trustedProxies: table.trustedProxies,
    registration: { ...table.registration, inputs: [...formFieldsOf(table.registration.fields).shown] },
    password: { ...table.password, pepper: table.password.pepper ?? [] },
    otp: otpOf(table),
    passkeys: passkeysOf(table, site),
    limits: table.limits,
    apiTokens: table.apiTokens,
    jwks: table.jwks && { ...table.jwks, audience: table.jwks.audience ?? [] },
    allowList: [...new Set(table.allowList)],
    authenticate: table.authenticate,
    hooks: table.hooks,
    admin: adminOf(table, site),
    revocation: { stalenessSeconds: table.revocation.staleness },
    logger: table.logger ?? createConsoleLogger(),
  }
}

/** Without `brand.name`, the product has the name of its host. A colon is removed, because it ends the issuer of an otpauth URI. */
function namesOf({ brand, twoFactor }: Table, site: Site) {
  const name = brand.name ?? site.hostname
  return {
    brand: { ...brand, name },
    twoFactor: { issuer: twoFactor.issuer ?? name.replaceAll(':', ' '), required: twoFactor.required },
  }
}

function cookiesOf({ cookies }: Table, site: Site) {
  const secure = cookies.secure ?? (cookies.sameSite === 'none' || !site.development)
  return { ...cookies, secure }
}

function adminOf({ admin, basePath }: Table, site: Site) {
  const { impersonation } = admin
  return {
    emails: [...new Set(admin.emails)],
    enabled: admin.enabled ?? admin.emails.length > 0,
    page: adminPageOf({ admin, basePath }),
    recentSeconds: admin.recent,
    twoFactor: admin.twoFactor ?? !site.development,
    impersonation: impersonation && {
      lifetimeSeconds: impersonation.lifetime,
      notify: impersonation.notify,
      exceptRoles: [...new Set(impersonation.exceptRoles)],
    },
  }
}

function otpOf({ otp }: Table) {
  const { lifetime, ...rest } = otp
  return { ...rest, lifetimeSeconds: lifetime }
}
