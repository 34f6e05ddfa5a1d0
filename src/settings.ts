import type { Hooks } from './hooks.js'
import type { Principal } from './model/principal.js'

/** Where log lines go; pino, the console and most loggers fit. */
export interface Logger {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** One number and window of a limit: `'30/1m'`. */
export interface Limit {
  count: number
  windowSeconds: number
}

export type LimitKind = 'login' | 'mail' | 'guess' | 'refresh' | 'apiToken' | 'other'

/** The part of the Standard Schema interface (standardschema.dev, v1) that we call. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult | Promise<StandardResult>
  }
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined
      }[]
    }

export interface OAuthCredentials {
  clientId: string
  clientSecret: string
  redirectUri: string
}

export interface HookRequest {
  method: string
  path: string
  query: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  ip: string | null
  raw: unknown
}

export type AuthenticateHook = (
  request: HookRequest,
) => Principal | false | undefined | Promise<Principal | false | undefined>

export type Database =
  | { kind: 'sqlite' /** `:memory:` or a file path */; file: string }
  | { kind: 'postgres' | 'mysql'; url: string }
  | { kind: 'dialect' /** a Kysely dialect */; dialect: unknown }
  | { kind: 'datastore'; datastore: unknown }

export type TrustedProxies =
  | { kind: 'none' }
  | { kind: 'hops'; count: number }
  | { kind: 'cidrs'; cidrs: readonly string[] }

/** The settings after parsing: every default filled in, durations in seconds, frozen. */
export interface Settings {
  accessSecrets: readonly string[]
  refreshSecrets: readonly string[]
  /** Falls back to the refresh secrets. */
  encryptionKeys: readonly string[]
  redirectSuccessUrl: string
  redirectFailUrl: string
  redirectLogoutUrl: string
  /** Without a slash at the end; `/` guards everything. */
  baseAPIRoutes: readonly string[]
  publicRoutes: readonly string[]
  google: OAuthCredentials | null
  github: OAuthCredentials | null
  oauth: Readonly<Record<string, unknown>>
  /** Without a slash at the end. */
  basePath: string
  /** Origin of `baseUrl`: the `iss` of our tokens. */
  origin: string
  /** Path of `baseUrl` without a slash at the end; mostly empty. */
  urlPath: string
  /** Our own origin, and in development its loopback aliases with the same port. */
  ownOrigins: readonly string[]
  /** `baseUrl` is http on loopback; there is no other switch. */
  development: boolean
  database: Database
  redis: string | null
  /** null: the development mailbox. `transport`: SMTP URL, nodemailer options or transport. */
  mail: { from: { name: string; address: string }; transport: unknown } | null
  templates: string | null
  labels: Readonly<Record<string, string>>
  locale: string
  brand: { name: string; logoUrl: string | null; accentColor: string | null }
  accessTokenSeconds: number
  refreshTokenSeconds: number
  sessionSeconds: number
  maxSessions: number
  cookies: {
    sameSite: 'lax' | 'strict' | 'none'
    domain: string | null
    secure: boolean
    partitioned: boolean
    suffix: string
  }
  trustedOrigins: readonly string[]
  trustedProxies: TrustedProxies
  registration: { enabled: boolean; emailVerification: 'required' | 'optional'; fields: StandardSchema | null }
  password: {
    minLength: number
    /** false, or the URL of the range API (true in the settings means the public one). */
    checkBreached: string | false
    algorithm: 'bcrypt' | 'argon2id'
    cost: number
    pepper: readonly string[]
  }
  otp: { enabled: boolean; length: number; lifetimeSeconds: number; tries: number }
  twoFactor: { issuer: string; required: boolean | readonly string[] }
  /** null: switched off, which only the testing runtime may. */
  limits: Readonly<Record<LimitKind, { ip: Limit; account: Limit | null }>> | null
  apiTokens: { inUrl: boolean; refuseBrowsers: boolean }
  jwks: {
    url: string
    issuer: string | null
    audience: readonly string[]
    algorithms: readonly string[]
    exclusive: boolean
    allowPrivate: boolean
  } | null
  allowList: readonly string[]
  authenticate: AuthenticateHook | null
  hooks: Hooks
  admin: { emails: readonly string[]; page: string }
  revocation: { stalenessSeconds: number }
  logger: Logger
}
