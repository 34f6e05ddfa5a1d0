import { SettingsError, type SettingsFault } from './errors.js'
import type { TrustedProxies } from './lib/client-ip.js'
import type { StandardSchema } from './settings/accounts.js'
import { assemble } from './settings/assemble.js'
import type { Database } from './settings/database.js'
import { faultsOf, nothing, sentenceOf } from './settings/field.js'
import type { FormField } from './settings/form-fields.js'
import type { AuthenticateHook, HooksInput } from './settings/input.js'
import type { Limit, LimitKind } from './settings/limits.js'
import type { Logger } from './settings/logger.js'
import type { ProviderKinds, ProviderSettings } from './settings/providers.js'
import type { RedisClient } from './settings/redis.js'
import { rules } from './settings/rules.js'
import { createSettingsSchema, type Table } from './settings/schema.js'
import { findSite } from './settings/site.js'
import { dotted, freeze, snapshot } from './settings/snapshot.js'

export type { TrustedProxies } from './lib/client-ip.js'
export type { StandardResult, StandardSchema } from './settings/accounts.js'
export type { Database } from './settings/database.js'
export type { FormField } from './settings/form-fields.js'
export type { AuthenticateHook } from './settings/input.js'
export type { Limit, LimitKind } from './settings/limits.js'
export type { Logger } from './settings/logger.js'
export type { ProviderSettings } from './settings/providers.js'
export type { RedisClient } from './settings/redis.js'

/** The settings after parsing: every default filled in, durations in seconds, frozen. */
export interface Settings {
  accessSecrets: readonly string[]
  refreshSecrets: readonly string[]
  /** Falls back to the refresh secrets. */
  encryptionKeys: readonly string[]
  redirectSuccessUrl: string
  redirectFailUrl: string
  redirectLogoutUrl: string
  /** Lower case, without a slash at the end; `/` guards everything. */
  baseAPIRoutes: readonly string[]
  publicRoutes: readonly string[]
  /** OAuth providers: Google and GitHub first, the others in the order of the settings. */
  providers: readonly ProviderSettings[]
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
  /** URL, or the application's own ioredis client. */
  redis: string | RedisClient | null
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
  registration: {
    enabled: boolean
    emailVerification: 'required' | 'optional'
    fields: StandardSchema | null
    /** The extra fields that our own register and account pages show. */
    inputs: readonly FormField[]
  }
  password: {
    minLength: number
    /** false, or the URL of the range API with a slash at the end (true in the settings means the public one). */
    checkBreached: string | false
    algorithm: 'bcrypt' | 'argon2id'
    cost: number
    pepper: readonly string[]
  }
  otp: { enabled: boolean; length: number; lifetimeSeconds: number; tries: number; mail: 'both' | 'code' | 'link' }
  twoFactor: { issuer: string; required: boolean | readonly string[] }
  passkeys: {
    enabled: boolean
    /** Whether they are off only because `baseUrl` is an IP address. */
    offAtAddress: boolean
    rpId: string
    rpName: string
    origins: readonly string[]
    max: number
    signUp: boolean
    upgrade: boolean
  }
  /** null: switched off, which only the testing runtime may. */
  limits: Readonly<Record<LimitKind, { ip: Limit; account: Limit | null }> & { notice: { account: Limit } }> | null
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
  hooks: HooksInput
  admin: {
    /** Canonical addresses whose accounts have the role ADMIN. */
    emails: readonly string[]
    /** Whether the control API and the admin pages exist. */
    enabled: boolean
    /** Below `basePath`; null: no pages. */
    page: string | null
    recentSeconds: number
    /** Whether the session of an administrator must have proved a second factor. */
    twoFactor: boolean
    /** null: switched off. */
    impersonation: { lifetimeSeconds: number; notify: boolean; exceptRoles: readonly string[] } | null
  }
  revocation: { stalenessSeconds: number }
  logger: Logger
}

/**
 * Reads the settings of an application: checks every rule, fills in every default, and copies, so that a later change of
 * the application's object changes nothing. Its own objects (functions, dialects, transports, schemas, loggers) are
 * passed through as they are.
 *
 * @param kinds the kinds of OAuth providers that the settings may name
 * @throws {SettingsError} with every fault at once; names settings, never their values
 */
export function parseSettings(input: unknown, world: { testing: boolean }, kinds: ProviderKinds): Settings {
  const faults: SettingsFault[] = []
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new SettingsError([{ setting: 'settings', message: 'must be an object' }])
  }
  const { values, foreign } = snapshot(input, faults)
  const { table, broken } = readTable(values, faults, createSettingsSchema(kinds))

  const sound = (...names: (keyof Table)[]) => names.every((name) => !broken.has(name))
  const fault = (setting: string, message: string) => void faults.push({ setting, message })
  const site = findSite({ table, sound, fault })
  for (const rule of rules) rule({ table, site, testing: world.testing, sound, fault })

  if (faults.length > 0 || site === null) throw new SettingsError(faults)
  return freeze(assemble(table, site), foreign)
}

/** Reads each setting on its own. Those with a fault stand in `broken`, and in the table as if they had not been given. */
function readTable(
  values: Readonly<Record<string, unknown>>,
  faults: SettingsFault[],
  schema: ReturnType<typeof createSettingsSchema>,
) {
  const broken = new Set<unknown>()
  const first = schema.safeParse(values, { error: sentenceOf })
  if (first.success) return { table: first.data, broken }

  for (const { path, message } of first.error.issues.flatMap(faultsOf)) {
    broken.add(path[0])
    faults.push({ setting: dotted(path), message })
  }
  const rest = Object.entries(values).filter(([name]) => !broken.has(name))
  return { table: schema.parse(Object.assign(nothing(), Object.fromEntries(rest))), broken }
}
