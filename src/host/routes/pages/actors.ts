import type { ActorEntry } from '../../../contract/actor.js'
import type { Ports } from '../../../ports.js'

/** An actor by name: the address of a user, the beginning of a token; `text` is the label of any other kind. */
export interface ShownActor {
  name: string
  text: string
}

/** Reads each account once. */
export async function actorNames(
  { users }: Pick<Ports, 'users'>,
  actors: readonly (ActorEntry | null)[],
): Promise<(actor: ActorEntry | null) => ShownActor> {
  const ids = new Set(actors.flatMap((actor) => (actor?.kind === 'user' && actor.id !== null ? [actor.id] : [])))
  const found = await Promise.all([...ids].map((id) => users.findById(id)))
  const addresses = new Map(found.flatMap((user) => (user === null ? [] : [[user.id, user.email] as const])))
  return (actor) => {
    if (actor === null) return { name: '', text: '' }
    if (actor.id === null) return { name: '', text: `admin.actor.${actor.kind}` }
    const name = addresses.get(actor.id) ?? actor.id.slice(0, 8)
    return { name, text: actor.kind === 'adminToken' ? 'admin.actor.adminToken' : '' }
  }
}
