import type { EndedWork } from '../../../contract/spaces.js'
import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Actor } from '../../../model/actor.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Claim, ClaimKind, HeldClaim } from '../../store/spaces.js'
import { toActorEntry } from './actor-entry.js'
import { findJudged, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'

/** How long a killed process blocks a space. */
const leaseMs = 15_000
const renewMs = 5_000
/** How long a space is kept for the person who took it over. */
const holdMs = 60_000

/** A busy space, by what holds it. */
const busyWith: Readonly<Record<ClaimKind, string>> = {
  deploy: 'A deploy of this space',
  activate: 'An activation of a release of this space',
  undeploy: 'An undeploy of this space',
  env: 'A change of the environment of this space',
  restore: 'A restore of this space',
  remove: 'The removal of this space',
  hold: 'A change of this space, which was taken over,',
}

type ClaimPorts = Pick<SpacePorts, 'claims' | 'timer' | 'nameOf'>

/**
 * Runs the only change of a space. The lease is renewed for as long as it runs. What a client sends is received
 * before: a claim waits for no client.
 *
 * @param by null: the host itself
 * @throws {AuthError} `space_busy`, `space_not_found`
 */
export async function underClaim<T>(
  ports: ClaimPorts,
  { spaceId, kind, by }: { spaceId: string; kind: ClaimKind; by: Actor | null },
  run: (claim: Claim) => Promise<T>,
): Promise<T> {
  const taken = await ports.claims.take(spaceId, kind, leaseMs, by)
  if (taken === null) throw new AuthError('space_not_found')
  if ('heldFor' in taken) throw await busy(ports, taken, by)
  const stop = keepRenewed((ms) => ports.claims.renew(taken, ms), ports)
  try {
    return await run(taken)
  } finally {
    stop()
    // When the store is down, the lease ends by itself.
    await ports.claims.release(taken).catch(() => {})
  }
}

/** Admin tokens learn no names. */
async function busy({ nameOf }: ClaimPorts, { heldFor, by, sinceMs }: HeldClaim, asker: Actor | null) {
  const isToken = asker?.kind === 'adminToken'
  const who = by === null ? '' : ` by ${isToken ? kindOf(by) : await nameOf(toActorEntry(by)).catch(() => kindOf(by))}`
  const since = sinceMs === 0 ? '' : ` since ${isoTime(Math.floor(sinceMs / 1_000))}`
  const cure = isToken ? 'Try again when it has ended.' : 'Try again when it has ended, or take it over.'
  return new AuthError('space_busy', { detail: `${busyWith[heldFor]}${who} is under way${since}. ${cure}` })
}

function kindOf({ kind }: Actor): string {
  if (kind === 'user') return 'an administrator'
  return kind === 'adminToken' ? 'an admin token' : 'the host'
}

/**
 * Renews a lease until the result is called. Only a lost one ends it: while the store is down, the lease may still be ours.
 *
 * @param renew whether the lease is still held
 */
export function keepRenewed(
  renew: (leaseMs: number) => Promise<boolean>,
  { timer }: Pick<SpacePorts, 'timer'>,
): () => void {
  let isOver = false
  let cancel = timer(renewMs, renewNow)

  function renewNow(): void {
    const again = (isHeld: boolean) => {
      if (isHeld && !isOver) cancel = timer(renewMs, renewNow)
    }
    renew(leaseMs).then(again, () => again(true))
  }

  return () => {
    isOver = true
    cancel()
  }
}

/** @throws {AuthError} `not_current` for a write that came after the claim was lost */
export function requireHeld(isHeld: boolean): void {
  if (isHeld) return
  const detail = 'The space was changed or taken over meanwhile, so this was given up. Try again.'
  throw new AuthError('not_current', { detail })
}

/** Asks before something that no step of the store can undo. @throws {AuthError} `not_current` */
export async function requireClaim({ claims }: Pick<SpacePorts, 'claims'>, claim: Claim): Promise<void> {
  requireHeld(await claims.renew(claim, leaseMs))
}

/**
 * Ends what holds the claim of a space, and keeps the space for the next change of this user, for a minute. What was under way
 * writes nothing any more.
 *
 * @throws {AuthError} `space_not_found`; `not_found` when nothing is under way
 */
export async function takeOver(
  ports: SpacePorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<EndedWork> {
  const space = await findJudged(ports, name, visitor)
  const audit = ({ heldFor, by }: HeldClaim) => {
    const holder = toActorEntry(by)
    const detail = { change: heldFor, holder: holder?.kind ?? 'unknown', ...(holder?.id && { holderId: holder.id }) }
    return auditEvent(ports, 'space_taken_over', visitorIn(space, visitor), { detail })
  }
  const held = await ports.claims.takeOver(space.id, { by: visitor.actor, leaseMs: holdMs, audit })
  if (held === null) throw new AuthError('not_found', { detail: 'No change of this space is under way.' })
  return { kind: held.heldFor, by: toActorEntry(held.by), since: isoTime(Math.floor(held.sinceMs / 1_000)) }
}
