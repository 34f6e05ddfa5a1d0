import { Taken } from '../refused.js'
import { isUniqueViolation } from './engine/retry.js'
import type { Unit } from './engine/steps.js'

export function refuseTaken(error: unknown): never {
  throw isUniqueViolation(error) ? new Taken() : error
}

/**
 * Refuses an address that another user's change left and can still take back by an undo.
 *
 * It runs after the write that claims the address. The unique index makes that write wait for a transaction that gives the
 * address up, whose undo is then visible. It must also be the transaction's first plain read: the snapshot of a REPEATABLE
 * READ begins with that read, and a snapshot from before the wait would not show the undo.
 *
 * @throws {Taken}
 */
export async function refuseReserved(
  unit: Pick<Unit, 'db'>,
  email: string,
  claim: { now: number; userId: string },
): Promise<void> {
  const undo = await unit.db
    .selectFrom('latchkey_one_time_tokens')
    .select('id')
    .where('purpose', '=', 'email_undo')
    .where('email', '=', email)
    .where('user_id', '<>', claim.userId)
    .where('expires_at', '>', claim.now)
    .executeTakeFirst()
  if (undo) throw new Taken()
}

/** Every step that gives an address to an account ends the registrations that wait for it. */
export async function dropRegistrations(unit: Pick<Unit, 'db'>, email: string): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('purpose', '=', 'registration')
    .where('email', '=', email)
    .execute()
}
