import type { AuditEvent } from '../model/audit-event.js'
import type { OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { UserRecord } from '../model/user.js'

/** Accounts. Addresses are canonical ones everywhere. */
export interface Users {
  findById(id: string): Promise<UserRecord | null>

  findByEmail(emailCanonical: string): Promise<UserRecord | null>

  /**
   * Consumes the registration, creates its user and drops every other registration for that address.
   * False, and nothing changed, when the registration is gone, expired or the address is taken.
   * Of concurrent calls for one address, exactly one is true.
   */
  createFromRegistration(user: UserRecord, registrationId: string, now: number, audit: AuditEvent): Promise<boolean>

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

  /** Replaces the hash of an unchanged password by a stronger one; nothing happens when the hash is no longer `from`. */
  upgradePasswordHash(id: string, from: string, to: string): Promise<void>

  /** Sets name or extra fields, whichever is given. Null when there is no such user. */
  updateProfile(
    id: string,
    profile: { name?: string | null; fields?: Readonly<Record<string, unknown>> },
    audit: AuditEvent,
  ): Promise<UserRecord | null>

  /** Deletes the user with sessions and one-time tokens; a change row kills every access token. False when there was none. */
  delete(id: string, until: number, audit: AuditEvent): Promise<boolean>
}
