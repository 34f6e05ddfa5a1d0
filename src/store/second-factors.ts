import type { AuditEvent } from '../model/audit-event.js'
import type { EnrolledFactor } from '../model/factors/kinds.js'
import type { OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { BackupCode, FactorProof } from '../model/second-factor.js'
import type { Session } from '../model/session.js'
import type { UserRecord } from '../model/user.js'
import type { AccountStep } from './users.js'

/** Whose factor changes, and the conditions that must still hold. */
interface FactorChange {
  userId: string
  /** The account's version when the password was compared. */
  version: number
  /** The session that asked. It must still be live, and ends with all others. */
  fromSessionId: string
  /** Starts in the same step. */
  session: Session
}

export interface TurningOn extends FactorChange {
  /** The one-time token of the enrolment. It is consumed. */
  enrolmentId: string
  /** Replaces the account's factor of that kind. */
  factor: EnrolledFactor
  /** Replace all earlier ones. */
  backupCodes: readonly BackupCode[]
}

export interface TurningOff extends FactorChange {
  proof: FactorProof
}

export interface ReplacingBackupCodes extends Pick<FactorChange, 'userId' | 'version'> {
  proof: FactorProof
  backupCodes: readonly BackupCode[]
}

/**
 * Second factors and their backup codes. A proof works once: of any concurrent steps that use it, exactly one happens.
 * `Sessions.open` uses proofs up, too.
 */
export interface SecondFactors {
  /** The id of the user's backup code with one of these digests, or null. Does not use it up. */
  findBackupCode(userId: string, codeHashes: readonly string[]): Promise<string | null>

  /** How many backup codes the user has that are not used up. */
  countBackupCodes(userId: string): Promise<number>

  /**
   * Keeps the token of an enrolment and drops the user's other enrolments. With a proof, uses it up in the same step.
   * False, and nothing changed, when the proof is used up already, or the user is no longer at that version.
   */
  beginEnrolment(
    token: OneTimeToken,
    now: number,
    proved: { userId: string; version: number; proof: FactorProof } | null,
  ): Promise<boolean>

  /**
   * Consumes the enrolment, sets the factor and its backup codes, raises the version (a change row), ends every session
   * and starts the new one. Null, and nothing changed, when the enrolment is gone or expired, the user is disabled or no
   * longer at that version, or the session that asked has ended.
   */
  turnOn(change: TurningOn, step: AccountStep): Promise<UserRecord | null>

  /**
   * Uses the proof up, drops every factor, backup code and enrolment, raises the version (a change row), ends every session
   * and starts the new one. Null, and nothing changed, as for `turnOn`, or when the proof is used up.
   */
  turnOff(change: TurningOff, step: AccountStep): Promise<UserRecord | null>

  /**
   * Uses the proof up and replaces all backup codes. False, and nothing changed, when the proof is used up, or the user is
   * disabled or no longer at that version.
   */
  replaceBackupCodes(
    change: ReplacingBackupCodes,
    now: number,
    records: { audit: AuditEvent; mail?: OutboxMail },
  ): Promise<boolean>
}
