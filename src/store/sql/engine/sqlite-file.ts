import { closeSync, fchmodSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sqliteCodeOf } from './retry.js'

/** The file as drivers get it: absolute, so that a later chdir does no harm and no driver reads it as a URI. */
export function databasePath(file: string): string {
  return file === ':memory:' ? file : resolve(file)
}

/**
 * Makes the file, if there is none, readable for its owner alone: it holds password hashes. SQLite gives its -wal and
 * -shm files the same mode, and would itself make the file readable for everybody that the umask lets in.
 *
 * A file that exists is not even opened: closing it would drop every lock that another connection of this process
 * holds on it (sqlite.org/howtocorrupt.html, 2.2).
 *
 * @throws {Error} naming what is wrong with the folder
 */
export function makePrivateFile(file: string): void {
  if (file === ':memory:') return
  try {
    const descriptor = openSync(file, 'wx', 0o600)
    // The umask may have taken bits that we need ourselves.
    fchmodSync(descriptor, 0o600)
    closeSync(descriptor)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'EEXIST') throw new Error(folderFault(file, code), { cause: error })
    // A folder, or a link to nothing, through which SQLite would make a file for everybody.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      throw new Error(`database: ${file} is not a file.`, { cause: error })
    }
  }
}

function folderFault(file: string, code: unknown): string {
  const folder = dirname(file)
  if (code === 'ENOENT') return `database: the folder ${folder} does not exist.`
  if (code === 'ENOTDIR') return `database: ${folder} is not a folder.`
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return `database: the folder ${folder} is read-only for this process.`
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') return `database: the disk of ${folder} is full.`
  return `database: the file ${file} cannot be made.`
}

/** The error of an SQLite file that could not be opened or migrated, in words; any other error as it is. */
export function explainFileError(error: unknown, file: string): unknown {
  const fault = fileFault(sqliteCodeOf(error), file)
  return fault === null ? error : new Error(fault, { cause: error })
}

function fileFault(code: string | null, file: string): string | null {
  if (code === 'NOTADB') return `database: ${file} is not an SQLite database.`
  if (code === 'CORRUPT') return `database: ${file} is damaged.`
  if (code === 'FULL') return `database: the disk of ${dirname(file)} is full.`
  // The folder counts too, since SQLite keeps its journal beside the file.
  if (code === 'READONLY') return `database: ${file} or its folder is read-only for this process.`
  if (code === 'CANTOPEN')
    return `database: ${file} cannot be opened; this process may lack permission for it or its folder.`
  return null
}
