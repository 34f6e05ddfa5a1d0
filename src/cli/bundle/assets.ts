import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathCollision, pathFault, releasePaths } from '../../model/release.js'
import { ToolError } from '../tool-error.js'
import { isNeverAsset, looksSecret, readIgnored } from './ignored.js'

export interface FoundAsset {
  /** In the release: `assets/public/index.html`. */
  path: string
  /** On this machine. */
  file: string
  bytes: number
}

export interface FoundAssets {
  assets: readonly FoundAsset[]
  /** Paths in the project that look like keys, environments or databases. */
  leftOut: readonly string[]
}

/**
 * Finds what `app.static` and `filestore` may read: all files of the project but packages, dotfiles, secrets and what
 * `.latchkeyignore` names. `.gitignore` does not count, because it names what a build makes, which pages need.
 *
 * @param folder real path of the project
 * @throws {ToolError} exit code 1, for a link, a folder that cannot be read, and a path that a release may not have
 */
export async function findAssets(folder: string): Promise<FoundAssets> {
  const isIgnored = readIgnored(folder)
  const assets: FoundAsset[] = []
  const leftOut: string[] = []

  async function walk(within: string): Promise<void> {
    const entries = await sortedEntries(folder, within)
    // A folder that is too deep is refused before its path is too long for the system.
    const fault = entries.length === 0 || within === '' ? null : pathFault(`${releasePaths.assets}${within}/x`)
    if (fault !== null)
      throw refused(`${releasePaths.assets}${within}`, `${fault}. Rename it, or name it in .latchkeyignore.`)
    for (const entry of entries) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`
      if (isNeverAsset(entry.name) && !looksSecret(entry.name)) continue
      if (isIgnored(path)) continue
      if (looksSecret(entry.name)) leftOut.push(path)
      else if (entry.isDirectory()) await walk(path)
      else assets.push(await assetOf(folder, path, entry))
    }
  }

  await walk('')
  const collision = pathCollision(assets.map(({ path }) => path))
  if (collision) {
    const [first, second] = collision
    throw refused(second, `is the same path as ${inProject(first)} on some systems. Rename one of them.`)
  }
  return { assets, leftOut }
}

/** Reads an asset, unless it was replaced by a link or a folder since it was found. */
export async function readAsset({ file, path }: FoundAsset): Promise<Buffer> {
  const opened = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    if (!(await opened.stat()).isFile()) throw refused(path, 'is no plain file any more.')
    return await opened.readFile()
  } finally {
    await opened.close()
  }
}

async function assetOf(folder: string, within: string, entry: Dirent): Promise<FoundAsset> {
  const path = `${releasePaths.assets}${within}`
  if (entry.isSymbolicLink()) throw refused(path, 'is a link. Replace it by the file, or name it in .latchkeyignore.')
  if (!entry.isFile()) throw refused(path, 'is no plain file. Remove it, or name it in .latchkeyignore.')
  const fault = pathFault(path)
  if (fault !== null) throw refused(path, `${fault}. Rename it, or name it in .latchkeyignore.`)
  const file = join(folder, within)
  return { path, file, bytes: (await lstat(file)).size }
}

/** In the order of their characters, which is the same everywhere. */
async function sortedEntries(folder: string, within: string): Promise<Dirent[]> {
  const entries = await readdir(join(folder, within), { withFileTypes: true }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw refused(`${releasePaths.assets}${within}`, `cannot be read (${code}). Name it in .latchkeyignore.`)
  })
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
}

function refused(path: string, why: string): ToolError {
  return new ToolError(1, 'bundle_failed', `${inProject(path)} ${why}`)
}

function inProject(path: string): string {
  return path.slice(releasePaths.assets.length)
}
