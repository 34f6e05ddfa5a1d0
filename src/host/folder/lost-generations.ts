import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../sync-folder.js'
import { generationOf, namesIn } from './generation-files.js'

interface KeptGeneration {
  /** Id of the space. */
  id: string
  /** The generation in force. */
  generation: number
  /** One that was in force before, and may be newer: an undo keeps what it took back. */
  former?: number | null
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
  for (const { id, generation, former = null } of spaces) {
    const own = join(folder, id)
    const numbers = (await namesIn(own)).map(generationOf)
    const newer = new Set(numbers.filter((number) => number > generation && number !== former))
    for (const number of newer) await moveGeneration(own, number)
    if (newer.size > 0) moved.push(id)
  }
  return moved
}

/** The folders with data that was moved, as absolute paths. */
export async function findLostGenerations(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const id of await namesIn(folder)) {
    const lost = join(folder, id, 'lost')
    const files = await Promise.all((await namesIn(lost)).map((name) => namesIn(join(lost, name))))
    if (files.flat().some((name) => generationOf(name) > 0)) found.push(lost)
  }
  return found
}

/** The database goes first. After a crash, the files beside it follow it into its folder: without them it lacks commits. */
async function moveGeneration(own: string, number: number): Promise<void> {
  const names = (await namesIn(own)).filter((name) => generationOf(name) === number).sort()
  const lost = join(own, 'lost')
  const before = (await namesIn(lost)).filter((name) => name === `g${number}` || name.startsWith(`g${number}-`)).length
  const place = names.includes(`g${number}.db`) ? before + 1 : Math.max(before, 1)
  const target = join(lost, place === 1 ? `g${number}` : `g${number}-${place}`)
  await mkdir(target, { recursive: true, mode: 0o700 })
  for (const each of [own, lost]) await syncFolder(each)
  for (const name of names) await rename(join(own, name), join(target, name))
  for (const each of [target, own]) await syncFolder(each)
}
