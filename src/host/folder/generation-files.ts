import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../has-code.js'
import { syncFolder } from '../sync-folder.js'

/** The file of a generation. @param own the folder of the space */
export function generationFile(own: string, generation: number): string {
  return join(own, `g${generation}.db`)
}

/** A generation that is being filled. It gets its name when it is in force, so that a crash leaves no doubt. */
export function draftFile(own: string, generation: number): string {
  return join(own, `draft-${generation}.db`)
}

/** Writes a draft that SQLite has closed to disk. @throws when SQLite has left a log beside it */
export async function syncDraft(own: string, generation: number): Promise<void> {
  const path = draftFile(own, generation)
  if (await exists(`${path}-wal`)) throw new Error('SQLite did not finish the file.')
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
  await syncFolder(own)
}

/** Gives the draft of the generation in force its name, if a crash has kept it from that. */
export async function adoptDraft(own: string, generation: number): Promise<void> {
  if (!(await exists(draftFile(own, generation)))) return
  await rename(draftFile(own, generation), generationFile(own, generation))
  await syncFolder(own)
}

/** The generations whose drafts are there. */
export async function findDrafts(own: string): Promise<number[]> {
  return [...new Set((await namesIn(own)).map(draftOf))].filter((generation) => generation > 0)
}

/** Removes drafts, such as those that restores which failed or were killed have left. */
export async function removeDrafts(own: string, isOver: (generation: number) => boolean = () => true): Promise<void> {
  for (const name of await namesIn(own)) {
    const generation = draftOf(name)
    if (generation > 0 && isOver(generation)) await rm(join(own, name), { force: true })
  }
}

function draftOf(name: string): number {
  return Number(/^draft-(\d+)\.db/.exec(name)?.[1] ?? 0)
}

/** Removes the files of generations that are over. */
export async function removeGenerations(own: string, isOver: (generation: number) => boolean): Promise<void> {
  for (const name of await namesIn(own)) {
    const generation = generationOf(name)
    if (generation > 0 && isOver(generation)) await rm(join(own, name), { force: true })
  }
}

/** The number of `g<n>.db`, and of the files that SQLite writes beside it; 0 for other files. */
function generationOf(name: string): number {
  return Number(/^g(\d+)\.db/.exec(name)?.[1] ?? 0)
}

export async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

export function hasGeneration(own: string, generation: number): Promise<boolean> {
  return exists(generationFile(own, generation))
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

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
