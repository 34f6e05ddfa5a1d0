import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SettingsError } from '../../errors.js'
import { isoTime } from '../../lib/iso-time.js'
import { isObject, parseJson } from '../../lib/json-object.js'
import { isBusy } from '../../store/sql/engine/retry.js'
import { type OpenSqlite, openSqlite } from '../../store/sql/engine/sqlite-driver.js'
import { makePrivateFile } from '../../store/sql/engine/sqlite-file.js'
import { hasCode } from '../has-code.js'
import { readPrivateFile, writePrivateFile } from '../private-file.js'

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

/** The folder belongs to this process until it is released, or the process dies. */
interface HostLock {
  release(): void
}

/**
 * Locks the folder for this process. An open write transaction of SQLite is the lock, so the kernel frees it whatever way the
 * process ends.
 *
 * @param nowSeconds Unix seconds; shown to the next process that wants the folder
 * @throws {SettingsError} `data`, which names the process that holds the lock and since when
 */
export async function lockFolder(
  folder: Pick<Folder, 'path' | 'lock' | 'holder'>,
  nowSeconds: number,
): Promise<HostLock> {
  makePrivateFile(folder.lock)
  const database = await begin(folder)
  try {
    await writePrivateFile(folder.holder, `${JSON.stringify({ pid: process.pid, since: isoTime(nowSeconds) })}\n`)
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}

/** SQLite closes the file: a plain `open` and `close` in this process would drop the kernel's lock. */
async function begin(folder: Pick<Folder, 'path' | 'lock' | 'holder'>): Promise<OpenSqlite> {
  let database: OpenSqlite | null = null
  try {
    database = await openSqlite(folder.lock)
    database.exec('begin immediate')
    return database
  } catch (error) {
    database?.close()
    if (!isBusy(error)) throw error
    throw new SettingsError([{ setting: 'data', message: await takenBy(folder) }])
  }
}

/** The holder writes its note after it has taken the lock, so the note may be missing or of an earlier process for a moment. */
async function takenBy({ path, holder }: Pick<Folder, 'path' | 'holder'>): Promise<string> {
  const note = parseJson((await readPrivateFile(holder)) ?? '')
  const by = isObject(note) ? `process ${Number(note.pid)} since ${sinceOf(note.since)}` : 'another process'
  return `${path} is in use by ${by}. One host runs in a folder at a time.`
}

function sinceOf(value: unknown): string {
  return typeof value === 'string' && /^[\dTZ:.-]{1,30}$/.test(value) ? value : 'an unknown time'
}
