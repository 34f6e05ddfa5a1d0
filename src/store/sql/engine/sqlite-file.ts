import { closeSync, fchmodSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sqliteCodeOf } from './retry.js'

/** The file's absolute path, so that a later chdir changes nothing and no driver reads it as a URI. */
export function databasePath(file: string): string {
  return file === ':memory:' ? file : resolve(file)
}

/**
 * Makes the file, if there is none, readable for its owner alone, because it holds password hashes. SQLite gives its -wal
 * and -shm files the same mode. SQLite itself would make the file readable for all users that the umask allows.
 *
 * An existing file is not even opened: closing it would drop every lock that another connection of this process holds on it
 * (sqlite.org/howtocorrupt.html, 2.2).
 *
 * @throws {Error} that names what is wrong with the folder
 */
export function makePrivateFile(file: string): void {
  if (file === ':memory:') return
  try {
    const descriptor = openSync(file, 'wx', 0o600)
    // The umask may have removed bits that this process needs.
    fchmodSync(descriptor, 0o600)
    closeSync(descriptor)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'EEXIST') throw new Error(folderFault(file, code), { cause: error })
    // It is a folder, or a dangling link through which SQLite would make a file that all users can read.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      throw new Error(`database: ${file} is not a file. Choose another path.`, { cause: error })
    }
  }
}

function folderFault(file: string, code: unknown): string {
  const folder = dirname(file)
  if (code === 'ENOENT') return `database: the folder ${folder} does not exist. Create it.`
  if (code === 'ENOTDIR') return `database: ${folder} is not a folder. Choose another path.`
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return `database: the folder ${folder} is read-only for this process. Grant it write permission.`
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') return `database: the disk of ${folder} is full. Free some space.`
  return `database: the file ${file} cannot be made.`
}

/** The error of an SQLite file that could not be opened or migrated, in plain words. Any other error is returned as it is. */
export function explainFileError(error: unknown, file: string): unknown {
  const fault = fileFault(sqliteCodeOf(error), file)
  return fault === null ? error : new Error(fault, { cause: error })
}

function fileFault(code: string | null, file: string): string | null {
  if (code === 'NOTADB') return `database: ${file} is not an SQLite database. Choose another path.`
  if (code === 'CORRUPT') return `database: ${file} is damaged. Restore it from a backup.`
  if (code === 'FULL') return `database: the disk of ${dirname(file)} is full. Free some space.`
  // The folder counts too, since SQLite keeps its journal beside the file.
  if (code === 'READONLY')
    return `database: ${file} or its folder is read-only for this process. Grant it write permission.`
  if (code === 'CANTOPEN')
    return `database: ${file} cannot be opened. Grant this process read and write permission for the file and its folder.`
  return null
}
