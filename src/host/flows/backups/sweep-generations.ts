import { underClaim } from '../spaces/claim.js'
import type { BackupPorts } from './ports.js'

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
