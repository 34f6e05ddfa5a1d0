import type { Actor } from '../../../model/actor.js'
import type { AuditEntry } from '../../../model/audit-event.js'
import type { Ports } from '../../../ports.js'

/** Audit events as `admin/events.hbs` shows them, with the addresses of their accounts; of a deleted one its id. */
export async function shownEvents(ports: Pick<Ports, 'users'>, events: readonly AuditEntry[]) {
  const ids = new Set(events.flatMap(({ userId, actor }) => [userId, actor?.kind === 'user' ? actor.userId : null]))
  const found = await Promise.all([...ids].map((id) => (id === null ? null : ports.users.findById(id))))
  const addresses = new Map(found.flatMap((user) => (user === null ? [] : [[user.id, user.email] as const])))
  const nameOf = (id: string) => addresses.get(id) ?? id.slice(0, 8)
  return events.map(({ at, event, outcome, userId, ip, actor, detail }) => ({
    at,
    event,
    ok: outcome === 'success',
    userId,
    about: userId === null ? '' : nameOf(userId),
    ip,
    ...shownActor(actor, nameOf),
    detail: Object.entries(detail)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', '),
  }))
}

/** A person by address, a token by id, any other actor by a label. */
function shownActor(actor: Actor | null, nameOf: (id: string) => string): { actor: string; actorText: string } {
  if (actor === null) return { actor: '', actorText: '' }
  if (actor.kind === 'user') return { actor: nameOf(actor.userId), actorText: '' }
  if (actor.kind === 'adminToken') return { actor: nameOf(actor.tokenId), actorText: '' }
  if (actor.kind === 'tool') return { actor: `latchkey (${actor.osUser})`, actorText: '' }
  return { actor: '', actorText: `admin.actor.${actor.kind}` }
}
