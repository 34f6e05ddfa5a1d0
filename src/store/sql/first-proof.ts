import { noFactor } from '../factor-columns.js'
import type { Unit } from './engine/steps.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'

/**
 * What was written before anybody had proved the mailbox may be a stranger's, who waits for the owner to come
 * (GHSA-qq9h-g4jm-xgf3): all of it goes with the first proof, and the address is verified. False, and nothing changed,
 * when it was verified before: then it is the owner's.
 */
export async function wipeUnproven(unit: Unit, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await unit.db
    .updateTable('latchkey_users')
    .set({
      email_verified: 1,
      password_hash: null,
      name: null,
      fields: '{}',
      identities: '[]',
      ...noFactor,
    })
    .where('id', '=', userId)
    .where('email_verified', '=', 0)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await unit.db.deleteFrom('latchkey_backup_codes').where('user_id', '=', userId).execute()
  await dropIdentities(unit, userId)
  return true
}

/** Everything that lets somebody in, may come to, or makes them known: sessions, one-time tokens, devices. */
export async function dropEveryHold(unit: Unit, userId: string): Promise<void> {
  await dropTokens(unit, userId)
  await unit.db.deleteFrom('latchkey_sessions').where('user_id', '=', userId).execute()
  await unit.db.deleteFrom('latchkey_devices').where('user_id', '=', userId).execute()
}
