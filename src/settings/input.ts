import type { Hooks } from '../hooks.js'
import type { User } from '../model/user.js'
import type { StandardSchema } from './accounts.js'
import type { CodehooksDatastore, KyselyDialect } from './database.js'
import type { JwksInput } from './jwks.js'
import type { Logger } from './logger.js'
import type { MailFromInput } from './mail.js'

/** What the `authenticate` hook is told about a request. */
export interface HookRequest {
  method: string
  /** Below a mount. Percent-encoded letters are decoded, so that one path has one spelling; its case is as sent. */
  path: string
  /** As sent, without an API token in it. */
  query: string
  /** As sent, without those by which a client could claim to be somebody or somewhere (`x-forwarded-*`, `x-real-ip`, `x-user`, …). */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The client's address, read through `trustedProxies`; null when it cannot be known. */
  ip: string | null
  /** The framework's own request, as it came; null where there is none. */
  raw: unknown
}

/** Whom the hook lets in. `claims` is plain data, copied and frozen; default: empty. */
export interface HookAnswer {
  kind: 'hook'
  subject: string
  claims?: Readonly<Record<string, unknown>>
}

/** Decides in the application's own way: a principal of kind `hook`, `false` (403), or `undefined` (go on). */
export type AuthenticateHook = (
  request: HookRequest,
) => HookAnswer | false | undefined | Promise<HookAnswer | false | undefined>

/** The settings as an application writes them. `OAuthInput`: the setting `oauth`, whose providers stand in `oauth/`. */
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

  /** `sqlite:./file`, `sqlite::memory:`, a `postgres:`, `mysql:` or `mariadb:` URL, a Kysely dialect, or the `Datastore` of codehooks-js. Default: `sqlite:./latchkey.db`. */
  database?: string | KyselyDialect | CodehooksDatastore | undefined
  /** `redis:` URL: shared counters and faster news between many instances. Default: none. */
  redis?: string | undefined
  /** How mails go out: sender, and SMTP URL, nodemailer options or transport. Required outside development; there the default is a mailbox page. */
  mail?: { from: MailFromInput; transport: string | object } | undefined
  /** Folder whose files replace the built-in templates of the same name. */
  templates?: string | undefined
  /** Texts of pages and mails by name. */
  labels?: Readonly<Record<string, string>> | undefined
  /** Language tag. Default: `en`. */
  locale?: string | undefined
  /** On pages and in mails. Default name: the host of `baseUrl`. `accentColor` is hexadecimal. */
  brand?: { name?: string | undefined; logoUrl?: string | undefined; accentColor?: string | undefined } | undefined

  /** Default: `15m`. From 1m to 1d. */
  accessTokenLifetime?: string | undefined
  /** Another name for `accessTokenLifetime`. */
  JWT_ACCESS_TOKEN_SECRET_EXPIRE?: string | undefined
  /**
   * Counted anew with a refresh, from 30 s after the tokens of the one before were first used. Default: `30d`, or
   * `sessionLifetime` when that is shorter. Up to 400d.
   */
  refreshTokenLifetime?: string | undefined
  /** Another name for `refreshTokenLifetime`. */
  JWT_REFRESH_TOKEN_SECRET_EXPIRE?: string | undefined
  /** However often it is refreshed. Default: `90d`, or `refreshTokenLifetime` when that is longer. */
  sessionLifetime?: string | undefined
  /** Sessions of one user; the oldest goes. Default: 50. */
  maxSessions?: number | undefined
  cookies?: CookiesInput | undefined

  /** Origins whose pages may call us with cookies. https, or http on loopback; no wildcard. Default: none. */
  trustedOrigins?: readonly string[] | undefined
  /** How many proxies stand in front, or their IP addresses and CIDRs (`unix`: a Unix socket). Default: none, and `X-Forwarded-For` is ignored. */
  trustedProxies?: number | readonly string[] | undefined
  /** IP addresses and CIDRs that alone may use the API. Default: everyone may. */
  allowList?: readonly string[] | undefined

  registration?: RegistrationInput | undefined
  password?: PasswordInput | undefined
  /** One-time passwords by mail. Default: on, 6 digits, `10m`, 5 tries. */
  otp?:
    | {
        enabled?: boolean | undefined
        length?: number | undefined
        lifetime?: string | undefined
        tries?: number | undefined
      }
    | undefined
  /** `issuer` names us in authenticator apps (default: the brand). `required`: everyone, or these roles. Default: false. */
  twoFactor?: { issuer?: string | undefined; required?: boolean | readonly string[] | undefined } | undefined
  /** Numbers such as `'30/1m'` by kind; what is not named keeps its default. Only the test kit may say false. */
  limits?: LimitsInput | false | undefined
  /** `inUrl`: accept `?apikey=`. `refuseBrowsers`: refuse API tokens that a web page sends. Default: both true. */
  apiTokens?: { inUrl?: boolean | undefined; refuseBrowsers?: boolean | undefined } | undefined
  /** Key set of an identity provider whose JWTs give access: its URL, or all about it. */
  jwks?: string | JwksInput | undefined
  /** The application's own way to decide about a request. */
  authenticate?: AuthenticateHook | undefined
  /** Called around registration and sign-in. */
  hooks?: HooksInput | undefined
  /** Verified addresses that have the ADMIN role, and the path of the admin page (default: `/auth/admin`). */
  admin?: { emails?: readonly string[] | undefined; page?: string | undefined } | undefined
  /** With news older than `staleness` nobody gets in. Default: `10s`. From 1s to 1m. */
  revocation?: { staleness?: string | undefined } | undefined
  /** pino or anything with `warn` and `error`. Default: the console. */
  logger?: Logger | undefined
}

export interface ProviderInput {
  CLIENT_ID: string
  CLIENT_SECRET: string
  REDIRECT_URI: string
}

/** A provider of `oauth`. */
export interface JudgedProviderInput extends ProviderInput {
  /**
   * Its word about an address suffices to let its users into the accounts of that address. Only for providers that confirm
   * every address and never hand one on to another person. Default: false.
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
   * Standard Schema of the extra user fields that a client may set. Default: none may be set. A change is checked together
   * with the stored fields that the schema takes; fields that were not sent and that it does not know stay as they are.
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
  /** A key outside the store that every password is mixed with; the rules of secrets. Of a list the first hashes, all verify. */
  pepper?: string | readonly string[] | undefined
}

interface AccountLimitInput {
  ip?: string | undefined
  account?: string | undefined
}

export interface LimitsInput {
  login?: AccountLimitInput | undefined
  mail?: AccountLimitInput | undefined
  guess?: AccountLimitInput | undefined
  refresh?: { ip?: string | undefined } | undefined
  apiToken?: { ip?: string | undefined } | undefined
  other?: { ip?: string | undefined } | undefined
}

export interface HooksInput extends Hooks {
  /**
   * As in codehooks-auth: called after a sign-in and before its answer, with the request and response of the framework (of
   * a Fetch runtime: a plain object of what the request is made of, and an empty one). A throw or rejection denies: 403.
   * It must not answer by itself.
   */
  onLoginUser?(request: unknown, response: unknown, given: { user: User }): unknown
  /** The same after an account was created: where addresses are confirmed first, by the request that confirms. */
  onSignupUser?(request: unknown, response: unknown, given: { user: User }): unknown
}
