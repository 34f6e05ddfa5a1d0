import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../has-code.js'
import { syncFolder } from '../sync-folder.js'

interface KeptGeneration {
  /** Id of the space. */
  id: string
  /** The generation in force. */
  generation: number
}

/**
 * Moves data that is newer than what is in force to `lost/`. It is there after a start with an older `host.db`, and it may be
 * the only copy of what users wrote since. Nothing sweeps that folder.
 *
 * @param folder with a folder for each space
 * @returns the ids of the spaces whose data was moved
 */
export async function moveLostGenerations(folder: string, spaces: readonly KeptGeneration[]): Promise<string[]> {
  const moved: string[] = []
  for (const { id, generation } of spaces) {
    const own = join(folder, id)
    const newer = (await namesIn(own)).filter((name) => generationOf(name) > generation)
    if (newer.length === 0) continue
    const lost = await makeLost(own)
    for (const name of newer) await rename(join(own, name), join(lost, name))
    for (const each of [lost, own]) await syncFolder(each)
    moved.push(id)
  }
  return moved
}

/** The folders with data that was moved, as absolute paths. */
export async function findLostGenerations(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const id of await namesIn(folder)) {
    const lost = join(folder, id, 'lost')
    if ((await namesIn(lost)).length > 0) found.push(lost)
  }
  return found
}

/** A folder of its own each time, so that two losses of the same generation do not meet. */
async function makeLost(own: string): Promise<string> {
  const all = join(own, 'lost')
  await mkdir(all, { recursive: true, mode: 0o700 })
  const lost = join(all, String((await namesIn(all)).length + 1))
  await mkdir(lost, { mode: 0o700 })
  return lost
}

/** The number of `g<n>.db`, and of the files that SQLite writes beside it; 0 for other files. */
function generationOf(name: string): number {
  return Number(/^g(\d+)\.db/.exec(name)?.[1] ?? 0)
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
