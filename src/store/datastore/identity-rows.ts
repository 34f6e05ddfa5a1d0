import type { Identity } from '../../model/identity.js'
import { linkedColumn, toIdentityRow } from '../identity-rows.js'
import { Taken } from '../refused.js'
import type { IdentitiesTable } from '../rows.js'
import { identities, identityKey } from './engine/tables.js'
import type { Unit } from './engine/unit.js'

/** @throws {Taken} when it is another user's, or the user has another one of that provider */
export async function writeIdentity(unit: Unit, identity: Identity): Promise<void> {
  if (await unit.get(identities, identityKey(identity))) throw new Taken()
  const own = await unit.find(identities, { user_id: identity.userId })
  if (own.some(({ provider }) => provider === identity.provider)) throw new Taken()
  unit.put(identities, toIdentityRow(identity))
}

/** The user's identities for which the condition holds; without one, all. */
export async function dropIdentities(
  unit: Unit,
  userId: string,
  condition: (row: IdentitiesTable) => boolean = () => true,
): Promise<void> {
  const rows = await unit.find(identities, { user_id: userId })
  unit.remove(identities, rows.filter(condition))
}

/** What the user's row tells of the user's identities, as they are now. */
export async function linkedProviders(unit: Unit, userId: string): Promise<string> {
  const rows = await unit.find(identities, { user_id: userId }, { sort: { linked_at: 1, provider: 1 } })
  return linkedColumn(rows)
}
