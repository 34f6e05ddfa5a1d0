import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { z } from 'zod'
import type { Hook } from '../hooks.js'
import type { TrustedProxies } from '../lib/client-ip.js'
import { parseCidr } from '../lib/ip-address.js'
import { hasMethods } from '../lib/members.js'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { otp, password, registration, twoFactor } from './accounts.js'
import { baseUrl, trustedOrigin } from './addresses.js'
import { admin } from './admin.js'
import { database } from './database.js'
import { duration, either, foreign, list, nothing, oneOrMore, orNull, shortText, text, wholeNumber } from './field.js'
import type { AuthenticateHook, HooksInput } from './input.js'
import { jwks } from './jwks.js'
import { limits } from './limits.js'
import type { Logger } from './logger.js'
import { mail } from './mail.js'
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

/** The language of pages and mails (BCP 47). */
const locale = text('must be a language tag such as en or pt-BR', (value) => {
  // The only check of the platform is this constructor, which throws.
  try {
    return new Intl.Locale(value).toString()
  } catch {
    return null
  }
})

const logoUrl = text('must be an https URL or a path that begins with one slash', (value) => {
  const url = parseHttpUrl(value)
  if (url !== null) return isSecureUrl(url) ? value : null
  return /^\/(?!\/)[\x21-\x5b\x5d-\x7e]{0,1024}$/.test(value) ? value : null
})

/** The colour goes into a style sheet, so only hexadecimal colours are accepted. */
const accentColor = text('must be a colour such as #0a7 or #00aa77', (value) =>
  /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value) ? value : null,
)

const brand = z.strictObject({
  name: orNull(shortText(64)),
  logoUrl: orNull(logoUrl),
  accentColor: orNull(accentColor),
})

const domain = text('must be a domain of two or more labels, such as example.com', (value) => {
  const ascii = domainToASCII(value.replace(/^\./, '')).toLowerCase()
  const labels = ascii.split('.')
  const sound = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  return sound && isIP(ascii) === 0 ? ascii : null
})

const cookies = z.strictObject({
  sameSite: z.enum(['lax', 'strict', 'none']).default('lax'),
  domain: orNull(domain),
  secure: orNull(z.boolean()),
  partitioned: z.boolean().default(false),
  suffix: text('must be at most 32 letters, digits, hyphens and underscores', (value) =>
    /^[A-Za-z0-9_-]{0,32}$/.test(value) ? value : null,
  ).default(''),
})

/** An entry of the allow-list, canonical. */
const network = text('must be an IP address or a CIDR', (value) => parseCidr(value)?.text ?? null)

/** With a range of all addresses as trusted proxies, every client could claim any address. */
const proxyNetwork = text('must be an IP address, a CIDR other than 0.0.0.0/0 and ::/0, or unix', (value) => {
  if (value === 'unix') return value
  const cidr = parseCidr(value)
  return cidr === null || cidr.prefix === 0 ? null : cidr.text
})

const hops = wholeNumber(0, 16).transform(
  (count): TrustedProxies => (count === 0 ? { kind: 'none' } : { kind: 'hops', count }),
)
const networks = z
  .array(proxyNetwork, { error: 'must be a number of hops or a list of IP addresses and CIDRs' })
  .transform((cidrs): TrustedProxies => (cidrs.length === 0 ? { kind: 'none' } : { kind: 'cidrs', cidrs }))

export const trustedProxies = either<number | readonly string[], TrustedProxies>((value) =>
  typeof value === 'number' ? hops : networks,
)
