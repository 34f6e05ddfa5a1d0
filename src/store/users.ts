import type { AuditEvent } from '../model/audit-event.js'
import type { Identity } from '../model/identity.js'
import type { OneTimePurpose, OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { FactorProof } from '../model/second-factor.js'
import type { Session } from '../model/session.js'
import type { UserRecord } from '../model/user.js'

/** What goes with a change of an account, in the same step. */
export interface AccountStep {
  /** Until when (Unix seconds) an access token that the change kills could still live. */
  until: number
  audit: AuditEvent
  /** A notice that must go out if and only if the change happened. */
  mail?: OutboxMail
  /** Another, where `undoEmail` has two to tell. */
  secondMail?: OutboxMail
}

export interface PasswordChange {
  userId: string
  /** What the account was at when the current password was compared. */
  version: number
  /** The session that asked: it must still live, and ends with all others. */
  fromSessionId: string
  passwordHash: string
  /** Begins in the same step. */
  session: Session
}

/** What a change of address brings along. */
export interface EmailChange {
  /** The new address as typed; its canonical form is the token's. */
  email: string
  /** What the account was at when the password was compared for it. */
  version: number
  /** Takes the former address back; nobody else may have it while this lives. */
  undo: { token: OneTimeToken; mail: OutboxMail }
}

/** What an undo of a change of address brings along. */
export interface EmailUndo {
  /** The address as typed; its canonical form is the token's. */
  email: string
  /** When the second factor that was on at the change had been turned on (Unix seconds); null: there was none. */
  factorSince: number | null
  /** Of that factor, where it is still on. */
  proof: FactorProof | null
}

/**
 * Accounts. Addresses are canonical ones everywhere but where they are called typed. One that a change left is taken for
 * everybody but its user until the undo of that change is used, expired or gone with the account.
 */
export interface Users {
  findById(id: string): Promise<UserRecord | null>

  findByEmail(emailCanonical: string): Promise<UserRecord | null>

  /**
   * Consumes the registration, creates its user, with the identity that it may carry, and drops every other registration
   * for that address. False, and nothing changed, when the registration is gone, expired or the address or the identity
   * is taken. Of concurrent calls for one of them, exactly one is true.
   */
  createFromRegistration(
    user: UserRecord,
    registrationId: string,
    now: number,
    audit: AuditEvent,
    identity?: Identity,
  ): Promise<boolean>

  /**
   * Creates a user, with the token and mail that confirm its address, and drops every registration for that address.
   * False, and nothing changed, when the address is taken. Of concurrent calls for one address, exactly one is true.
   */
  create(user: UserRecord, audit: AuditEvent, confirm?: { token: OneTimeToken; mail: OutboxMail }): Promise<boolean>

  /**
   * Consumes the token and marks its user's address as verified, raising the user's version (a change row until `until`)
   * and dropping the user's other confirmations. Of concurrent calls, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired or was for another address than the user has now.
   */
  verifyEmail(tokenId: string, now: number, until: number, audit: AuditEvent): Promise<UserRecord | null>

  /**
   * Consumes the change and gives its user the new address, verified, raising the version (a change row). Keeps the undo
   * and its mail if and only if the former address was verified; drops what was mailed there (changes, confirmations,
   * resets, codes) and the registrations for the new one. Of concurrent calls for a token, or for an address, exactly one
   * gets the user.
   * Null, and nothing changed, when the token is gone or expired, or the user is disabled, no longer at that version, or
   * has another address by now than the undo's; `taken`, and nothing changed, when the new one is another user's, or another user may take it back.
   */
  changeEmail(
    tokenId: string,
    change: EmailChange,
    now: number,
    step: AccountStep,
  ): Promise<UserRecord | 'taken' | null>

  /**
   * Consumes the undo and gives its user the address back, typed so and verified, raising the version (a change row), also
   * while the user is disabled. Ends every session, forgets the user's devices and drops every one-time token of the user
   * but earlier undos; identities that were linked since the change go, they may be of whoever made it. Where the second
   * factor that was on at the change still is, it takes a proof, which is used up; one that was turned on since goes, with
   * its backup codes. Of concurrent calls, exactly one gets the user. Null, and
   * nothing changed, when the token is gone or expired, or the proof is used up, missing, or of a factor that is gone.
   */
  undoEmail(tokenId: string, undo: EmailUndo, now: number, step: AccountStep): Promise<UserRecord | null>

  /**
   * Consumes the token: whoever brought it has the mailbox. Where the address was never verified this is the first proof:
   * it is verified now, the version is raised (a change row), and whatever somebody else may have planted is gone:
   * password, second factor, identities, name, extra fields, sessions, known devices and every one-time token of the
   * user but undos.
   * `step` is written then, and only then. Of concurrent calls, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired, was for another address than the user has now, or the
   * user is disabled.
   */
  proveMailbox(tokenId: string, purpose: OneTimePurpose, now: number, step: AccountStep): Promise<UserRecord | null>

  /**
   * Consumes the reset token, sets the hash, marks the address as verified, raises the version (a change row), ends every
   * session and drops every known device and every one-time token of the user but undos. Where the address was never
   * verified, it is a first proof as above; a second factor or an identity that the owner has set up stays. Of concurrent calls, exactly
   * one gets the user.
   * Null, and nothing changed, when the token is gone or expired, was for another address than the user has now, or the
   * user is disabled.
   */
  resetPassword(tokenId: string, passwordHash: string, now: number, step: AccountStep): Promise<UserRecord | null>

  /**
   * Sets the hash, raises the version (a change row), ends every session, starts the new one and drops the user's pending
   * resets and changes of address. Null, and nothing changed, when the user is disabled or no longer at that version, or
   * the session that asked has ended: of concurrent calls from one session, exactly one gets the user.
   */
  changePassword(change: PasswordChange, step: AccountStep): Promise<UserRecord | null>

  /** The same by whoever runs the application: no session is asked for and none starts. Null when there is no such user. */
  setPassword(id: string, passwordHash: string, step: AccountStep): Promise<UserRecord | null>

  /** Replaces the hash of an unchanged password by a stronger one; nothing happens when the hash is no longer `from`. */
  upgradePasswordHash(id: string, from: string, to: string): Promise<void>

  /** Sets name or extra fields, whichever is given. Null when there is no such user. */
  updateProfile(
    id: string,
    profile: { name?: string | null; fields?: Readonly<Record<string, unknown>> },
    audit: AuditEvent,
  ): Promise<UserRecord | null>

  /**
   * Sets name or roles, whichever is given, and raises the version (a change row). Without its second factor the account
   * loses backup codes and pending enrolments with it, and every session ends. Null when there is no such user.
   */
  updateAccount(
    id: string,
    changes: { name?: string | null; roles?: readonly string[]; twoFactor?: false },
    step: AccountStep,
  ): Promise<UserRecord | null>

  /**
   * Disables from `at` until `until` (null: until enabled again), raises the version (a change row), ends every session
   * and drops every one-time token of the user but undos. Null when there is no such user.
   */
  disable(id: string, span: { at: number; until: number | null }, step: AccountStep): Promise<UserRecord | null>

  /** Ends being disabled and raises the version (a change row). Null when there is no such user. */
  enable(id: string, step: AccountStep): Promise<UserRecord | null>

  /**
   * Users, newest first, of one second by id backwards; `after` is the last one of the page before. With `query` those
   * whose canonical address or name contains it, ASCII letters in either case.
   */
  list(filter: {
    query: string | null
    after: { createdAt: number; id: string } | null
    limit: number
  }): Promise<UserRecord[]>

  /** Deletes the user with sessions, one-time tokens, backup codes and identities; a change row kills every access token. False when there was none. */
  delete(id: string, until: number, audit: AuditEvent): Promise<boolean>
}
