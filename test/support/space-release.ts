import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as esbuild from 'esbuild'
import { findAssets, readAsset } from '../../src/cli/bundle/assets.js'
import { findBoundary } from '../../src/cli/bundle/boundary.js'
import { bundleCode } from '../../src/cli/bundle/bundle-code.js'
import { unpackRelease } from '../../src/host/releases/unpack.js'
import { defaultReleaseLimits, releasePaths } from '../../src/model/release.js'
import { archiveOf } from './release-archive.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** mingo's CommonJS build. */
export const mingo = createRequire(import.meta.url).resolve('mingo')

/** Builds the program of a child into a folder; returns its path. */
export async function buildRunner(folder: string): Promise<string> {
  const runner = join(folder, 'runner', 'runner.mjs')
  await promisify(execFile)(process.execPath, [join(root, '.ci/build-runner.js'), runner], { cwd: root })
  return runner
}

/** The archive of a file in `test/host/bundles`, bundled as `latchkey deploy` does, with the files of `assets` there. */
export async function archiveOfBundle(bundle: string): Promise<Buffer> {
  const { code, map } = await bundleCode(esbuild, root, `test/host/bundles/${bundle}.js`, findBoundary(root, root))
  const { assets } = await findAssets(join(root, 'test/host/bundles/assets'))
  const files: Record<string, Uint8Array> = { [releasePaths.code]: code, [releasePaths.map]: map }
  for (const asset of assets) files[asset.path] = await readAsset(asset)
  return archiveOf(files)
}

/** Makes an unpacked release of a file in `test/host/bundles`, unpacked as a host does; returns its folder. */
export async function makeRelease(folder: string, bundle: string): Promise<string> {
  const releases = join(folder, 'releases', bundle)
  await mkdir(releases, { recursive: true })
  await unpackRelease(
    Readable.from([await archiveOfBundle(bundle)]),
    { folder: releases, number: 1 },
    defaultReleaseLimits,
  )
  return join(releases, '1')
}

/** SHA-256 of the bundle of a release. */
export async function hashOfRelease(release: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(release, 'bundle.mjs')))
    .digest('hex')
}
