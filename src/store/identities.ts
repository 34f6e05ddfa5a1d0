import type { AuditEvent } from '../model/audit-event.js'
import type { Identity } from '../model/identity.js'
import type { UserRecord } from '../model/user.js'
import type { AccountStep } from './users.js'

/** A link, and what must still hold when it is made. */
export interface Linking {
  identity: Identity
  /** The session that asked; or, where nobody is signed in, the canonical address that both sides have verified. */
  by: { sessionId: string } | { email: string }
}

export interface Unlinking {
  userId: string
  provider: string
  /** The session that asked; it must still live. */
  fromSessionId: string
}

/**
 * Logins at providers. An identity belongs to one user, and a user has one of each provider at most; whatever would break
 * that is `taken`, and of concurrent claims of one identity exactly one succeeds. The users' records tell of them at once.
 */
export interface Identities {
  /** The user whose identity this is, or null. */
  find(provider: string, subject: string): Promise<UserRecord | null>

  /**
   * Creates the user with that identity and drops every registration for the address. False, and nothing changed, when
   * the address or the identity is taken. Of concurrent calls for one of them, exactly one is true.
   */
  create(user: UserRecord, identity: Identity, audit: AuditEvent): Promise<boolean>

  /**
   * Gives the user that identity. Where it was theirs already they are answered and nothing is written. Null, and nothing
   * changed, when the user is gone or disabled, the session has ended, or the address is no longer theirs and verified.
   */
  link(linking: Linking, step: AccountStep): Promise<UserRecord | 'taken' | null>

  /**
   * The same for a user whose address was never verified, and by a provider whose word suffices: a first proof as
   * `Users.proveMailbox` has it, after which this identity is the only way in. Raises the version (a change row). Null,
   * and nothing changed, when the user is gone or disabled, has another address, or has verified it meanwhile.
   */
  linkByProof(identity: Identity, email: string, step: AccountStep): Promise<UserRecord | 'taken' | null>

  /**
   * Takes the identity of that provider away, with what waits for the second step of a sign-in. `last`, and nothing
   * changed, when no way in would remain (`mayRemove`, asked of the locked row): of concurrent calls for the last two of
   * a user, exactly one is `last`. Null, and nothing changed, when there is none, the user is gone or the session has ended.
   */
  unlink(unlinking: Unlinking, step: AccountStep): Promise<UserRecord | 'last' | null>
}
