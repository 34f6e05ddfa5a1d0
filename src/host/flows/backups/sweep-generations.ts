import { underClaim } from '../spaces/claim.js'
import type { BackupPorts } from './ports.js'

type SweepPorts = Pick<BackupPorts, 'claims' | 'timer' | 'generations' | 'data'>

/**
 * Removes the data of a space that a restore has replaced, when the time for an undo is over. A space that is being changed comes
 * with the next sweep.
 *
 * @throws {AuthError} `space_busy`, `space_not_found`
 */
export async function sweepFormer(ports: SweepPorts, spaceId: string): Promise<void> {
  const { generations, data } = ports
  if (!isOver(await generations.read(spaceId))) return
  await underClaim(ports, { spaceId, kind: 'restore' }, async (claim) => {
    const known = await generations.read(spaceId)
    if (!known || known.former === null || !isOver(known)) return
    // The row goes last: without it, the file would count as lost.
    await data.removeGenerations(spaceId, (generation) => generation === known.former)
    await generations.forget(claim, known.former)
  })
}

function isOver(known: Awaited<ReturnType<SweepPorts['generations']['read']>>): boolean {
  return known !== null && known.former !== null && !known.isFormerKept
}
