import { noFactor } from '../factor-columns.js'
import type { UsersTable } from '../rows.js'
import { devices, sessions } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'
import { dropBackupCodes } from './user-rows.js'

/**
 * What was written before anybody had proved the mailbox may be a stranger's, who waits for the owner to come
 * (GHSA-qq9h-g4jm-xgf3): all of it goes with the first proof, and the address is verified. The row as it is then; null,
 * and nothing changed, when it was verified before: then it is the owner's.
 */
export async function wipeUnproven(unit: Unit, row: UsersTable): Promise<UsersTable | null> {
  if (row.email_verified === 1) return null
  await dropBackupCodes(unit, row.id)
  await dropIdentities(unit, row.id)
  const cleared = { password_hash: null, name: null, fields: '{}', identities: '[]', ...noFactor }
  return { ...row, ...cleared, email_verified: 1 }
}

/** Everything that lets somebody in, may come to, or makes them known: sessions, one-time tokens, devices. */
export async function dropEveryHold(unit: Unit, userId: string): Promise<void> {
  await dropTokens(unit, userId)
  await dropSessions(unit, userId)
  await dropDevices(unit, userId)
}

export async function dropSessions(unit: Unit, userId: string): Promise<void> {
  unit.remove(sessions, await unit.find(sessions, { user_id: userId }))
}

export async function dropDevices(unit: Unit, userId: string): Promise<void> {
  unit.remove(devices, await unit.find(devices, { user_id: userId }))
}
