import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { writeMail } from '../outbox.js'
import { Refused, Taken } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { isLive, toSessionRow } from '../session-rows.js'
import { oneTimeTokens, sessions, users } from '../tables.js'
import type { Unit } from '../unit.js'
import { isEnabled, toUser } from '../user-rows.js'
import type { AccountStep, ProofStep } from '../users.js'
import { type AccountChange, firstProof, invitedProof, renewedProof } from './changes.js'
import { dropLosses, recordLosses } from './losses.js'

/** The user's row, locked. @throws {Refused} when there is no such user */
export async function requireUser(unit: Unit, id: string): Promise<UsersTable> {
  const row = await unit.get(users, { id })
  if (!row) throw new Refused()
  return row
}

/** @throws {Refused} when the user is gone, disabled, or no longer at that version */
export async function requireAt(unit: Unit, id: string, version: number, now: number): Promise<UsersTable> {
  const row = await requireUser(unit, id)
  if (row.version !== version || !isEnabled(row, now)) throw new Refused()
  return row
}

/** @throws {Refused} when the session has ended */
export async function requireSession(
  unit: Unit,
  { userId, sessionId, now }: { userId: string; sessionId: string; now: number },
): Promise<void> {
  const session = await unit.get(sessions, { id: sessionId })
  if (session?.user_id !== userId || !isLive(session, now)) throw new Refused()
}

/** Ends every session and starts a new one. @throws {Refused} when the session that asked has ended */
export async function startAnew(
  unit: Unit,
  { userId, fromSessionId, session }: { userId: string; fromSessionId: string; session: Session },
): Promise<void> {
  const from = await unit.get(sessions, { id: fromSessionId })
  if (from?.user_id !== userId) throw new Refused()
  await dropLosses(unit, userId, { sessions: true })
  await unit.put(sessions, toSessionRow(session, unit))
}

/**
 * Writes a row with a new address, unless another account has the address, or left it by a change that can still be undone.
 *
 * Undos are read after the row is written. Its unique address makes that write wait for a step that gives the address up, whose
 * undo is then visible.
 *
 * @throws {Taken}
 */
export async function claimAddress(unit: Unit, row: UsersTable, now: number): Promise<void> {
  await unit.put(users, row)
  const reserved = { email: row.email_canonical, purpose: 'email_undo', expires_at: { gt: now } }
  const undos = await unit.find(oneTimeTokens, reserved)
  if (undos.some(({ user_id }) => user_id !== row.id)) throw new Taken()
}

/** The last writes of a step that changes an account: the row with the version raised, event, notices and the change row. */
export async function changeUser(unit: Unit, row: UsersTable, step: AccountStep): Promise<UserRecord> {
  const { until, mail, secondMail } = step
  const changed = { ...row, version: row.version + 1 }
  await unit.put(users, changed)
  await recordLosses(unit, step)
  if (mail) await writeMail(unit, mail)
  if (secondMail) await writeMail(unit, secondMail)
  unit.change('user', [row.id], until, changed.version)
  return toUser(changed)
}

/**
 * The row after the first proof of the mailbox, or the renewed one of an administrator. Null, and nothing changed, when the
 * address was verified before.
 */
export async function wipeUnproven(
  unit: Unit,
  row: UsersTable,
  { strict = false, renewal = renewedProof }: Pick<ProofStep, 'strict'> & { renewal?: AccountChange } = {},
): Promise<UsersTable | null> {
  const proof = proofFor(row, strict ? renewal : null)
  if (!proof) return null
  await dropLosses(unit, row.id, proof.losses)
  return { ...row, ...proof.values }
}

function proofFor(row: UsersTable, renewal: AccountChange | null): AccountChange | null {
  const isInvited = row.verified_by === 'invitation' && row.password_hash === null && row.identities === '[]'
  if (row.email_verified !== 1) return isInvited ? invitedProof : firstProof
  const isUnproved = row.verified_by === null || row.verified_by === 'trusted_provider'
  return isUnproved ? renewal : null
}
