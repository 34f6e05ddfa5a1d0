import { type Actor, actorId } from '../../../model/actor.js'

/** Who changed something, for administrators and members: no session. */
export interface ActorEntry {
  kind: Actor['kind']
  /** Of the user or the admin token; null for the other kinds. */
  id: string | null
}

export function toActorEntry(actor: Actor | null): ActorEntry | null {
  return actor && { kind: actor.kind, id: actorId(actor) }
}
