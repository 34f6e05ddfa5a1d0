import type { Identity, LinkedProvider } from '../model/identity.js'
import type { UserRecord } from '../model/user.js'
import type { IdentitiesTable } from './rows.js'

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

export function toIdentityRow(identity: Identity): IdentitiesTable {
  return {
    provider: identity.provider,
    subject: identity.subject,
    user_id: identity.userId,
    linked_at: identity.linkedAt,
  }
}
