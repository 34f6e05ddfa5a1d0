import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from '../folder/generation-files.js'
import { syncFolder } from '../sync-folder.js'
import type { DraftName } from './unpack.js'

/**
 * The releases to remove, so that the newest `most` stay. Releases in use stay, however old.
 *
 * @param inUse those that serve or still answer requests
 */
export function releasesToRemove(numbers: readonly number[], inUse: readonly number[], most = 10): number[] {
  const newest = [...numbers].sort((one, other) => other - one).slice(0, most)
  return numbers.filter((number) => !newest.includes(number) && !inUse.includes(number))
}

/**
 * Removes every release of a space whose number is not known: what killed deploys have left, and releases without a row. Call
 * it only under the claim of the space. Drafts stay: they may be of uploads under way.
 *
 * @param known numbers of all releases that have a row
 */
export async function sweepReleases(folder: string, known: readonly number[]): Promise<void> {
  const names = new Set(known.map(String))
  await sweep(folder, (name) => /^\d+(\.part)?$/.test(name) && !names.has(name))
}

/** Removes the drafts that uploads of an earlier process have left. For the start of the host. */
export function sweepReleaseDrafts(folder: string): Promise<void> {
  return sweep(folder, (name) => name.startsWith('draft-'))
}

async function sweep(folder: string, isOver: (name: string) => boolean): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (isOver(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** A release that was unpacked under the name of a draft gets its number. */
export async function numberRelease(folder: string, draft: DraftName, number: number): Promise<void> {
  await rename(join(folder, draft), join(folder, String(number)))
  await syncFolder(folder)
}
