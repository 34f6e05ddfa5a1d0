import type { Identity, LinkedProvider } from '../../model/identity.js'
import type { UserRecord } from '../../model/user.js'
import type { IdentitiesTable } from '../rows.js'
import { identities } from '../tables.js'
import type { Query, Unit } from '../unit.js'

/** What the user's row shows of an identity. */
function linkedProvider({ provider, linkedAt }: LinkedProvider): LinkedProvider {
  return { provider, linkedAt }
}

/** A new user with the identity, if there is one. */
export function withIdentity(user: UserRecord, identity?: Identity): UserRecord {
  return identity ? { ...user, identities: [linkedProvider(identity)] } : user
}

/** The column of the user's row, from the user's identities with the oldest link first. */
export function linkedColumn(rows: readonly Pick<IdentitiesTable, 'provider' | 'linked_at'>[]): string {
  return JSON.stringify(rows.map(({ provider, linked_at }) => ({ provider, linkedAt: Number(linked_at) })))
}

function toIdentityRow(identity: Identity): IdentitiesTable {
  return {
    provider: identity.provider,
    subject: identity.subject,
    user_id: identity.userId,
    linked_at: identity.linkedAt,
  }
}

/** @throws {Taken} when it is another user's, or the user has another one of that provider */
export async function writeIdentity(unit: Unit, identity: Identity): Promise<void> {
  await unit.put(identities, toIdentityRow(identity))
}

export function dropIdentities(unit: Unit, query: Query & { user_id: string }): Promise<void> {
  return unit.drop(identities, query)
}

/** The column of the user's row, from the user's identities as they are now. The caller has locked the user's row. */
export async function linkedProviders(unit: Unit, userId: string): Promise<string> {
  return linkedColumn(await unit.find(identities, { user_id: userId }, { sort: { linked_at: 1, provider: 1 } }))
}
