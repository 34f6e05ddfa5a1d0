import { Taken } from '../refused.js'
import { oneTimeTokens } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { findByEmail } from './user-rows.js'

/**
 * Requires that no other account has the address, or left it by a change that can still be undone. Accounts change one after
 * another, so an address that is free here stays free until the step is made.
 *
 * @throws {Taken}
 */
export async function requireFree(
  unit: Unit,
  email: string,
  { now, userId }: { now: number; userId: string },
): Promise<void> {
  const owner = await findByEmail(unit, email)
  if (owner && owner.id !== userId) throw new Taken()
  const undos = await unit.find(oneTimeTokens, { email, purpose: 'email_undo' })
  if (undos.some(({ user_id, expires_at }) => user_id !== userId && expires_at > now)) throw new Taken()
}
