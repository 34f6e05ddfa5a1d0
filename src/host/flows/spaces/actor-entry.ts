import type { ActorEntry } from '../../../contract/actor.js'
import { type Actor, actorId } from '../../../model/actor.js'
import type { Ports } from '../../../ports.js'
import type { AdminTokens } from '../../store/people.js'

export function toActorEntry(actor: Actor): ActorEntry
export function toActorEntry(actor: Actor | null): ActorEntry | null
export function toActorEntry(actor: Actor | null): ActorEntry | null {
  return actor && { kind: actor.kind, id: actorId(actor) }
}

/** Who that is, in words. What is gone has its id. */
export async function nameOfActor(
  { users, tokens }: { users: Pick<Ports['users'], 'findById'>; tokens: Pick<AdminTokens, 'find'> },
  { kind, id }: ActorEntry,
): Promise<string> {
  if (kind === 'user') return (id && (await users.findById(id))?.email) || `user ${id}`
  if (kind === 'tool') return 'the tool on the machine of the host'
  if (kind !== 'adminToken') return 'the host'
  const name = (id && (await tokens.find(id))?.name) || ''
  return name === '' ? `the admin token ${id}` : `the admin token ${name} (${id})`
}
