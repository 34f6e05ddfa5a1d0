import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseJsonObject } from '../../lib/json-object.js'
import { looksSecret } from './ignored.js'
import { pathInside, realPath } from './inside.js'

/** The folder from which a release may take packages: that of the project, or one above it. */
export interface Boundary {
  /** Real path. */
  folder: string
  /** What ends the search there, such as `package-lock.json`. null for a project without a sign in or above it. */
  sign: string | null
  /** A folder above that has a sign and is no boundary, and why. */
  refused: { folder: string; sign: string; why: string } | null
}

const lockFiles = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  'pnpm-workspace.yaml',
]

/**
 * Finds the nearest folder with a lock file, a workspace or a repository, the project's own first: package managers put the
 * packages of a workspace there. A home folder, the root and a folder like `/tmp` hold what has nothing to do with the project,
 * so the search ends below them.
 *
 * @param project real path
 */
export function findBoundary(project: string, homeFolder: string): Boundary {
  const home = realPath(homeFolder) ?? homeFolder
  for (let at = project; ; at = dirname(at)) {
    const sign = signOf(at)
    const why = at === project ? null : whyNotShared(at, home)
    if (why !== null) return { folder: project, sign: null, refused: sign === null ? null : { folder: at, sign, why } }
    if (sign !== null) return { folder: at, sign, refused: null }
    if (at === dirname(at)) return { folder: project, sign: null, refused: null }
  }
}

function signOf(folder: string): string | null {
  const lockFile = lockFiles.find((name) => existsSync(join(folder, name)))
  if (lockFile !== undefined) return lockFile
  if (hasWorkspaces(folder)) return 'workspaces in package.json'
  return existsSync(join(folder, '.git')) ? '.git' : null
}

function hasWorkspaces(folder: string): boolean {
  try {
    return parseJsonObject(readFileSync(join(folder, 'package.json'), 'utf8'))?.workspaces !== undefined
  } catch {
    return false
  }
}

/** Why packages are never taken from a folder above the project. null when they may be. */
function whyNotShared(folder: string, home: string): string | null {
  if (dirname(folder) === folder) return 'it is the root of the file system'
  if (folder === home) return 'it is your home folder'
  if (pathInside(folder, home) !== null) return 'it holds your home folder'
  const stickyAndWritable = 0o1002
  const isShared = ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & stickyAndWritable) === stickyAndWritable
  return isShared ? 'every user of this machine can write to it' : null
}

/**
 * Says which files above the project may be in its bundle: those of packages in `node_modules`, and those of the workspace's
 * own packages, which a package manager has linked there. Both lie within the boundary when all links are followed.
 *
 * @param project real path
 */
export function createPackageReach(project: string, { folder: boundary }: Boundary): (path: string) => boolean {
  let linked: ReadonlySet<string> | null = null
  return (path) => {
    const within = pathInside(boundary, path)
    if (within === null || looksSecret(basename(path))) return false
    if (within.split('/').includes('node_modules')) return true
    linked ??= findLinkedPackages(project, boundary)
    return [...linked].some((packageFolder) => pathInside(packageFolder, path) !== null)
  }
}

/** Real paths of the folders that are linked into a `node_modules` of the project, of a folder above, or of such a package. */
function findLinkedPackages(project: string, boundary: string): ReadonlySet<string> {
  const found = new Set<string>()
  const folders = [project]
  for (let at = project; at !== boundary; at = dirname(at)) folders.push(dirname(at))
  for (const folder of folders) {
    for (const target of linksIn(join(folder, 'node_modules'))) {
      const within = pathInside(boundary, target)
      if (within === null || within.split('/').includes('node_modules') || found.has(target)) continue
      // A link to the project or to a folder around it would open all that lies there.
      if (target === project || pathInside(target, project) !== null) continue
      found.add(target)
      folders.push(target)
    }
  }
  return found
}

function linksIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.name.startsWith('@') && entry.isDirectory()) return linksIn(path)
      const target = entry.isSymbolicLink() ? realPath(path) : null
      return target === null ? [] : [target]
    })
  } catch {
    return []
  }
}
