import { rm } from 'node:fs/promises'
import type { World } from '../../lib/runtime.js'
import type { Logger } from '../../settings.js'
import type { BackupPorts } from '../flows/backups/ports.js'
import { sweepDrafts, sweepFormer } from '../flows/backups/switch-generation.js'
import { readSpaces } from '../flows/spaces/find-space.js'
import type { Folder } from '../folder/folder.js'
import { moveLostGenerations } from '../folder/generation-files.js'
import { hasCode } from '../has-code.js'
import { sweepReleaseDrafts } from '../releases/kept.js'
import type { SpaceRecord } from '../store/spaces.js'

const hourMs = 60 * 60 * 1000

/**
 * Tidies what a crash or an older `host.db` has left of the data of the spaces. For the start of the host, before anything is
 * opened. Data that is over and cannot be removed, as while `pg_dump` reads it, keeps no host from starting.
 */
export async function settleGenerations(
  ports: BackupPorts,
  { folder, spaces, logger }: { folder: Pick<Folder, 'spaces'>; spaces: readonly SpaceRecord[]; logger: Logger },
): Promise<void> {
  const { data, generations } = ports
  const known: { id: string; generation: number; former: number | null }[] = []
  for (const { id, generation } of spaces) {
    await data.adoptDraft(id, generation)
    await sweepReleaseDrafts(await ports.files.releases(id))
    // The drafts of another host are of restores that may be under way. They go when their lease is over.
    if (!data.isShared) await data.removeDrafts(id).catch(() => reportLeft(logger, id))
    known.push({ id, generation, former: (await generations.read(id))?.former ?? null })
  }
  for (const spaceId of await moveLostGenerations(folder.spaces, known)) reportLost(logger, spaceId)
  for (const { id, generation, former } of known) {
    const isOver = (each: number) => each < generation && each !== former
    await data.removeGenerations(id, isOver).catch(() => reportLeft(logger, id))
  }
  await sweepAll(ports, { spaces: known, logger })
}

/** Removes what applications wrote while they had no sandbox. In one, their temporary files are in memory. */
export async function removeTemporaryFiles(
  { files }: Pick<BackupPorts, 'files'>,
  { spaces, logger }: { spaces: readonly Pick<SpaceRecord, 'id'>[]; logger: Logger },
): Promise<void> {
  for (const { id } of spaces) {
    await rm(files.temporary(id), { recursive: true, force: true }).catch(() => {
      const message =
        'Temporary files of a space, from before it had a sandbox, could not be removed. The next start tries again.'
      logger.error({ event: 'temporary_files_left', spaceId: id }, message)
    })
  }
}

/** Removes the data that restores have replaced, a day later, and that of killed ones. The result ends it. */
export function sweepEachHour(
  ports: BackupPorts,
  { timer, logger }: Pick<World, 'timer'> & { logger: Logger },
): () => void {
  let cancel = timer(hourMs, sweep)
  function sweep(): Promise<void> {
    cancel = timer(hourMs, sweep)
    const swept = readSpaces(ports).then((spaces) => sweepAll(ports, { spaces, logger }))
    return swept.catch(() => {})
  }
  return () => cancel()
}

/** A space that is being changed comes with the next sweep, and so does what fails now. */
async function sweepAll(
  ports: BackupPorts,
  { spaces, logger }: { spaces: readonly Pick<SpaceRecord, 'id'>[]; logger: Logger },
) {
  for (const { id } of spaces) {
    const passOver = (error: unknown) => {
      if (!hasCode(error, 'space_busy', 'space_not_found')) reportLeft(logger, id)
    }
    await sweepFormer(ports, id).catch(passOver)
    await sweepDrafts(ports, id).catch(passOver)
  }
}

function reportLost(logger: Logger, spaceId: string): void {
  const message = 'A space has data newer than host.db knows. It was moved to the folder lost of the space.'
  logger.error({ event: 'generation_lost', spaceId }, message)
}

function reportLeft(logger: Logger, spaceId: string): void {
  const message =
    'Data that a restore replaced or did not finish could not be removed. The host tries again each hour and at its next start.'
  logger.error({ event: 'generation_left', spaceId }, message)
}
