import { z } from 'zod'
import type { Hook } from '../hooks.js'
import { hasMethods } from '../lib/members.js'
import { otp, password, registration, twoFactor } from './accounts.js'
import { baseUrl, trustedOrigin } from './addresses.js'
import { admin } from './admin.js'
import { brand, locale } from './brand.js'
import { cookies } from './cookies.js'
import { database } from './database.js'
import { duration, either, foreign, list, nothing, oneOrMore, orNull, text, wholeNumber } from './field.js'
import type { AuthenticateHook, HooksInput } from './input.js'
import { jwks } from './jwks.js'
import { limits } from './limits.js'
import type { Logger } from './logger.js'
import { mail } from './mail.js'
import { network, trustedProxies } from './networks.js'
import { passkeys } from './passkeys.js'
import { path, pathPrefix, publicRoute } from './paths.js'
import { furtherProviders, type ProviderKinds, providerOf } from './providers.js'
import { redis } from './redis.js'
import { secrets } from './secrets.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const hook = foreign<Hook>('must be a function', isFunction).exactOptional()
const legacyHook = foreign<NonNullable<HooksInput['onLoginUser']>>('must be a function', isFunction).exactOptional()
const logger = foreign<Logger>('must have the methods warn and error', (value) => hasMethods(value, ['warn', 'error']))
const folder = text('must be the path of a folder', (value) => (value === '' || /\p{Cc}/u.test(value) ? null : value))

/**
 * The table of settings: name, type, default and the rules of each single setting. Rules over several settings are in
 * `rules.ts`. No setting is required here, so that every fault can be reported at once.
 */
export function createSettingsSchema(kinds: ProviderKinds) {
  return z.strictObject({
    JWT_ACCESS_TOKEN_SECRET: orNull(secrets),
    JWT_REFRESH_TOKEN_SECRET: orNull(secrets),
    encryptionKey: orNull(secrets),
    redirectSuccessUrl: z.string().default('/'),
    redirectFailUrl: orNull(z.string()),
    redirectLogoutUrl: z.string().default('/'),
    baseAPIRoutes: oneOrMore('must be a path prefix or a list of them', pathPrefix).prefault('/api'),
    publicRoutes: list(publicRoute),
    google: orNull(providerOf(kinds.google, 'google')),
    github: orNull(providerOf(kinds.github, 'github')),
    oauth: furtherProviders(kinds).prefault(nothing),
    basePath: path.prefault('/auth'),
    baseUrl: orNull(baseUrl),
    database: orNull(database),
    redis: orNull(redis),
    mail: orNull(mail),
    templates: orNull(folder),
    labels: z.record(z.string(), z.string()).prefault(nothing),
    locale: locale.prefault('en'),
    brand: brand.prefault(nothing),
    accessTokenLifetime: orNull(duration('1s', '1d', '1m')),
    JWT_ACCESS_TOKEN_SECRET_EXPIRE: orNull(duration('1s', '1d', '1m')),
    refreshTokenLifetime: orNull(duration('1m', '400d')),
    JWT_REFRESH_TOKEN_SECRET_EXPIRE: orNull(duration('1m', '400d')),
    sessionLifetime: orNull(duration('1m', '3650d')),
    maxSessions: wholeNumber(1, 10_000).default(50),
    cookies: cookies.prefault(nothing),
    trustedOrigins: list(trustedOrigin),
    trustedProxies: trustedProxies.prefault(0),
    registration: registration.prefault(nothing),
    password: password.prefault(nothing),
    otp: otp.prefault(nothing),
    twoFactor: twoFactor.prefault(nothing),
    passkeys: passkeys.prefault(nothing),
    limits: either<false | z.input<typeof limits>, z.output<typeof limits> | null>((value) =>
      value === false ? z.literal(false).transform(() => null) : limits,
    ).prefault(nothing),
    apiTokens: z
      .strictObject({ inUrl: z.boolean().default(true), refuseBrowsers: z.boolean().default(true) })
      .prefault(nothing),
    jwks: orNull(jwks),
    allowList: list(network),
    authenticate: orNull(foreign<AuthenticateHook>('must be a function', isFunction)),
    hooks: z
      .strictObject({
        beforeRegister: hook,
        afterRegister: hook,
        beforeLogin: hook,
        afterLogin: hook,
        onLoginUser: legacyHook,
        onSignupUser: legacyHook,
      })
      .prefault(nothing),
    admin: admin.prefault(nothing),
    revocation: z.strictObject({ staleness: duration('1s', '1m').prefault('10s') }).prefault(nothing),
    logger: orNull(logger),
  })
}

/** The parsed settings with their defaults, before the rules over several settings. */
export type Table = z.output<ReturnType<typeof createSettingsSchema>>
