import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bundles = join(root, 'test/host/bundles')

/** mingo's CommonJS build. */
export const mingo = createRequire(import.meta.url).resolve('mingo')

/** Builds the program of a child into a folder; returns its path. */
export async function buildRunner(folder: string): Promise<string> {
  const runner = join(folder, 'runner', 'runner.mjs')
  await promisify(execFile)(process.execPath, [join(root, '.ci/build-runner.js'), runner], { cwd: root })
  return runner
}

/** Makes an unpacked release of a file in `test/host/bundles`, as `latchkey deploy` bundles it; returns its folder. */
export async function makeRelease(folder: string, bundle: string): Promise<string> {
  const release = join(folder, 'releases', bundle)
  await mkdir(join(release, 'assets'), { recursive: true })
  await cp(join(bundles, 'assets'), join(release, 'assets'), { recursive: true })
  await build({
    entryPoints: [join(bundles, `${bundle}.js`)],
    outfile: join(release, 'bundle.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
    nodePaths: [join(root, 'node_modules')],
    // As the tool writes it: modules may have a createRequire of their own.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; var require = createBundleRequire(import.meta.url);",
    },
  })
  return release
}

/** SHA-256 of the bundle of a release. */
export async function hashOfRelease(release: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(release, 'bundle.mjs')))
    .digest('hex')
}
