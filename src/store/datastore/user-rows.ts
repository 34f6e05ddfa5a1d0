import type { Change } from '../../model/change.js'
import type { UserRecord } from '../../model/user.js'
import { Refused } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { toUser } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { recordLosses } from './account-losses.js'
import { writeChanges } from './changes.js'
import { users } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'
import { writeMail } from './outbox.js'

export function isEnabled(row: UsersTable, now: number): boolean {
  return row.disabled_at === null || (row.disabled_until !== null && row.disabled_until <= now)
}

export async function findByEmail(view: View, email: string): Promise<UsersTable | null> {
  return (await view.find(users, { email_canonical: email }))[0] ?? null
}

/** @throws {Refused} when there is no such user */
export async function requireUser(unit: Unit, id: string): Promise<UsersTable> {
  const row = await unit.get(users, id)
  if (!row) throw new Refused()
  return row
}

/** @throws {Refused} when the user is gone, disabled, or no longer at that version */
export async function requireAt(unit: Unit, id: string, version: number, now: number): Promise<UsersTable> {
  const row = await requireUser(unit, id)
  if (row.version !== version || !isEnabled(row, now)) throw new Refused()
  return row
}

/**
 * Writes the user with the version raised, and what tells of it: event, notice, and the row that kills every older access
 * token.
 */
export async function changeUser(unit: Unit, row: UsersTable, step: AccountStep): Promise<UserRecord> {
  const { until, mail, secondMail } = step
  const changed = { ...row, version: row.version + 1 }
  unit.put(users, changed)
  await recordLosses(unit, step)
  if (mail) writeMail(unit, mail)
  if (secondMail) writeMail(unit, secondMail)
  recordUserChange(unit, changed, until)
  return toUser(changed)
}

export function recordUserChange(unit: Unit, { id, version }: Pick<UsersTable, 'id' | 'version'>, until: number): void {
  const kind: Change['kind'] = 'user'
  writeChanges(unit, kind, [id], until, version)
}
