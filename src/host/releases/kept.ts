import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

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
 * it only while no deploy of the space runs.
 *
 * @param known numbers of all releases that have a row
 */
export async function sweepReleases(folder: string, known: readonly number[]): Promise<void> {
  const names = new Set(known.map(String))
  for (const name of await readdir(folder)) {
    if (/^\d+(\.part)?$/.test(name) && !names.has(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}
