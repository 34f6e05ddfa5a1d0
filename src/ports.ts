import type { HookInput, Hooks } from './hooks.js'
import type { Keyring } from './lib/keyring.js'
import type { Reach } from './lib/public-fetch.js'
import type { Limiter } from './limits/limiter.js'
import type { OutboxMail } from './model/outbox-mail.js'
import type { Visitor } from './model/visitor.js'
import type { Providers } from './oauth/provider.js'
import type { PasswordFault, Passwords } from './passwords/passwords.js'
import type { Store } from './store/store.js'
import type { Tokens } from './tokens/access-tokens.js'
import type { Authenticator } from './tokens/authenticator.js'

/** All that a flow may reach. A flow takes the `Pick` of it that it touches. */
export interface Ports
  extends Pick<
    Store,
    | 'users'
    | 'identities'
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
  providers: Providers
  keyring: Keyring
  mails: Mails
  limiter: Limiter
  proofs: Proofs
  clock: Clock
  random: Random
  policy: Policy
  hooks: PortHooks
}

/** The owner's hooks. `visitor` is for those of another package's shape; the owner's own are told what stands in `input`. */
export type PortHooks = Readonly<Partial<Record<keyof Hooks, PortHook>>>
export type PortHook = (input: HookInput, visitor: Visitor) => void | Promise<void>

/** Makes outbox rows; the verb that makes a mail due writes them in its own step. */
export interface Mails {
  /** `to` is a canonical address; `values` are what `templates/mail/<template>` needs. */
  compose(template: string, to: string, values: Readonly<Record<string, string>>): OutboxMail
}

/** First sights of a rotation, kept in memory and written in batches, never on the request path. */
export interface Proofs {
  /** A verifier saw a token of rotation `counter`, when the monotonic clock showed `seenAtMs`. Cheap, synchronous, repeatable. */
  note(sessionId: string, counter: number, seenAtMs: number): void
  /** Writes what is pending for that session now, so that a refresh judges by it. */
  settle(sessionId: string): Promise<void>
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
  /** That many characters that nobody mistakes for others when reading, 5 bits each. */
  readable(characters: number): string
}

/** The numbers and addresses that flows decide by; all from the settings. */
export interface Policy {
  /** Origin and path of `baseUrl` with `basePath`, no slash at the end: what links in mails begin with. */
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
  /** How long a code and a link that sign in live. */
  otpSeconds: number
  /** What authenticator apps call us. */
  issuer: string
  /** What the settings fix about access; what is added at run time comes on top. */
  access: AccessPolicy
  /** Checks extra user fields with the owner's schema; throws `AuthError('invalid_request')`. */
  parseFields(input: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}

export interface AccessPolicy {
  /** IP addresses and CIDRs, canonical. */
  networks: readonly string[]
  /** Whether a client's address can be known well enough to decide by it. */
  knowsClients: boolean
  jwksUrl: string | null
  /** What tokens of another issuer must be for; empty: not checked. */
  audience: readonly string[]
  reach: Reach
}
