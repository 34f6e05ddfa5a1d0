import { Taken } from '../refused.js'
import { isUniqueViolation } from './engine/retry.js'
import type { Unit } from './engine/steps.js'

export function refuseTaken(error: unknown): never {
  throw isUniqueViolation(error) ? new Taken() : error
}

/**
 * An address that a change left is taken for everybody but its user for as long as the change can be undone.
 *
 * Asked after the write that claims the address: the unique index makes that write wait for whoever is giving the address
 * up, whose undo stands there when it goes on. It must be the transaction's first plain read, too: the snapshot of a
 * REPEATABLE READ begins with that, and one from before the wait would not show the undo.
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

/** Whatever gives an address to an account ends every registration that waits for it. */
export async function dropRegistrations(unit: Pick<Unit, 'db'>, email: string): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('purpose', '=', 'registration')
    .where('subject', '=', email)
    .execute()
}
