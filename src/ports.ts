import type { AdminCommand } from './contract/admin-command.js'
import type { HookInput, Hooks } from './hooks.js'
import type { Keyring } from './lib/keyring.js'
import type { Reach } from './lib/public-fetch.js'
import type { Limiter } from './limits/limiter.js'
import type { Doctor } from './model/doctor/report.js'
import type { RelyingParty } from './model/factors/webauthn.js'
import type { Health } from './model/health.js'
import type { HomeName } from './model/home.js'
import type { KeySetCheck, KeySetState } from './model/key-set.js'
import type { RefusedMail } from './model/mail-limit.js'
import type { HeldMail, OutboxMail } from './model/outbox-mail.js'
import type { Right } from './model/right.js'
import type { Visitor } from './model/visitor.js'
import type { Providers } from './oauth/provider.js'
import type { PasswordFault, Passwords } from './passwords/passwords.js'
import type { Store } from './store/store.js'
import type { Tokens } from './tokens/access-tokens.js'
import type { Authenticator } from './tokens/authenticator.js'
import type { Webauthn } from './tokens/webauthn/webauthn.js'

/** Everything that a flow may reach. A flow takes the `Pick` of it that it needs. */
export interface Ports
  extends Pick<
    Store,
    | 'users'
    | 'identities'
    | 'passkeys'
    | 'sessions'
    | 'oneTimeTokens'
    | 'secondFactors'
    | 'devices'
    | 'hashKinds'
    | 'apiTokens'
    | 'outbox'
    | 'audit'
    | 'accessSettings'
  > {
  passwords: Passwords
  /** Why this password may not be chosen for that address; empty when it may. */
  passwordFaults(password: string, email: string): Promise<PasswordFault[]>
  tokens: Tokens
  authenticator: Authenticator
  webauthn: Webauthn
  providers: Providers
  keyring: Keyring
  mails: Mails
  limiter: Limiter
  proofs: Proofs
  revocations: RevokedTokens
  rights: Rights
  /** null: an application, which has no admin tokens. */
  adminTokens: AdminTokens | null
  keySets: KeySets
  operations: OperationsPort
  clock: Clock
  random: Random
  /** Where the control API runs. */
  home: HomeName
  policy: Policy
  hooks: PortHooks
  doctor: Doctor
}

/** The application's hooks. Hooks of the codehooks-auth shape get `visitor`; our own get `input`. */
export type PortHooks = Readonly<Partial<Record<keyof Hooks, PortHook>>>
export type PortHook = (input: HookInput, visitor: Visitor) => void | Promise<void>

/** Makes outbox rows; the verb that makes a mail due writes them in its own step. */
export interface Mails {
  /** `to` is a canonical address; `values` are what `templates/mail/<template>` needs. */
  compose(template: string, to: string, values: Readonly<Record<string, string>>, held?: HeldMail): OutboxMail
  /** In development, shows that the mail limit refused a mail. Elsewhere the audit log alone records it. */
  showRefused(mail: RefusedMail): void
}

/** First sights of a rotation, kept in memory and written in batches, never on the request path. */
export interface Proofs {
  /** A verifier saw a token of rotation `counter`, when the monotonic clock showed `seenAtMs`. Cheap, synchronous, repeatable. */
  note(sessionId: string, counter: number, seenAtMs: number): void
  /** Writes what is pending for that session now, so that a refresh judges by it. */
  settle(sessionId: string): Promise<void>
}

/** The revocations that this process knows of, in memory. Those of other processes arrive within a second. */
export interface RevokedTokens {
  isEnded(sessionId: string): boolean
  /** The version below which that user's access tokens are dead; 0 when none is known to be. */
  deadBelow(userId: string): number
}

/** What users may administer. Decided in memory: every request to the control API asks. */
export interface Rights {
  /** null: nothing. `emailVerified`: whether the address of the account is proved. */
  of(user: { userId: string; emailVerified: boolean; roles: readonly string[] }): Right | null
}

/** The admin tokens of the host, by which scripts call the control API. */
export interface AdminTokens {
  /**
   * The token that a client sent as `x-admintoken`.
   *
   * @throws {AuthError} `unauthenticated` for one that is unknown, removed or expired, and while its owner may not use it;
   *   `ip_not_allowed`; `rate_limited` after many unknown ones
   */
  identify(token: string, visitor: Pick<Visitor, 'ip'>): Promise<AdminTokenCaller>
}

export interface AdminTokenCaller {
  tokenId: string
  name: string
  /** Ids of the spaces that it is narrowed to; null: all. */
  spaces: readonly string[] | null
  /** Commands that it is narrowed to; null: all that admin tokens may be used for. */
  commands: readonly AdminCommand[] | null
}

/** Key sets of the other issuer, for administrators. */
export interface KeySets {
  /** null: there is no other issuer. */
  inForce(): KeySetState | null
  /** Fetches a set from public addresses, and keeps nothing. The URL must have passed the rules of the setting `jwks`. */
  check(url: string): Promise<KeySetCheck>
}

/** The running process, for administrators. */
export interface OperationsPort {
  /** As `auth.health()`. Never rejects. */
  health(): Promise<Health>
}

export interface Clock {
  /** Unix seconds. */
  now(): number
  /** Unix milliseconds. */
  nowMs(): number
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number
}

export interface Random {
  /** 16 random bytes, base64url. */
  id(): string
  /** 32 random bytes, base64url: a one-time token. */
  token(): string
  /** A random UUID (version 4, RFC 9562 §5.4), lower-case: an API token. */
  uuid(): string
  /** That many unbiased decimal digits, leading zeros kept. */
  code(digits: number): string
  /** That many characters without look-alikes, 5 bits each. */
  readable(characters: number): string
}

/** The numbers and addresses by which flows decide. All come from the settings. */
export interface Policy {
  /** Origin and path of `baseUrl` with `basePath`, without a slash at the end: the beginning of links in mails. */
  authUrl: string
  accessTokenSeconds: number
  refreshTokenSeconds: number
  sessionSeconds: number
  maxSessions: number
  registrationEnabled: boolean
  emailVerification: 'required' | 'optional'
  verificationSeconds: number
  codeDigits: number
  codeTries: number
  /** How long a code and a link that sign in are valid. */
  otpSeconds: number
  /** What the mail that signs in holds. */
  otpMail: 'both' | 'code' | 'link'
  /** The name of the application in authenticator apps. */
  issuer: string
  /** Canonical addresses whose accounts have the role ADMIN. */
  adminEmails: readonly string[]
  /** The access rules that the settings fix. Those that are added at run time extend them. */
  access: AccessPolicy
  admin: AdminPolicy
  /** null: there are none. */
  passkeys: PasskeyPolicy | null
  /** Whether users with these roles need a second factor. */
  requiresFactor(roles: readonly string[]): boolean
  /** Checks extra user fields with the application's schema; throws `AuthError('invalid_request')`. */
  parseFields(input: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}

/** What the control API asks of an administrator's session. */
export interface AdminPolicy {
  /** How old a sign-in may be for changes that need a recent one. */
  recentSeconds: number
  /** Whether the session must have proved a second factor. */
  twoFactor: boolean
  /** null: administrators cannot impersonate users. */
  impersonation: ImpersonationPolicy | null
}

/** What passkeys are made for, and how users get them. */
export interface PasskeyPolicy extends RelyingParty {
  /** How many a user may have. */
  max: number
  /** Whether an account can be registered without a password. */
  signUp: boolean
  /** Whether a browser may make one right after a sign-in by password, without a dialog. */
  upgrade: boolean
}

export interface ImpersonationPolicy {
  lifetimeSeconds: number
  /** Whether the user gets a mail about it. */
  notify: boolean
  /** Users with one of these roles cannot be impersonated. */
  exceptRoles: readonly string[]
}

export interface AccessPolicy {
  /** IP addresses and CIDRs, canonical. */
  networks: readonly string[]
  /** Whether a client's address is reliable enough to decide by it. */
  knowsClients: boolean
  jwksUrl: string | null
  /** The audience that tokens of another issuer must have; empty: not checked. */
  audience: readonly string[]
  reach: Reach
}
