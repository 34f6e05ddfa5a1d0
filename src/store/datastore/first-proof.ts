import { firstProof } from '../account-changes.js'
import type { UsersTable } from '../rows.js'
import { dropLosses } from './account-losses.js'
import type { Unit } from './engine/unit.js'

/** The row after the first proof of the mailbox. Null, and nothing changed, when the address was verified before. */
export async function wipeUnproven(unit: Unit, row: UsersTable): Promise<UsersTable | null> {
  if (row.email_verified === 1) return null
  await dropLosses(unit, row.id, firstProof.losses)
  return { ...row, ...firstProof.values }
}
