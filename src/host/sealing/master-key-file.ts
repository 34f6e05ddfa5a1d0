import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from '../has-code.js'
import { syncFolder } from '../sync-folder.js'
import { type MasterKeys, masterKeyFault, newMasterKey, parseMasterKeys } from './master-keys.js'

/** Neither a link nor a pipe that would block. */
const toRead = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Longer files hold something else. */
const longestBytes = 64 * 1024

/**
 * Reads the master keys of a file: one a line, the first wraps.
 *
 * @throws {SettingsError} `masterKey`, for a file that is missing, another user's, open to others, a link, or no list of keys
 */
export async function readMasterKeyFile(path: string): Promise<MasterKeys> {
  return parseMasterKeys(await readText(path))
}

/**
 * Reads the file once more, in the middle of a call that waits for nothing.
 *
 * @returns null when it cannot be read now
 */
export function rereadMasterKeyFile(path: string): MasterKeys | null {
  let file: number | null = null
  try {
    file = openSync(path, toRead)
    requireOwnKeys(path, fstatSync(file))
    return parseMasterKeys(readFileSync(file, 'utf8'))
  } catch {
    return null
  } finally {
    if (file !== null) closeSync(file)
  }
}

/**
 * Makes the file with one new key and mode 0600. It appears with its content or not at all, and never replaces another.
 *
 * @returns null when a file is there already
 */
export async function createMasterKeyFile(path: string): Promise<MasterKeys | null> {
  const text = `${newMasterKey()}\n`
  const draft = draftOf(path)
  // A start that was killed may have left it. The lock of the folder allows one start at a time.
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  try {
    await writeSynced(file, text)
    // A rename would replace a file that has appeared meanwhile; a link fails.
    await link(draft, path)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null
    throw error
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
  await syncFolder(dirname(path))
  return parseMasterKeys(text)
}

/**
 * Adds a new key as the first line. The others still unwrap, so it may be killed at any point.
 *
 * @returns all keys; the host reads them at its next start, or when it meets an unknown key id
 * @throws {SettingsError} like `readMasterKeyFile`, and while another tool does the same
 */
export async function addMasterKey(path: string): Promise<MasterKeys> {
  const draft = draftOf(path)
  // The draft is also the lock. It is taken before the file is read, so that no key of another tool is lost.
  const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error
    throw masterKeyFault(`${draft} is there: another tool is adding a key. Remove the file if none runs.`)
  })
  try {
    const text = `${newMasterKey()}\n${await readText(path)}`
    const keys = parseMasterKeys(text)
    await writeSynced(file, text)
    await rename(draft, path)
    return keys
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
    await syncFolder(dirname(path))
  }
}

function draftOf(path: string): string {
  return `${path}.part`
}

async function writeSynced(file: FileHandle, text: string): Promise<void> {
  await file.writeFile(text)
  await file.sync()
}

async function readText(path: string): Promise<string> {
  const file = await open(path, toRead).catch((error: unknown) => {
    throw openFault(path, error)
  })
  try {
    requireOwnKeys(path, await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function requireOwnKeys(path: string, stats: Stats): void {
  if (!stats.isFile() || stats.size > longestBytes) throw masterKeyFault(`${path} is no file of keys.`)
  if (stats.uid !== process.getuid?.()) {
    throw masterKeyFault(`${path} belongs to another user. It must belong to the user who runs the host.`)
  }
  if ((stats.mode & 0o777) !== 0o600) {
    throw masterKeyFault(`The mode of ${path} must be 0600. Run: chmod 600 '${path}'`)
  }
}

function openFault(path: string, error: unknown): unknown {
  if (hasCode(error, 'ENOENT')) return masterKeyFault(`There is no file ${path}.`)
  if (hasCode(error, 'ELOOP')) return masterKeyFault(`${path} is a link. Name the file itself.`)
  if (hasCode(error, 'EACCES', 'ENXIO')) return masterKeyFault(`${path} cannot be read.`)
  return error
}
