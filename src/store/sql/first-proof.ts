import { firstProof } from '../account-changes.js'
import { dropLosses } from './account-losses.js'
import type { Unit } from './engine/steps.js'

/** Makes this the first proof of the mailbox. False, and nothing changed, when the address was verified before. */
export async function wipeUnproven(unit: Unit, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await unit.db
    .updateTable('latchkey_users')
    .set(firstProof.values)
    .where('id', '=', userId)
    .where('email_verified', '=', 0)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await dropLosses(unit, userId, firstProof.losses)
  return true
}
