import { z } from 'zod'
import type { Hook } from '../hooks.js'
import { parseEmailAddress } from '../lib/email-address.js'
import { otp, password, registration, twoFactor } from './accounts.js'
import { baseUrl, oauth, oauthCredentials, trustedOrigin } from './addresses.js'
import { brand, locale } from './brand.js'
import { cookies } from './cookies.js'
import { database, hasMethods, redis } from './database.js'
import { duration, either, foreign, oneOrMore, text, wholeNumber } from './field.js'
import type { AuthenticateHook, HooksInput } from './input.js'
import { jwks } from './jwks.js'
import { limits } from './limits.js'
import type { Logger } from './logger.js'
import { mail } from './mail.js'
import { network, trustedProxies } from './networks.js'
import { path, pathPrefix, publicRoute } from './paths.js'
import { secrets } from './secrets.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const hook = foreign<Hook>('must be a function', isFunction).exactOptional()
const legacyHook = foreign<NonNullable<HooksInput['onLoginUser']>>('must be a function', isFunction).exactOptional()
const emailAddress = text('must be an email address', (value) => parseEmailAddress(value)?.canonical ?? null)
const folder = text('must be the path of a folder', (value) => (value === '' || /\p{Cc}/u.test(value) ? null : value))

/**
 * The table of settings: name to type, default and the rules that concern one setting alone. What several settings
 * decide together stands in `rules.ts`. No setting is required here, so that every fault can be told at once.
 */
export const settingsSchema = z.strictObject({
  JWT_ACCESS_TOKEN_SECRET: secrets.optional(),
  JWT_REFRESH_TOKEN_SECRET: secrets.optional(),
  encryptionKey: secrets.optional(),
  redirectSuccessUrl: z.string().default('/'),
  redirectFailUrl: z.string().optional(),
  redirectLogoutUrl: z.string().default('/'),
  baseAPIRoutes: oneOrMore('must be a path prefix or a list of them', pathPrefix).prefault('/api'),
  publicRoutes: z.array(publicRoute).prefault(() => []),
  google: oauthCredentials.optional(),
  github: oauthCredentials.optional(),
  oauth: oauth.prefault(() => ({})),
  basePath: path.prefault('/auth'),
  baseUrl: baseUrl.optional(),
  database: database.prefault('sqlite:./latchkey.db'),
  redis: redis.optional(),
  mail: mail.optional(),
  templates: folder.optional(),
  labels: z.record(z.string(), z.string()).prefault(() => ({})),
  locale: locale.prefault('en'),
  brand: brand.prefault(() => ({})),
  accessTokenLifetime: duration('1s', '1d', '1m').optional(),
  JWT_ACCESS_TOKEN_SECRET_EXPIRE: duration('1s', '1d', '1m').optional(),
  refreshTokenLifetime: duration('1m', '400d').optional(),
  JWT_REFRESH_TOKEN_SECRET_EXPIRE: duration('1m', '400d').optional(),
  sessionLifetime: duration('1m', '3650d').optional(),
  maxSessions: wholeNumber(1, 10_000).default(50),
  cookies: cookies.prefault(() => ({})),
  trustedOrigins: z.array(trustedOrigin).prefault(() => []),
  trustedProxies: trustedProxies.prefault(0),
  registration: registration.prefault(() => ({})),
  password: password.prefault(() => ({})),
  otp: otp.prefault(() => ({})),
  twoFactor: twoFactor.prefault(() => ({})),
  limits: either<false | z.input<typeof limits>, z.output<typeof limits> | null>((value) =>
    value === false ? z.literal(false).transform(() => null) : limits,
  ).prefault(() => ({})),
  apiTokens: z
    .strictObject({ inUrl: z.boolean().default(true), refuseBrowsers: z.boolean().default(true) })
    .prefault(() => ({})),
  jwks: jwks.optional(),
  allowList: z.array(network).prefault(() => []),
  authenticate: foreign<AuthenticateHook>('must be a function', isFunction).optional(),
  hooks: z
    .strictObject({
      beforeRegister: hook,
      afterRegister: hook,
      beforeLogin: hook,
      afterLogin: hook,
      onLoginUser: legacyHook,
      onSignupUser: legacyHook,
    })
    .prefault(() => ({})),
  admin: z
    .strictObject({ emails: z.array(emailAddress).prefault(() => []), page: path.optional() })
    .prefault(() => ({})),
  revocation: z.strictObject({ staleness: duration('1s', '1m').prefault('10s') }).prefault(() => ({})),
  logger: foreign<Logger>('must have the methods warn and error', (value) =>
    hasMethods(value, ['warn', 'error']),
  ).optional(),
})

/** The settings one by one: read, with defaults, but not yet seen together. */
export type Table = z.output<typeof settingsSchema>
