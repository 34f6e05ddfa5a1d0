import type { Settings } from '../settings.js'

/** A setting as administrators see it: never a secret, a URL with credentials, or an object of the application. */
export type ShownSettings = Readonly<Record<string, unknown>>

/** Stands for a value that is set and must not be shown. */
const set = 'set'

/**
 * The effective settings for the admin page, under their names in the settings. Each setting is listed here by hand, so a new
 * one is not shown until it is added. Settings that are shown whole hold no secrets: keep it so.
 */
export function shownSettings(settings: Settings): ShownSettings {
  const { mail, database, redis, password, jwks, hooks } = settings
  return {
    baseUrl: `${settings.origin}${settings.urlPath}`,
    basePath: settings.basePath,
    development: settings.development,
    baseAPIRoutes: settings.baseAPIRoutes,
    publicRoutes: settings.publicRoutes,
    redirectSuccessUrl: settings.redirectSuccessUrl,
    redirectFailUrl: settings.redirectFailUrl,
    redirectLogoutUrl: settings.redirectLogoutUrl,
    JWT_ACCESS_TOKEN_SECRET: secrets(settings.accessSecrets),
    JWT_REFRESH_TOKEN_SECRET: secrets(settings.refreshSecrets),
    encryptionKey: secrets(settings.encryptionKeys),
    database: database.kind,
    redis: redis === null ? null : set,
    mail: mail === null ? null : { from: mail.from, transport: set },
    providers: settings.providers.map(({ name }) => name),
    accessTokenSeconds: settings.accessTokenSeconds,
    refreshTokenSeconds: settings.refreshTokenSeconds,
    sessionSeconds: settings.sessionSeconds,
    maxSessions: settings.maxSessions,
    cookies: settings.cookies,
    trustedOrigins: settings.trustedOrigins,
    trustedProxies: settings.trustedProxies,
    registration: {
      enabled: settings.registration.enabled,
      emailVerification: settings.registration.emailVerification,
      fields: settings.registration.inputs.map(({ name }) => name),
    },
    password: { ...password, checkBreached: password.checkBreached !== false, pepper: secrets(password.pepper) },
    otp: settings.otp,
    twoFactor: settings.twoFactor,
    passkeys: settings.passkeys,
    limits: settings.limits,
    apiTokens: settings.apiTokens,
    jwks: jwks && { ...jwks, url: withoutCredentials(jwks.url) },
    allowList: settings.allowList,
    authenticate: settings.authenticate === null ? null : set,
    hooks: Object.entries(hooks).flatMap(([name, hook]) => (hook === undefined ? [] : [name])),
    admin: settings.admin,
    revocation: settings.revocation,
    templates: settings.templates === null ? null : set,
    locale: settings.locale,
    brand: settings.brand,
  }
}

/** How many, since a second one is a rotation under way. */
function secrets(values: readonly string[]): string {
  return values.length === 0 ? 'not set' : `${values.length} set`
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url)
  return `${parsed.origin}${parsed.pathname}`
}
