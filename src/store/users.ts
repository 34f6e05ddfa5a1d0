import type { UserFilter } from '../model/account.js'
import type { VerifiedBy } from '../model/admin-role.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { PasskeyRecord } from '../model/factors/passkey.js'
import type { Identity } from '../model/identity.js'
import type { OneTimePurpose, OneTimeToken, ResetPurpose } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { FactorProof } from '../model/second-factor.js'
import type { Session } from '../model/session.js'
import type { UserRecord } from '../model/user.js'

/** What accompanies a change of an account, in the same step. */
export interface AccountStep {
  /** Until when (Unix seconds) an access token that the change revokes could still be valid. */
  until: number
  audit: AuditEvent
  /** A notice that is sent if and only if the change happened. */
  mail?: OutboxMail
  /** A second notice, because `undoEmail` notifies two addresses. */
  secondMail?: OutboxMail
}

export interface OwnDeletion {
  userId: string
  version: number
  /** Of the second factor; null where none is on. */
  proof: FactorProof | null
  /** The token that marks the wait for the end of all undos; null: none lives. */
  wait: OneTimeToken | null
  until: number
  audit: AuditEvent
  mails: readonly OutboxMail[]
  /** Unix seconds. */
  now: number
}

/** What accompanies a proof of a mailbox. */
export interface ProofStep extends AccountStep {
  /**
   * Whether the address gives the role ADMIN. If it was verified but not proved to us, then password, identities, sessions,
   * known devices and one-time tokens (except undos) are removed, because a stranger may have set them. The version is raised
   * and the step is written. Default: false.
   */
  strict?: boolean
}

/** From when (Unix seconds) until when (null: until enabled again), and why (null: not given). */
export interface Disabling {
  at: number
  until: number | null
  reason: string | null
}

/**
 * The canonical addresses that give the role ADMIN. With them, a step refuses (`last_admin`, and nothing changed) to take away
 * the last account that has the role and is usable: its address is proved, it is not disabled and needs no new password. Of
 * concurrent steps, one account stays. In the host the rights decide instead.
 */
export type AdminEmails = readonly string[]

export interface PasswordChange {
  userId: string
  /** The account's version when the current password was compared. */
  version: number
  /** The session that asked. It must still be live, and ends with all others. */
  fromSessionId: string
  passwordHash: string
  /** Starts in the same step. */
  session: Session
}

/** The parts of a change of address. */
export interface EmailChange {
  /** The new address as typed; its canonical form is the token's. */
  email: string
  /** What the confirmation proves: see `confirmEmail`. */
  verifiedBy: VerifiedBy | null
  /** The account's version when the password was compared for it. */
  version: number
  /** Takes the former address back. While this token is live, no other account can get that address. */
  undo: { token: OneTimeToken; mail: OutboxMail }
  /** The last administrator stays one: with this address, and proved. */
  keepAdmin?: AdminEmails
}

/** The parts of an undo of a change of address. */
export interface EmailUndo {
  /** The address as typed; its canonical form is the token's. */
  email: string
  /** When the second factor that was on at the change had been turned on (Unix seconds); null: none was on. */
  factorSince: number | null
  /** A proof of that factor, if it is still on. */
  proof: FactorProof | null
}

/**
 * Accounts. Addresses are canonical unless they are called typed. An address that a change left stays reserved for its user
 * until the undo of that change is used, expired or deleted with the account.
 */
export interface Users {
  findById(id: string): Promise<UserRecord | null>

  findByEmail(emailCanonical: string): Promise<UserRecord | null>

  /**
   * Consumes the registration, creates its user, with the identity that it may carry, and drops every other registration
   * for that address. False, and nothing changed, when the registration is gone or expired, or the address or the identity
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
   * The same for a user who has these passkeys, as the record's `factors` show. False, and nothing changed, also when an account has one
   * of them.
   */
  createWithPasskeys(user: UserRecord, passkeys: readonly PasskeyRecord[], audit: AuditEvent): Promise<boolean>

  /**
   * Consumes the token and marks its user's address as verified, raising the user's version (a change row until `until`)
   * and dropping the user's other confirmations. Of concurrent calls, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired, or belongs to another address than the user has now.
   */
  verifyEmail(tokenId: string, now: number, until: number, audit: AuditEvent): Promise<UserRecord | null>

  /**
   * Consumes the change and gives its user the new address, verified, raising the version (a change row). Keeps the undo and
   * its mail if and only if the former address was verified. Drops the tokens that were mailed to the former address
   * (changes, confirmations, resets, codes) and the registrations for the new one. Of concurrent calls for a token, or for
   * an address, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired, or when the user is disabled, no longer at that version,
   * or no longer has the undo's address. `taken`, and nothing changed, when another user has the new address or may take
   * it back. `last_admin` by `keepAdmin`.
   */
  changeEmail(
    tokenId: string,
    change: EmailChange,
    now: number,
    step: AccountStep,
  ): Promise<UserRecord | 'taken' | 'last_admin' | null>

  /**
   * Consumes the undo and gives its user the address back, as typed and verified but not proved, raising the version (a change row), also
   * while the user is disabled. Ends every session, forgets the user's devices and drops every one-time token of the user
   * except earlier undos. Identities and passkeys that were added since the change are removed: they may be the thief's.
   * If the second factor that was on at the change is still on, the undo needs a proof of it and uses it up. A factor that
   * was turned on since is removed with its backup codes. Of concurrent calls, exactly one gets the user. Null, and nothing
   * changed, when the token is gone or expired, or the proof is used up, missing, or of a factor that is gone. It takes back
   * the last administrator's account, too: a reset, mailed to that address, makes it usable again.
   */
  undoEmail(tokenId: string, undo: EmailUndo, now: number, step: AccountStep): Promise<UserRecord | null>

  /**
   * Consumes the token, which proves access to the mailbox. If the address was never verified, this is the first proof: the
   * address is verified now, the version is raised (a change row), and everything that a stranger may have set is removed:
   * password, second factor, identities, name, extra fields, sessions, known devices and every one-time token of the user
   * except undos. The name stays where an administrator invited the user, and the account has neither password nor identity.
   * `step` is written for a first proof only. Of concurrent calls, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired, or belongs to another address than the user has now, or
   * the user is disabled.
   */
  proveMailbox(tokenId: string, purpose: OneTimePurpose, now: number, step: ProofStep): Promise<UserRecord | null>

  /**
   * Consumes the token of a reset or an invitation, sets the hash, marks the address as verified, raises the version (a change row), ends every
   * session and drops every known device and every one-time token of the user except undos. If the address was never
   * verified, it is a first proof as above, except that a second factor or an identity that the owner set up stays. Of
   * concurrent calls, exactly one gets the user.
   * Null, and nothing changed, when the token is gone or expired, or belongs to another address than the user has now, or
   * the user is disabled.
   */
  resetPassword(
    tokenId: string,
    purpose: ResetPurpose,
    passwordHash: string,
    now: number,
    step: ProofStep,
  ): Promise<UserRecord | null>

  /**
   * Sets the hash, raises the version (a change row), ends every session, starts the new one and drops the user's pending
   * resets and changes of address. Null, and nothing changed, when the user is disabled or no longer at that version, or
   * the session that asked has ended: of concurrent calls from one session, exactly one gets the user.
   */
  changePassword(change: PasswordChange, step: AccountStep): Promise<UserRecord | null>

  /** The same for an administrator: it needs no session and starts none. Null when there is no such user. */
  setPassword(id: string, passwordHash: string, step: AccountStep): Promise<UserRecord | null>

  /**
   * Demands a new password: the stored one counts no more until a reset or `setPassword`. Keeps the token of the reset, whose
   * mail is the step's. Raises the version (a change row), ends every session and drops the user's known devices and every
   * other one-time token except undos. Null when there is no such user.
   */
  demandReset(
    id: string,
    reset: OneTimeToken,
    step: AccountStep,
    keepAdmin?: AdminEmails,
  ): Promise<UserRecord | 'last_admin' | null>

  /**
   * Makes the account an administrator's, for the owner of the application: marks the address as proved, sets the hash (null:
   * the password stays), raises the version (a change row), ends every session and drops every known device and every one-time
   * token of the user, undos too. If the address was not proved before, it is first a proof of the mailbox as above, with
   * `strict`, so that nothing stays that a stranger may have set. Keeps the token of an invitation, whose mail is the step's.
   * Null, and nothing changed, when there is no such user, or the user is disabled at that moment or has another address.
   */
  entrust(
    user: { id: string; emailCanonical: string },
    given: { passwordHash: string | null; invitation: OneTimeToken | null; now: number },
    step: AccountStep,
  ): Promise<UserRecord | null>

  /** Replaces the hash of an unchanged password by a stronger one. Does nothing when the hash is no longer `from`. */
  upgradePasswordHash(id: string, from: string, to: string): Promise<void>

  /** Sets name, extra fields, or both. Null when there is no such user. */
  updateProfile(
    id: string,
    profile: { name?: string | null; fields?: Readonly<Record<string, unknown>> },
    audit: AuditEvent,
  ): Promise<UserRecord | null>

  /**
   * Sets name or roles, or both, and raises the version (a change row). Removing the second factor also removes backup codes
   * and pending enrolments, and ends every session. Null, and nothing changed, when there is no such user, or no factor to
   * remove: of concurrent removals, exactly one gets the user.
   */
  updateAccount(
    id: string,
    changes: { name?: string | null; roles?: readonly string[]; twoFactor?: false },
    step: AccountStep,
  ): Promise<UserRecord | null>

  /**
   * Disables from `at` until `until` (null: until enabled again) for that reason, raises the version (a change row), ends every session and
   * drops every one-time token of the user except undos. An account that is disabled until then for that reason stays as it
   * is, and nothing is written. Null when there is no such user.
   */
  disable(
    id: string,
    disabling: Disabling,
    step: AccountStep,
    keepAdmin?: AdminEmails,
  ): Promise<UserRecord | 'last_admin' | null>

  /**
   * Ends being disabled and raises the version (a change row). An account that is not disabled at `now` stays as it is, and
   * nothing is written. Null when there is no such user.
   */
  enable(id: string, now: number, step: AccountStep): Promise<UserRecord | null>

  /**
   * Users, newest first; those created in the same second by descending id. `after` is the last one of the previous page.
   * Users fulfil every condition that is given.
   */
  list(filter: UserFilter): Promise<UserRecord[]>

  /** How many users there are, by an index. Null where the store would have to read them all. */
  count(): Promise<number | null>

  /**
   * Deletes the user with sessions, one-time tokens, backup codes and identities. A change row revokes every access token.
   * False when there was no such user.
   */
  delete(id: string, until: number, audit: AuditEvent, keepAdmin?: AdminEmails): Promise<boolean | 'last_admin'>

  /**
   * Deletes the account at the wish of its user, and uses the proof up. While an undo of a changed address lives, the account
   * waits instead: it is disabled, keeps its undos and loses every other hold, the version is raised (a change row), and the
   * token that marks the wait is kept. Null, and nothing changed, when the user is disabled or no longer at that version, the
   * proof is used up, or `wait` does not fit: it must be given if and only if an undo lives at `now`.
   */
  deleteOwn(deletion: OwnDeletion, keepAdmin?: AdminEmails): Promise<'done' | 'last_admin' | null>

  /**
   * Uses up the token that marks the wait, and deletes its user as `delete` does. False, and nothing changed, when the token
   * is gone, because the account was taken back, enabled or deleted meanwhile, or when it is not disabled without an end.
   */
  deleteWaiting(wait: Pick<OneTimeToken, 'id' | 'userId'>, until: number, audit: AuditEvent): Promise<boolean>
}
