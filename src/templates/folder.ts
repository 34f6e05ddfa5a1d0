import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { memberOf } from '../lib/members.js'

/** The application's files by name below the folder, and the faults of the folder. */
export interface OwnerFiles {
  files: ReadonlyMap<string, string>
  faults: readonly string[]
}

/**
 * Reads the application's folder once, synchronously. `init` is synchronous, and a template that changed later would be
 * unchecked. A file with an unknown name is probably misspelt, so it is a fault.
 */
export function readOwnerFolder(folder: string, isKnown: (file: string) => boolean): OwnerFiles {
  const files = new Map<string, string>()
  const faults: string[] = []
  for (const name of listFiles(folder, faults)) {
    if (!isKnown(name)) {
      faults.push(`${name}: there is no template of this name`)
      continue
    }
    const text = readText(join(folder, name))
    if (text === null) faults.push(`${name}: cannot be read as UTF-8 text`)
    else files.set(name, text)
  }
  return { files, faults }
}

/** Names with `/`, sorted. Files that begin with a dot belong to an editor or the system and are skipped. */
function listFiles(folder: string, faults: string[]): string[] {
  try {
    return readdirSync(folder, { recursive: true })
      .map((name) => String(name).replaceAll('\\', '/'))
      .filter((name) => !name.split('/').some((part) => part.startsWith('.')))
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
  } catch (error) {
    faults.push(folderFault(resolve(folder), error))
    return []
  }
}

/** A relative path depends on where the application was started, so the fault names the absolute path. */
function folderFault(path: string, error: unknown): string {
  const code = memberOf(error, 'code')
  if (code === 'ENOENT') return `the folder ${path} does not exist. A relative path begins where the application starts`
  if (code === 'ENOTDIR') return `${path} is not a folder`
  return `the folder ${path} cannot be read`
}

function readText(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch {
    return null
  }
}
