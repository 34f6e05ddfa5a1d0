import type { VerifiedBy } from '../model/admin-role.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { Identity } from '../model/identity.js'
import type { UserRecord } from '../model/user.js'
import type { AccountStep } from './users.js'

/** A link, and the conditions that must still hold when it is made. */
export interface Linking {
  identity: Identity
  /** The session that asked. Without a session: the canonical address that both sides have verified. */
  by: { sessionId: string } | { email: string }
}

/** A provider's claim of an address that suffices, and on what it rests. */
export interface ProvedClaim {
  /** Canonical. */
  email: string
  verifiedBy: VerifiedBy
}

export interface Unlinking {
  userId: string
  provider: string
  /** The session that asked. It must still be live. */
  fromSessionId: string
  /** The RP id whose passkeys sign in; null: passkeys are off. */
  rpId: string | null
}

/**
 * Logins at providers. An identity belongs to one user, and a user has at most one identity of each provider. A call that
 * would break that returns `taken`. Of concurrent claims of one identity exactly one succeeds. The users' records show the
 * change at once.
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
   * Gives the user that identity. If the user has it already, the call returns the user and writes nothing. Null, and nothing
   * changed, when the user is gone or disabled, the session has ended, or the address is no longer the user's and verified.
   */
  link(linking: Linking, step: AccountStep): Promise<UserRecord | 'taken' | null>

  /**
   * The same for a user whose address was never verified, when the provider's claim of the address suffices. It is a first
   * proof as in `Users.proveMailbox`, after which this identity is the only way to sign in. Raises the version (a change
   * row). Null, and nothing changed, when the user is gone or disabled, has another address, or has verified it meanwhile.
   */
  linkByProof(identity: Identity, claim: ProvedClaim, step: AccountStep): Promise<UserRecord | 'taken' | null>

  /**
   * Removes the identity of that provider, and pending second steps of a sign-in. `last`, and nothing changed, when the user
   * could no longer sign in (`mayRemove`, asked of the locked row): of concurrent calls for the last two of a user, exactly
   * one is `last`. Null, and nothing changed, when there is no such identity, the user is gone or the session has ended.
   */
  unlink(unlinking: Unlinking, step: AccountStep): Promise<UserRecord | 'last' | null>
}
