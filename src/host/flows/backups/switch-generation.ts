import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { AuditEvent } from '../../../model/audit-event.js'
import type { Visitor } from '../../../model/visitor.js'
import { StoreError } from '../../documents/store-error.js'
import type { Claim, SpaceRecord } from '../../store/spaces.js'
import { requireClaim, requireHeld, underClaim } from '../spaces/claim.js'
import { findJudged, readClaimed, visitorIn } from '../spaces/find-space.js'
import { isLostClaim, tryLater } from '../spaces/settle.js'
import { isOfApplication, startFault } from '../spaces/start-facts.js'
import { withFaults } from '../spaces/store-faults.js'
import type { BackupPorts } from './ports.js'

/** How long a generation that was in force can be taken back. */
export const keptSeconds = 24 * 60 * 60

/** Between the last version of one generation and the first of the next, so that no version is given twice. */
const versionGap = 2 ** 32

const againMs = 1_000

/**
 * The version that a generation must begin above, which is to follow the one in force. A file that cannot be read must not keep
 * its space from being restored: then the clock and the number of the generation give one that no counter has reached.
 *
 * @param highest the greatest number of a generation of the space
 */
export async function versionsAfter(
  { data, clock }: Pick<BackupPorts, 'data' | 'clock'>,
  { id, generation }: SpaceRecord,
  highest: number,
): Promise<number> {
  const given = await highestVersion({ data }, { id, generation })
  return given === null ? clock.nowMs() * 1_024 + highest * 2 * versionGap : given + versionGap
}

/** The greatest version that the data in force has given; null: it cannot be read. */
export async function highestVersion(
  { data }: Pick<BackupPorts, 'data'>,
  { id, generation }: Pick<SpaceRecord, 'id' | 'generation'>,
): Promise<number | null> {
  try {
    return await (await data.open(id, generation)).versions()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return null
  }
}

/** What is put in force. */
interface Switch {
  /** As it is until then. */
  space: SpaceRecord
  to: number
  /** Whether `to` was being filled until now, and was not in force before. */
  isDraft: boolean
  audit: AuditEvent
  /** Called when it is certain that the switch has failed. */
  onFailed(): Promise<void>
}

/**
 * Puts a generation in force that is whole and on the disk. From the first step on, the one before is refused to everyone; when
 * the switch fails, it is in force again. Files of generations that are over by now are removed. Start the application
 * afterwards.
 *
 * @throws {AuthError} `not_current`, `store_unavailable`
 */
export async function switchGeneration(
  ports: BackupPorts,
  claim: Claim,
  { space, to, isDraft, audit, onFailed }: Switch,
): Promise<void> {
  const { id, generation: former } = space
  await requireClaim(ports, claim)
  try {
    await ports.data.refuse(id, former)
    const change = { generation: to, isDraft, keepMs: keptSeconds * 1000, audit }
    requireHeld(await ports.generations.switchTo(claim, change))
  } catch (error) {
    // The answer of the store may have been lost, so the store decides.
    const inForce = await readInForce(ports, id)
    if (inForce !== to) {
      await onFailed()
      if (inForce === former) await takeBack(ports, space, error)
      throw error
    }
  }
  // A former one was refused when it was replaced.
  ports.data.allow(id, to)
  // Opening a generation, and the next start of the host, do what cannot be done now.
  await ports.data.adoptDraft(id, to).catch(() => {})
  await ports.data.removeGenerations(id, (each) => each !== to && each !== former).catch(() => {})
}

async function takeBack(ports: BackupPorts, space: SpaceRecord, fault: unknown): Promise<void> {
  ports.data.allow(space.id, space.generation)
  await startAgain(ports, space, 'Nothing was replaced', fault)
}

/**
 * Asks until the store answers: until then it is open which generation is in force, so neither may be used. The caller may leave
 * meanwhile.
 */
async function readInForce(
  { spaces, timer }: Pick<BackupPorts, 'spaces' | 'timer'>,
  id: string,
): Promise<number | null> {
  for (;;) {
    try {
      return (await spaces.find(id))?.generation ?? null
    } catch {
      await new Promise<void>((resolve) => void timer(againMs, resolve))
    }
  }
}

type StartPorts = Pick<BackupPorts, 'children' | 'spaces' | 'claims' | 'timer' | 'nameOf'>

/**
 * Starts the release in force with the data in force, because the process before has lost its data. What is no fault of the
 * application is tried again in the background.
 *
 * @param fault of the step before. Once the claim is lost, another change may be under way, so this waits for it
 * @throws {AuthError} `bundle_invalid` and `application_timeout`, with what was done before; `store_unavailable`
 */
export async function startAgain(
  ports: StartPorts,
  { id }: Pick<SpaceRecord, 'id'>,
  done: string,
  fault?: unknown,
): Promise<void> {
  if (isLostClaim(fault)) {
    tryLater(ports, () => startLater(ports, id))
    return
  }
  try {
    await startNow(ports, id)
  } catch (error) {
    if (!isOfApplication(error)) {
      tryLater(ports, () => startLater(ports, id))
      throw error
    }
    throw partlyDone(`${done}, but the application does not start`, startFault(error))
  }
}

/** The fault of a later step, with what was done before. */
export function partlyDone(done: string, error: unknown): unknown {
  if (!(error instanceof AuthError)) return error
  return new AuthError(error.code, { detail: `${done}: ${error.message}`, cause: error })
}

/** Another change of the space may be under way by now, so this takes the claim. A space that is gone needs no start. */
async function startLater(ports: StartPorts, spaceId: string): Promise<void> {
  if ((await ports.spaces.find(spaceId)) === null) return
  try {
    await underClaim(ports, { spaceId, kind: 'activate', by: null }, () => startNow(ports, spaceId))
  } catch (error) {
    if (!isOfApplication(error)) throw error
  }
}

async function startNow({ children, spaces }: StartPorts, id: string): Promise<void> {
  const space = await spaces.find(id)
  if (space && space.release !== null) await children.start(id)
}

/**
 * Puts the data in force again that the last restore, or the last undo, has replaced. What was in force until now is kept for the
 * next undo. Code and settings stay.
 *
 * @throws {AuthError} `space_not_found`, `space_busy`, `not_found` when nothing is kept, `not_current`, `quota_exceeded`,
 *   `store_unavailable`; `bundle_invalid` and `application_timeout` when the application does not start
 */
export async function undoRestore(
  ports: BackupPorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<void> {
  const { id } = await findJudged(ports, name, visitor)
  await underClaim(ports, { spaceId: id, kind: 'restore', by: visitor.actor }, async (claim) => {
    const space = await readClaimed(ports, claim)
    const known = await ports.generations.read(id)
    if (known === null || known.former === null || !known.isFormerKept) throw nothingKept()
    const { former } = known
    await withFaults(async () => {
      const above = await versionsAfter(ports, space, Math.max(space.generation, former))
      await ports.data.raiseVersions(id, former, above)
    })
    const detail = { generation: former, former: space.generation }
    const audit = auditEvent(ports, 'restored', visitorIn(space, visitor), { detail })
    await switchGeneration(ports, claim, { space, to: former, isDraft: false, audit, onFailed: async () => {} })
    await startAgain(ports, space, 'The former data is in force')
  })
}

function nothingKept(): AuthError {
  const detail = 'Nothing can be undone: the data before a restore is kept for 24 hours.'
  return new AuthError('not_found', { detail })
}

type SweepPorts = Pick<BackupPorts, 'claims' | 'timer' | 'nameOf' | 'generations' | 'data'>

/**
 * Removes the data of a space that a restore has replaced, when the time for an undo is over. A space that is being changed comes
 * with the next sweep.
 *
 * @throws {AuthError} `space_busy`, `space_not_found`
 */
export async function sweepFormer(ports: SweepPorts, spaceId: string): Promise<void> {
  const { generations, data } = ports
  if (!isOver(await generations.read(spaceId))) return
  await underClaim(ports, { spaceId, kind: 'restore', by: null }, async (claim) => {
    const known = await generations.read(spaceId)
    if (!known || known.former === null || !isOver(known)) return
    // The row goes last: without it, the file would count as lost.
    await data.removeGenerations(spaceId, (generation) => generation === known.former)
    await generations.forget(claim, known.former)
  })
}

/**
 * Removes the drafts of restores that were killed. Those of restores under way, here or on another host, have a lease and stay.
 * Also gives the draft that is in force its name.
 *
 * @throws {AuthError} `space_busy`, `space_not_found`
 */
export async function sweepDrafts(ports: SweepPorts, spaceId: string): Promise<void> {
  if ((await ports.data.drafts(spaceId)).length === 0) return
  await underClaim(ports, { spaceId, kind: 'restore', by: null }, () => tidyDrafts(ports, spaceId))
}

/** The same for the holder of the claim. */
export async function tidyDrafts({ generations, data }: SweepPorts, spaceId: string): Promise<void> {
  // In this order: a draft has its row before it is made.
  const found = await data.drafts(spaceId)
  const live = await generations.liveDrafts(spaceId)
  const known = await generations.read(spaceId)
  if (known === null) return
  for (const each of [known.current, known.former]) if (each !== null) await data.adoptDraft(spaceId, each)
  await data.removeDrafts(spaceId, (each) => found.includes(each) && !live.includes(each))
}

function isOver(known: Awaited<ReturnType<SweepPorts['generations']['read']>>): boolean {
  return known !== null && known.former !== null && !known.isFormerKept
}
