import { createConsoleLogger } from './logger.js'
import { lifetimesOf } from './rules.js'
import type { Table } from './schema.js'
import { providersOf, type Site } from './site.js'

/** The settings as the rest of the house reads them, from a table and a place without faults. */
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
    database: table.database,
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
    registration: table.registration,
    password: { ...table.password, pepper: table.password.pepper ?? [] },
    otp: otpOf(table),
    limits: table.limits,
    apiTokens: table.apiTokens,
    jwks: table.jwks && { ...table.jwks, audience: table.jwks.audience ?? [] },
    allowList: [...new Set(table.allowList)],
    authenticate: table.authenticate,
    hooks: table.hooks,
    admin: { emails: [...new Set(table.admin.emails)], page: table.admin.page ?? `${table.basePath}/admin` },
    revocation: { stalenessSeconds: table.revocation.staleness },
    logger: table.logger ?? createConsoleLogger(),
  }
}

/** Without a name of its own a product is called by its host. An issuer may hold no colon (otpauth URIs end it there). */
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

function otpOf({ otp }: Table) {
  return { enabled: otp.enabled, length: otp.length, lifetimeSeconds: otp.lifetime, tries: otp.tries }
}
