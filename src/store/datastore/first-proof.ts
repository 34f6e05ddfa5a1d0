import { type AccountChange, firstProof, invitedProof, renewedProof } from '../account-changes.js'
import type { UsersTable } from '../rows.js'
import type { ProofStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Unit } from './engine/unit.js'

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
