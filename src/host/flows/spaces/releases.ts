import type { ActorEntry } from '../../../contract/actor.js'
import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Visitor } from '../../../model/visitor.js'
import { releasesToRemove, sweepReleases } from '../../releases/kept.js'
import type { Claim } from '../../store/spaces.js'
import { type ReleaseRecord, type ReleaseState, releaseState } from '../../store/spaces.js'
import { toActorEntry } from './actor-entry.js'
import { requireHeld, underClaim } from './claim.js'
import { findJudged, findSpace, readClaimed, requireConfirmed, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'
import { settle } from './settle.js'
import { type ReportStep, type Switched, switchRelease } from './switch-release.js'

/** A release as administrators and members see it. */
export interface ReleaseEntry
  extends Pick<ReleaseRecord, 'number' | 'sha256' | 'bytes' | 'git' | 'dirty' | 'tool' | 'fault'> {
  state: ReleaseState
  author: ActorEntry | null
  createdAt: string
}

/** Newest first. @throws {AuthError} `space_not_found` */
export async function listReleases(ports: SpacePorts, name: string): Promise<ReleaseEntry[]> {
  const space = await findSpace(ports, name)
  const isStarting = space.busyWith === 'deploy' || space.busyWith === 'activate'
  const releases = await ports.releases.list(space.id)
  return releases.map(({ outcome, author, createdAt, ...release }) => ({
    ...release,
    state: releaseState({ number: release.number, outcome }, { release: space.release, isStarting }),
    author: toActorEntry(author),
    createdAt: isoTime(createdAt),
  }))
}

/**
 * Puts a release in force that was deployed before. One that is in force already is started again.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `space_busy`, `bundle_invalid`, `application_timeout`, `not_current`
 */
export async function activateRelease(
  ports: SpacePorts,
  { space: name, number, visitor }: { space: string; number: number; visitor: Visitor },
  report: ReportStep,
): Promise<Switched> {
  const { id } = await findJudged(ports, name, visitor)
  return underClaim(ports, { spaceId: id, kind: 'activate', by: visitor.actor }, async (claim) => {
    const space = await readClaimed(ports, claim)
    if (!(await ports.releases.find(id, number))) throw new AuthError('not_found')
    if (space.release === number) return startAgain(ports, { spaceId: id, number }, report)
    const wanted = { space, number, event: 'rolled_back', visitor: visitorIn(space, visitor) } as const
    return switchRelease(ports, claim, wanted, report)
  })
}

/** Nothing changes, so there is no event. */
async function startAgain(
  { children, monotonic }: SpacePorts,
  { spaceId, number }: { spaceId: string; number: number },
  report: ReportStep,
): Promise<Switched> {
  const began = monotonic()
  const { warnings } = await children.start(spaceId)
  report({ step: 'started', ms: Math.round(monotonic() - began) })
  return { release: number, warnings }
}

/**
 * Takes all code of a space away. Data, tokens and settings stay.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`, `not_found` when nothing is deployed, `space_busy`, `not_current`
 */
export async function undeploy(
  ports: SpacePorts,
  { space: name, confirm, visitor }: { space: string; confirm: string | undefined; visitor: Visitor },
): Promise<void> {
  const found = await findJudged(ports, name, visitor)
  requireConfirmed(found, confirm)
  await underClaim(ports, { spaceId: found.id, kind: 'undeploy', by: visitor.actor }, async (claim) => {
    const space = await readClaimed(ports, claim)
    if (space.release === null) throw new AuthError('not_found')
    const detail = { release: space.release }
    const audit = auditEvent(ports, 'undeployed', visitorIn(space, visitor), { detail })
    try {
      requireHeld(await ports.releases.undeploy(claim, audit))
    } catch (error) {
      await settle(ports, space, error)
      throw error
    }
    ports.directory.put({ ...space, release: null })
    await ports.children.stop(space.id).catch(() => settle(ports, space))
    // What could not be removed now goes with the next deploy.
    await tidyReleases(ports, claim).catch(() => {})
  })
}

/**
 * Removes releases beyond those that are kept, and what deploys that were killed have left. Rows go first, so every listed
 * release has its files.
 *
 * @throws {AuthError} `not_current`
 */
export async function tidyReleases(ports: SpacePorts, claim: Claim): Promise<void> {
  const { spaceId } = claim
  const listed = (await ports.releases.list(spaceId)).map(({ number }) => number)
  const space = await ports.spaces.find(spaceId)
  const { release, draining } = ports.children.status(spaceId)
  const inUse = [space?.release, release, ...draining].filter((number) => typeof number === 'number')
  const surplus = releasesToRemove(listed, inUse, ports.limits.releases)
  requireHeld(await ports.releases.remove(claim, surplus))
  const known = listed.filter((number) => !surplus.includes(number))
  await sweepReleases(await ports.files.releases(spaceId), known)
}
