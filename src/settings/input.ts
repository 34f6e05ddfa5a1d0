import type { Hooks } from '../hooks.js'
import type { Duration } from '../lib/duration.js'
import type { User } from '../model/user.js'
import type { StandardSchema } from './accounts.js'
import type { AdminInput } from './admin.js'
import type { CodehooksDatastore, KyselyDialect } from './database.js'
import type { JwksInput } from './jwks.js'
import type { Logger } from './logger.js'
import type { MailFromInput } from './mail.js'
import type { PasskeysInput } from './passkeys.js'
import type { RedisClient } from './redis.js'

/** The request as the `authenticate` hook gets it. */
export interface HookRequest {
  method: string
  /** Below a mount. Percent-encoded letters are decoded, so that one path has one spelling; its case is as sent. */
  path: string
  /** As sent, without an API token in it. */
  query: string
  /** As sent, without headers that claim an identity or an address (`x-forwarded-*`, `x-real-ip`, `x-user`, …). */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The client's address, read through `trustedProxies`; null when it cannot be known. */
  ip: string | null
  /** The framework's own request, as it came; null where there is none. */
  raw: unknown
}

/** The principal that the hook accepts. `claims` is plain data, copied and frozen; default: empty. */
export interface HookAnswer {
  kind: 'hook'
  subject: string
  claims?: Readonly<Record<string, unknown>>
}

/** Decides in the application's own way: a principal of kind `hook`, `false` (403), or `undefined` (go on). */
export type AuthenticateHook = (
  request: HookRequest,
) => HookAnswer | false | undefined | Promise<HookAnswer | false | undefined>

/** The settings as an application writes them. `OAuthInput` is the type of the setting `oauth`. */
export interface SettingsInputWith<OAuthInput> {
  /** Signs access tokens: at least 32 random bytes (`openssl rand -base64 32`). Of a list the first signs, all verify. */
  JWT_ACCESS_TOKEN_SECRET: string | readonly string[] | undefined
  /** Signs refresh tokens; the same rules, and not the access secret. */
  JWT_REFRESH_TOKEN_SECRET: string | readonly string[] | undefined
  /** Keys digests of codes and seals what the store must not read. Of a list the first is used, all open. Default: the refresh secrets. */
  encryptionKey?: string | readonly string[] | undefined

  /** Where the application is reached; links in mails begin with it. https, or http on loopback, which means development. Required unless a `REDIRECT_URI` gives it. */
  baseUrl?: string | undefined
  /** Path of the routes of Latchkey. Default: `/auth`. */
  basePath?: string | undefined
  /** Path prefixes that the guard protects; `/` means everything but `basePath`. Default: `/api`. */
  baseAPIRoutes?: string | readonly string[] | undefined
  /** Exact paths, or `/prefix/*`, that stay open under the guard. Default: none. */
  publicRoutes?: readonly string[] | undefined
  /** Where a browser goes after signing in: a path, or a URL of a trusted origin. Default: `/`. */
  redirectSuccessUrl?: string | undefined
  /** Where a browser goes that is not signed in. Default: the sign-in page, `/auth/login`. */
  redirectFailUrl?: string | undefined
  /** Where a browser goes after signing out. Default: `/`. */
  redirectLogoutUrl?: string | undefined

  /** Sign-in with Google. `REDIRECT_URI` is the full address of `/auth/oauthcallback/google`. */
  google?: ProviderInput | undefined
  /** Sign-in with GitHub. `REDIRECT_URI` is the full address of `/auth/oauthcallback/github`. */
  github?: ProviderInput | undefined
  /**
   * Further providers by name, which is the end of each `REDIRECT_URI`. A name that Latchkey does not know is an OpenID
   * issuer. Default: none.
   */
  oauth?: OAuthInput | undefined

  /** `sqlite:./file`, `sqlite::memory:`, a `postgres:`, `mysql:` or `mariadb:` URL, a Kysely dialect, or the `Datastore` of codehooks-js. Default in development: `sqlite:./latchkey.db`; required elsewhere. */
  database?: string | KyselyDialect | CodehooksDatastore | undefined
  /**
   * `redis:` URL, or an ioredis client of your own (for Sentinel and Cluster), which stays yours to close: shared counters, and
   * revocations that reach other processes at once. Default: none.
   */
  redis?: string | RedisClient | undefined
  /** How mails go out: sender, and SMTP URL, nodemailer options or transport. Required outside development; there the default is a mailbox page. */
  mail?: MailInput | undefined
  /** Folder whose files replace the built-in templates of the same name. */
  templates?: string | undefined
  /** Texts of pages and mails by name. */
  labels?: Readonly<Record<string, string>> | undefined
  /** Language tag. Default: `en`. */
  locale?: string | undefined
  /** Name, logo and colour of your product on pages and in mails. */
  brand?: BrandInput | undefined

  /** Default: `15m`. From 1m to 1d. */
  accessTokenLifetime?: Duration | undefined
  /** Another name for `accessTokenLifetime`. */
  JWT_ACCESS_TOKEN_SECRET_EXPIRE?: Duration | undefined
  /**
   * A refresh starts it again, once the former tokens have been in use for 30 s. Default: `30d`, or `sessionLifetime` if
   * that is shorter. Up to 400d.
   */
  refreshTokenLifetime?: Duration | undefined
  /** Another name for `refreshTokenLifetime`. */
  JWT_REFRESH_TOKEN_SECRET_EXPIRE?: Duration | undefined
  /** The longest that a session lasts, however often it is refreshed. Default: `90d`, or `refreshTokenLifetime` when that is longer. */
  sessionLifetime?: Duration | undefined
  /** Sessions of one user; the oldest goes. Default: 50. */
  maxSessions?: number | undefined
  /** Attributes of the cookies, and the hosts that share them. */
  cookies?: CookiesInput | undefined

  /** Origins whose pages may call us with cookies. https, or http on loopback; no wildcard. Default: none. */
  trustedOrigins?: readonly string[] | undefined
  /** How many proxies stand in front, or their IP addresses and CIDRs (`unix`: a Unix socket). Default: none, and `X-Forwarded-For` is ignored. */
  trustedProxies?: number | readonly string[] | undefined
  /** IP addresses and CIDRs that alone may use the API. Default: everyone may. */
  allowList?: readonly string[] | undefined

  /** Sign-up, email verification and extra user fields. */
  registration?: RegistrationInput | undefined
  /** Rules for passwords, and how they are hashed. */
  password?: PasswordInput | undefined
  /** One-time passwords by mail. Default: on, 6 digits, `10m`, 5 tries. */
  otp?: OtpInput | undefined
  /** Authenticator apps and backup codes. */
  twoFactor?: TwoFactorInput | undefined
  /** Sign-in by passkey. Default: on. */
  passkeys?: PasskeysInput | undefined
  /** Numbers such as `'30/1m'` by kind. Kinds that are not named keep their default. Only the test kit may set it to false. */
  limits?: LimitsInput | false | undefined
  /** Where API tokens are accepted. */
  apiTokens?: ApiTokensInput | undefined
  /** Key set of an identity provider whose JWTs give access: its URL, or an object with more settings. */
  jwks?: string | JwksInput | undefined
  /** The application's own way to decide about a request. */
  authenticate?: AuthenticateHook | undefined
  /** Called around registration and sign-in. */
  hooks?: HooksInput | undefined
  /** Who administers the running application, and how. */
  admin?: AdminInput | undefined
  /** How old revocation data may be. */
  revocation?: RevocationInput | undefined
  /** pino or anything with `warn` and `error`. Default: the console. */
  logger?: Logger | undefined
}

export interface ProviderInput {
  /** The id that the provider gave your application. */
  CLIENT_ID: string
  /** The secret that the provider gave your application. */
  CLIENT_SECRET: string
  /** Full URL of the callback route, as registered with the provider: `{baseUrl}/auth/oauthcallback/<name>`. */
  REDIRECT_URI: string
}

export interface MailInput {
  /** Sender of all mails: `Name <address>`, or `{ name, address }`. */
  from: MailFromInput
  /** SMTP URL, nodemailer options, or a nodemailer transport. */
  transport: string | object
}

export interface BrandInput {
  /** The product's name. Default: the host of `baseUrl`. */
  name?: string | undefined
  /** URL or path of the logo. Default: none. */
  logoUrl?: string | undefined
  /** Hexadecimal: `#1f5fd1`. */
  accentColor?: string | undefined
}

export interface OtpInput {
  /** Sign-in by a mailed code or link. Default: true. */
  enabled?: boolean | undefined
  /** Digits of a code. Default: 6. */
  length?: number | undefined
  /** How long a code or link is valid. Default: `10m`. From 1m to 30m. */
  lifetime?: Duration | undefined
  /** Wrong guesses until a code is dead. Default: 5. */
  tries?: number | undefined
  /** What the mail holds: a code to type, a link to open, or both. Default: `both`. */
  mail?: 'both' | 'code' | 'link' | undefined
}

export interface TwoFactorInput {
  /** The name that authenticator apps show. Default: `brand.name`. */
  issuer?: string | undefined
  /** Sessions that need a second factor to pass the guard: `true` for all users, or the users with one of these roles. Default: false. */
  required?: boolean | readonly string[] | undefined
}

export interface ApiTokensInput {
  /** Accept an API token in the query, as `?apikey=`. Default: true. */
  inUrl?: boolean | undefined
  /** Refuse API tokens that a browser sends. Default: true. */
  refuseBrowsers?: boolean | undefined
}

export interface RevocationInput {
  /** With older revocation data, guarded requests get 503 `store_unavailable`. Default: `10s`. From 1s to 1m. */
  staleness?: Duration | undefined
}

/** A provider of `oauth`. */
export interface JudgedProviderInput extends ProviderInput {
  /**
   * Whether a user of this provider may sign in to the account with the same address. Set it only for providers that confirm
   * every address and never reassign one to another person. Default: false.
   */
  trustEmail?: boolean | undefined
}

export interface CookiesInput {
  /** `none` needs `trustedOrigins` and sets Secure. Default: `lax`. */
  sameSite?: 'lax' | 'strict' | 'none' | undefined
  /** Shares the cookies with the hosts below it. Default: this host only. */
  domain?: string | undefined
  /** Default: true, except on http loopback. */
  secure?: boolean | undefined
  /** Cookies per embedding site (CHIPS). Default: false. */
  partitioned?: boolean | undefined
  /** Keeps two applications on one host apart. Default: none. */
  suffix?: string | undefined
}

export interface RegistrationInput {
  /** Default: true. */
  enabled?: boolean | undefined
  /** Whether an account needs a confirmed address to sign in. Default: `required`. */
  emailVerification?: 'required' | 'optional' | undefined
  /**
   * Standard Schema of the extra user fields that a client may set. Default: none. A change is validated together with the
   * stored fields that the schema knows. Other stored fields stay as they are.
   */
  fields?: StandardSchema | undefined
}

export interface PasswordInput {
  /** Default: 10. From 8 to 64. */
  minLength?: number | undefined
  /** Ask a range API for breached passwords; a URL names another one than the public one. Default: true. */
  checkBreached?: boolean | string | undefined
  /** `argon2id` needs the package `@node-rs/argon2`. Default: `bcrypt`. */
  algorithm?: 'bcrypt' | 'argon2id' | undefined
  /** Rounds of bcrypt, as a power of two. Default: 12. From 10 to 15. */
  cost?: number | undefined
  /** A secret outside the store that is mixed into every password; the rules are those of secrets. In a list, the first hashes, all verify. */
  pepper?: string | readonly string[] | undefined
}

interface IpLimitInput {
  /** Requests of one client address (IPv6: its /64), as count and window: `'30/1m'`. */
  ip?: string | undefined
}

interface AccountLimitInput extends IpLimitInput {
  /** Attempts on one account or address: `'10/15m'`. */
  account?: string | undefined
}

export interface LimitsInput {
  /** Sign-ins and second steps. Default: 30/1m, and 10/15m failures an account. */
  login?: AccountLimitInput | undefined
  /** Requests that send a mail. Default: 10/1m, and 3/15m an address. */
  mail?: AccountLimitInput | undefined
  /** Guesses at codes and links. Default: 30/1m, and 20/1h an account. */
  guess?: AccountLimitInput | undefined
  /** Refreshes. Default: 120/1m. */
  refresh?: IpLimitInput | undefined
  /** Unknown API tokens. Default: 30/1m. */
  apiToken?: IpLimitInput | undefined
  /** Unknown admin tokens, in the space host. Default: 30/1m. */
  adminToken?: IpLimitInput | undefined
  /** Every other request below `basePath`. Default: 300/1m. */
  other?: IpLimitInput | undefined
  /** Security notices of one kind to one account. Default: 3/1h. The next one sums up, and further ones are not mailed. */
  notice?: Omit<AccountLimitInput, 'ip'> | undefined
}

export interface HooksInput extends Hooks {
  /**
   * As in codehooks-auth: called after a sign-in and before its response, with the framework's request and response. A Fetch
   * runtime passes a plain object with the parts of the request, and an empty object. If it throws or rejects, the sign-in
   * is refused with 403. It must not send a response itself.
   */
  onLoginUser?(request: unknown, response: unknown, given: { user: User }): unknown
  /** The same after an account was created: where addresses are confirmed first, by the request that confirms. */
  onSignupUser?(request: unknown, response: unknown, given: { user: User }): unknown
}
