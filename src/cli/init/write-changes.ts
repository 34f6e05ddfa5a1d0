import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../tool-error.js'
import type { Change } from './change.js'

/** The calls of node:fs that writing takes. */
export type Disk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'copyFileSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'readFileSync'
  | 'renameSync'
  | 'rmdirSync'
  | 'rmSync'
  | 'writeFileSync'
>

/** A change whose text is on the disk already, beside its file. */
interface Draft {
  change: Change
  path: string
  draft: string
  /** A copy of the file as it was; null for a new file. */
  backup: string | null
}

/**
 * Writes all changes or none. Everything that needs space is written first, to files beside their targets. Then each is
 * renamed. After a failure the files are as they were.
 *
 * @throws {ToolError} 1, with the file and the reason
 */
export function writeChanges(folder: string, changes: readonly Change[], disk: Disk = fs): void {
  const drafts: Draft[] = []
  const done: Draft[] = []
  const folders: string[] = []
  try {
    for (const change of changes) prepare(disk, folder, change, drafts, folders)
    for (const draft of drafts) {
      refuseChanged(disk, draft.path, draft.change)
      disk.renameSync(draft.draft, draft.path)
      done.push(draft)
    }
  } catch (error) {
    const kept = undo(disk, done.reverse())
    removeDrafts(
      disk,
      drafts.filter((draft) => !kept.includes(draft)),
    )
    for (const created of folders.reverse()) attempt(() => disk.rmdirSync(created))
    throw new ToolError(1, 'not_written', `${reasonOf(error)}. ${stateAfter(kept)}`)
  }
  removeDrafts(disk, drafts)
}

function prepare(disk: Disk, folder: string, change: Change, drafts: Draft[], folders: string[]): void {
  const path = join(folder, change.path)
  folders.push(...missingFolders(disk, dirname(path)))
  disk.mkdirSync(dirname(path), { recursive: true })
  refuseChanged(disk, path, change)
  const draft = `${path}.latchkey-${process.pid}`
  const backup = change.before === null ? null : `${draft}.before`
  const mode = change.isSecret ? 0o600 : backup === null ? 0o644 : disk.lstatSync(path).mode & 0o777
  drafts.push({ change, path, draft, backup })
  if (backup !== null) disk.copyFileSync(path, backup, fs.constants.COPYFILE_EXCL)
  disk.writeFileSync(draft, change.after, { flag: 'wx', mode: 0o600, flush: true })
  disk.chmodSync(draft, mode)
}

/** From the top down. */
function missingFolders(disk: Disk, folder: string): string[] {
  if (disk.lstatSync(folder, { throwIfNoEntry: false }) !== undefined || folder === dirname(folder)) return []
  return [...missingFolders(disk, dirname(folder)), folder]
}

/** The plan was made of the file as it was, and of a path that had none. */
function refuseChanged(disk: Disk, path: string, { before }: Change): void {
  const isThere = disk.lstatSync(path, { throwIfNoEntry: false }) !== undefined
  const isSame = before === null ? !isThere : isThere && disk.readFileSync(path, 'utf8') === before
  if (!isSame) throw new Error(`${path} has changed meanwhile`)
}

/** Gives the drafts whose former file could not be put back. */
function undo(disk: Disk, done: readonly Draft[]): Draft[] {
  return done.filter(({ path, backup }) => {
    const isUndone = attempt(() => (backup === null ? disk.rmSync(path) : disk.renameSync(backup, path)))
    return !isUndone
  })
}

function removeDrafts(disk: Disk, drafts: readonly Draft[]): void {
  for (const { draft, backup } of drafts) {
    attempt(() => disk.rmSync(draft, { force: true }))
    if (backup !== null) attempt(() => disk.rmSync(backup, { force: true }))
  }
}

function attempt(step: () => void): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}

function stateAfter(kept: readonly Draft[]): string {
  if (kept.length === 0) return 'Nothing was changed.'
  const sentences = kept.map(({ path, backup }) =>
    backup === null ? `Remove ${path}.` : `The former ${path} is in ${backup}.`,
  )
  return `Not everything could be undone. ${sentences.join(' ')}`
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
