import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import {
  defaultReleaseLimits,
  type ReleaseFile,
  type ReleaseLimits,
  type ReleaseManifest,
  releasePaths,
  writeManifest,
} from '../../model/release.js'
import { ToolError, usage } from '../tool-error.js'
import { version } from '../version.js'
import { type FoundAsset, findAssets, readAsset } from './assets.js'
import { findBoundary } from './boundary.js'
import { type BundledCode, bundleCode } from './bundle-code.js'
import { readCommit } from './commit.js'
import { findEntry } from './entry.js'
import { realPath } from './inside.js'
import { type BundlePackages, loadBundlePackages } from './packages.js'

/** A release, ready to be uploaded. */
export interface MadeRelease {
  /** tar.gz, as `model/release` describes it. */
  archive: Buffer
  manifest: ReleaseManifest
  /** The file that makes the application, within the project. */
  entry: string
  /** How many files are in the bundle. */
  modules: number
  /** Of the bundle without its map. */
  codeBytes: number
  /** The folder above the project from which packages may be taken, and what it has. null when it is that of the project. */
  packagesFrom: { folder: string; sign: string } | null
  /** One line each, to be printed. */
  warnings: readonly string[]
}

/**
 * Makes the release of a project. The same files give the same bytes.
 *
 * @param folder the project's folder. From outside only packages are taken, within the boundary
 * @param main the file that makes the application; null finds it
 * @throws {ToolError} exit code 2 for missing packages and a wrong entry, 1 for everything that a release may not hold
 */
export async function makeRelease({
  folder,
  main = null,
  homeFolder,
  limits = defaultReleaseLimits,
}: {
  folder: string
  main?: string | null
  homeFolder: string
  limits?: ReleaseLimits
}): Promise<MadeRelease> {
  const { esbuild, tar } = await loadBundlePackages()
  const project = realPath(folder)
  if (project === null) throw usage(`There is no folder ${folder}.`)
  const entry = findEntry(project, main)
  const boundary = findBoundary(project, homeFolder)
  const bundled = await bundleCode(esbuild, project, entry, boundary)
  const { assets, leftOut } = await findAssets(project)
  requireLimits(bundled, assets, limits)

  const files = new Map<string, Uint8Array>([
    [releasePaths.code, bundled.code],
    [releasePaths.map, bundled.map],
  ])
  for (const asset of assets) files.set(asset.path, await readAsset(asset))
  const manifest = { tool: version(), git: readCommit(project), files: [...files].map(listed) }
  const secrets = leftOut.map((path) => `${path} looks like a secret, and is not part of the release.`)
  return {
    archive: await packed(tar, manifest, files),
    manifest,
    entry,
    modules: bundled.modules,
    codeBytes: bundled.code.length,
    packagesFrom:
      boundary.sign === null || boundary.folder === project ? null : { folder: boundary.folder, sign: boundary.sign },
    warnings: [...bundled.warnings, ...secrets],
  }
}

function listed([path, content]: [string, Uint8Array]): ReleaseFile {
  return { path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

/** Before anything is read into memory. */
function requireLimits({ code, map }: BundledCode, assets: readonly FoundAsset[], limits: ReleaseLimits): void {
  const refuse = (message: string, cure: string) => new ToolError(1, 'bundle_failed', message, { lines: [cure] })
  const codeBytes = code.length + map.length
  if (codeBytes > limits.code) {
    throw refuse(`The bundle and its map have ${codeBytes} bytes, at most ${limits.code}.`, 'Import less.')
  }
  const assetBytes = assets.reduce((sum, { bytes }) => sum + bytes, 0)
  if (assetBytes <= limits.assets && assets.length + 2 <= limits.files) return
  const largest = [...assets].sort((one, other) => other.bytes - one.bytes).slice(0, 3)
  const names = largest.map(({ path }) => path.slice(releasePaths.assets.length)).join(', ')
  throw refuse(
    `The project has ${assets.length} files of ${assetBytes} bytes beside its code, at most ${limits.files} of ${limits.assets}.`,
    `Name what no request needs in .latchkeyignore. The largest are ${names}.`,
  )
}

/** Times and owners are left out, so that the same files give the same bytes. */
async function packed(
  tar: BundlePackages['tar'],
  manifest: ReleaseManifest,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<Buffer> {
  const pack = tar.pack()
  const entries = [[releasePaths.manifest, Buffer.from(writeManifest(manifest))] as const, ...files]
  for (const [name, content] of entries) pack.entry({ name, mtime: new Date(0), mode: 0o644 }, Buffer.from(content))
  pack.finalize()
  const chunks: Uint8Array[] = []
  for await (const chunk of pack) if (chunk instanceof Uint8Array) chunks.push(chunk)
  return promisify(gzip)(Buffer.concat(chunks))
}
