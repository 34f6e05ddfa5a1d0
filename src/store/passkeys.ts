import type { AuditEvent } from '../model/audit-event.js'
import type { PasskeyRecord } from '../model/factors/passkey.js'
import type { Session } from '../model/session.js'
import type { UserRecord } from '../model/user.js'
import type { AccountStep } from './users.js'

export interface AddingPasskey {
  passkey: PasskeyRecord
  /** The session that asked. It must still be live. */
  fromSessionId: string
  /** How many a user may have. */
  max: number
}

export interface RemovingPasskey {
  userId: string
  id: string
  /**
   * The session that asked, which must still be live, the one that starts in its place, and the RP id whose passkeys sign in
   * (null: passkeys are off). null: the application asks.
   */
  by: { fromSessionId: string; session: Session; rpId: string | null } | null
}

/**
 * Passkeys. A credential of an RP id belongs to one user. Users' records show at once which passkeys are not suspended.
 */
export interface Passkeys {
  /**
   * What authenticators keep as the user: `fresh` at the first call, then always that. Without `fresh` it only reads. Null when there
   * is none, or no such user.
   */
  handleOf(userId: string, fresh?: string): Promise<string | null>

  /** The passkey with that credential and its user, suspended or not; null when no account has it. */
  find(rpId: string, credentialId: string): Promise<{ passkey: PasskeyRecord; user: UserRecord } | null>

  /** The user's passkeys of every RP id, the oldest first. */
  list(userId: string): Promise<PasskeyRecord[]>

  /** How many passkeys there are of other RP ids. Reads all of them: for the start of a process, not for requests. */
  countOfOthers(rpId: string): Promise<number>

  /**
   * Gives the user that passkey. `taken` when an account has it, `limit` when the user has `max` of them: of concurrent calls
   * no more succeed. Null, and nothing changed, when the user is gone or disabled, or the session has ended.
   */
  add(adding: AddingPasskey, step: AccountStep): Promise<UserRecord | 'taken' | 'limit' | null>

  /** Null, and nothing changed, when the user has no such passkey. */
  rename(userId: string, id: string, name: string, audit: AuditEvent): Promise<PasskeyRecord | null>

  /**
   * Removes the passkey and pending second steps, raises the version (a change row), ends every session and starts the new one.
   * `last`, and nothing changed, when the user could no longer sign in and does not ask through the application: of concurrent
   * calls for the last two, exactly one is `last`. Null, and nothing changed, when there is no such passkey, or the session that
   * asked has ended.
   */
  remove(removing: RemovingPasskey, step: AccountStep): Promise<UserRecord | 'last' | null>

  /**
   * Suspends a passkey for good, as of `now`. Ends every session, because a copy may have opened it, drops pending second steps and raises
   * the version (a change row). False, and nothing changed, when it is gone or suspended: of concurrent calls one is true.
   */
  suspend(userId: string, id: string, now: number, step: AccountStep): Promise<boolean>
}
