import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SettingsError } from '../errors.js'
import { hasCode } from './has-code.js'
import { syncFolder } from './sync-folder.js'

/** Longer files hold something else. */
const longestBytes = 64 * 1024

/**
 * Reads a file that only the user of the host may read or write.
 *
 * @returns null when there is no file
 * @throws {SettingsError} `data`, for a file of another user, one that is open to others, a link, or anything else than a file
 */
export async function readPrivateFile(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null
      if (hasCode(error, 'ELOOP')) throw fileFault(`${path} is a link. Put the file itself there.`)
      if (hasCode(error, 'EACCES', 'ENXIO')) throw fileFault(`${path} cannot be read.`)
      throw error
    },
  )
  if (file === null) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size > longestBytes) throw fileFault(`${path} is not a file of the host.`)
    if (stats.uid !== process.getuid?.()) throw fileFault(`${path} belongs to another user than the host runs as.`)
    if ((stats.mode & 0o077) !== 0) throw fileFault(`${path} is open to other users. Run: chmod 600 '${path}'`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/**
 * Writes a file with mode 0600, in place of any other. It appears with its content or not at all, also after a power failure.
 * One process at a time: the lock of the folder sees to that.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.part`
  // A start that was killed may have left it.
  await rm(draft, { force: true })
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

function fileFault(message: string): SettingsError {
  return new SettingsError([{ setting: 'data', message }])
}
