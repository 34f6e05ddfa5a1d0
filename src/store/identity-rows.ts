import type { Identity, LinkedProvider } from '../model/identity.js'
import type { IdentitiesTable } from './rows.js'

/** What the user's row tells of an identity. */
export function linkedProvider({ provider, linkedAt }: LinkedProvider): LinkedProvider {
  return { provider, linkedAt }
}

export function toIdentityRow(identity: Identity): IdentitiesTable {
  return {
    provider: identity.provider,
    subject: identity.subject,
    user_id: identity.userId,
    linked_at: identity.linkedAt,
  }
}
