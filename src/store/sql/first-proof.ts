import type { ExpressionBuilder } from 'kysely'
import { type AccountChange, firstProof, invitedProof, renewedProof } from '../account-changes.js'
import type { ProofStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Tables } from './engine/schema.js'
import type { Unit } from './engine/steps.js'

/**
 * Makes this the first proof of the mailbox, or the renewed one of an administrator. False, and nothing changed, when the
 * address was verified before.
 */
export async function wipeUnproven(
  unit: Unit,
  userId: string,
  { strict = false, renewal = renewedProof }: Pick<ProofStep, 'strict'> & { renewal?: AccountChange } = {},
): Promise<boolean> {
  const isInvited = await wipe(unit, userId, invitedProof, (eb) =>
    eb.and([
      eb('email_verified', '=', 0),
      eb('verified_by', '=', 'invitation'),
      eb('password_hash', 'is', null),
      eb('identities', '=', '[]'),
    ]),
  )
  if (isInvited) return true
  const isFirst = await wipe(unit, userId, firstProof, (eb) => eb('email_verified', '=', 0))
  if (isFirst || !strict) return isFirst
  return wipe(unit, userId, renewal, (eb) =>
    eb.or([eb('verified_by', 'is', null), eb('verified_by', '=', 'trusted_provider')]),
  )
}

async function wipe(
  unit: Unit,
  userId: string,
  { values, losses }: AccountChange,
  applies: (eb: ExpressionBuilder<Tables, 'latchkey_users'>) => ReturnType<typeof eb.and>,
): Promise<boolean> {
  const { numUpdatedRows } = await unit.db
    .updateTable('latchkey_users')
    .set(values)
    .where('id', '=', userId)
    .where(applies)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await dropLosses(unit, userId, losses)
  return true
}
