import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../errors.js'
import { hasCode } from '../has-code.js'

/** The folder of a host. All paths are absolute. */
export interface Folder {
  path: string
  /** Accounts and the host's own tables. */
  database: string
  lock: string
  /** Which process holds the lock. */
  holder: string
  masterKey: string
  secrets: string
  /** The address of the set-up page, while there is no administrator. */
  setupUrl: string
  /** Sockets and pid files of the children, and uploads that are being received. */
  run: string
  /** A folder for each space, by its id. */
  spaces: string
}

/** @param path absolute */
export function folderAt(path: string): Folder {
  return {
    path,
    database: join(path, 'host.db'),
    lock: join(path, 'host.lock'),
    holder: join(path, 'host.holder'),
    masterKey: join(path, 'master.key'),
    secrets: join(path, 'secrets.json'),
    setupUrl: join(path, 'setup-url'),
    run: join(path, 'run'),
    spaces: join(path, 'spaces'),
  }
}

/** The bits by which a group or everyone may write. */
const writableByOthers = 0o022

/**
 * Makes the folder with mode 0700, or checks the one that is there.
 *
 * @throws {SettingsError} `data`, for a folder that belongs to another user or that others can write to
 */
export async function prepareFolder(folder: Folder): Promise<void> {
  await makeFolder(folder.path, true)
  await requireOwn(folder.path)
  for (const path of [folder.run, folder.spaces]) {
    await makeFolder(path, false)
    await requireOwn(path)
  }
}

/**
 * Checks the folder of a host that has run in it, and its database where that is a file. Makes nothing.
 *
 * @throws {SettingsError} `data`, for a folder without a host, or of another user
 */
export async function requireFolder({ path, database }: Pick<Folder, 'path'> & Partial<Folder>): Promise<void> {
  const remedy = 'Correct the path, or run latchkey serve once, which makes it.'
  for (const each of database === undefined ? [path] : [path, database]) {
    if ((await lstat(each).catch(() => null)) === null) throw dataFault(`There is no ${each}. ${remedy}`)
  }
  await requireOwn(path)
  if (database !== undefined) requireOwnStats(database, await lstat(database))
}

async function makeFolder(path: string, recursive: boolean): Promise<void> {
  try {
    await mkdir(path, { recursive, mode: 0o700 })
  } catch (error) {
    if (hasCode(error, 'EEXIST') && !recursive) return
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw dataFault(`${path} cannot be made: permission is denied.`)
    if (hasCode(error, 'EEXIST', 'ENOTDIR')) throw dataFault(`${path} is not a folder. Choose another path.`)
    throw error
  }
}

async function requireOwn(path: string): Promise<void> {
  const stats = await lstat(path)
  if (stats.isSymbolicLink()) throw dataFault(`${path} is a link. Name the folder itself.`)
  if (!stats.isDirectory()) throw dataFault(`${path} is not a folder. Choose another path.`)
  requireOwnStats(path, stats)
}

function requireOwnStats(path: string, { uid, mode }: Stats): void {
  if (uid !== process.getuid?.()) {
    throw dataFault(`${path} belongs to another user. It must belong to the user who runs the host.`)
  }
  if ((mode & writableByOthers) !== 0) {
    throw dataFault(`Other users can write to ${path}. Run: chmod go-w '${path}'`)
  }
}

function dataFault(message: string): SettingsError {
  return new SettingsError([{ setting: 'data', message }])
}
