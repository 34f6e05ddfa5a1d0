import { SettingsError } from '../../errors.js'
import { isoTime } from '../../lib/iso-time.js'
import { isObject, parseJson } from '../../lib/json-object.js'
import { isBusy } from '../../store/sql/engine/retry.js'
import { type OpenSqlite, openSqlite } from '../../store/sql/engine/sqlite-driver.js'
import { makePrivateFile } from '../../store/sql/engine/sqlite-file.js'
import { readPrivateFile, writePrivateFile } from '../private-file.js'
import type { Folder } from './folder.js'

/** The folder belongs to this process until it is released, or the process dies. */
export interface HostLock {
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
