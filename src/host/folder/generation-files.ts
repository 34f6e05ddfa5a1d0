import { open, readdir, rename, rm, stat } from 'node:fs/promises'
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
export function generationOf(name: string): number {
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
