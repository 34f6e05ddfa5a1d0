import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What is at a path, links not followed. `other`: a link, a folder, a socket. */
export type Kind = 'file' | 'missing' | 'other'

/** The folder of an application, as the plan of `init` reads it. */
export interface Project {
  /** Files of the folder and below, with `/` between names; without packages, build output and hidden folders. */
  paths: readonly string[]
  /** Whether `paths` holds all of them. */
  isComplete: boolean
  /** Names of lock files, in this folder or in the nearest folder above that has any. */
  lockFiles: readonly string[]
  /** Reads the text of a file and follows links. Null when the file does not exist or is not UTF-8. */
  read(path: string): string | null
  kindOf(path: string): Kind
}

const maximumFiles = 5000
const leftOut = new Set(['node_modules', 'dist', 'build', 'out', 'coverage', 'public', 'static', 'vendor', 'tmp'])
const lockFileNames = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb', 'package-lock.json'] as const

export function openProject(folder: string): Project {
  const paths = listFiles(folder)
  return {
    paths: paths.slice(0, maximumFiles),
    isComplete: paths.length <= maximumFiles,
    lockFiles: findLockFiles(folder),
    read: (path) => readText(join(folder, path)),
    kindOf: (path) => kindOf(join(folder, path)),
  }
}

function listFiles(root: string): string[] {
  const found: string[] = []
  const folders = ['']
  // A list may grow while it is walked.
  for (const folder of folders) {
    if (found.length > maximumFiles) return found
    for (const entry of entriesOf(join(root, folder))) {
      if (entry.isFile()) found.push(`${folder}${entry.name}`)
      const isHidden = leftOut.has(entry.name) || entry.name.startsWith('.')
      if (entry.isDirectory() && !isHidden) folders.push(`${folder}${entry.name}/`)
    }
  }
  return found
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // a folder that this user may not read is no part of the application
  }
}

function findLockFiles(folder: string): string[] {
  const found = lockFileNames.filter((name) => kindOf(join(folder, name)) === 'file')
  const above = dirname(folder)
  return found.length > 0 || above === folder ? found : findLockFiles(above)
}

function readText(path: string): string | null {
  try {
    const bytes = readFileSync(path)
    return isUtf8(bytes) ? bytes.toString() : null
  } catch {
    return null
  }
}

function kindOf(path: string): Kind {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return 'missing'
  return stats.isFile() ? 'file' : 'other'
}
