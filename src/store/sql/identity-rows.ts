import type { Identity } from '../../model/identity.js'
import { linkedColumn, toIdentityRow } from '../identity-rows.js'
import type { Unit } from './engine/steps.js'
import { refuseTaken } from './taken-addresses.js'

/** @throws {Taken} if another user has this identity, or the user has another identity of that provider */
export async function writeIdentity(unit: Pick<Unit, 'db'>, identity: Identity): Promise<void> {
  await unit.db.insertInto('latchkey_identities').values(toIdentityRow(identity)).execute().catch(refuseTaken)
}

export async function dropIdentities(unit: Pick<Unit, 'db'>, userId: string): Promise<void> {
  await unit.db.deleteFrom('latchkey_identities').where('user_id', '=', userId).execute()
}

/**
 * Identities that were linked in that second or later. In that second too: a thief's identity would stay otherwise, while an
 * owner can link again.
 */
export async function dropIdentitiesSince(unit: Pick<Unit, 'db'>, userId: string, since: number): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_identities')
    .where('user_id', '=', userId)
    .where('linked_at', '>=', since)
    .execute()
  await recordIdentityChange(unit, userId)
}

/** Writes the user's current identities into the user's row, which the caller has locked. */
export async function recordIdentityChange(unit: Pick<Unit, 'db'>, userId: string): Promise<void> {
  const rows = await unit.db
    .selectFrom('latchkey_identities')
    .select(['provider', 'linked_at'])
    .where('user_id', '=', userId)
    .orderBy('linked_at')
    .orderBy('provider')
    .execute()
  await unit.db
    .updateTable('latchkey_users')
    .set({ identities: linkedColumn(rows) })
    .where('id', '=', userId)
    .execute()
}
