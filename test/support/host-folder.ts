import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'
import { type Folder, folderAt, prepareFolder } from '../../src/host/folder/folder.js'

/** A path where a host can make its folder; gone after the test. */
export async function hostPath(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'latchkey-host-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  return join(parent, 'data')
}

export async function hostFolder(): Promise<Folder> {
  const folder = folderAt(await hostPath())
  await prepareFolder(folder)
  return folder
}

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface BuiltProgram {
  path: string
  remove(): Promise<void>
}

/** Makes one file of a program. It finds packages, because it lies inside the project. */
export async function buildProgram(source: URL): Promise<BuiltProgram> {
  const folder = await mkdtemp(join(root, 'node_modules', '.latchkey-program-'))
  const path = join(folder, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    // package.json declares that our modules have no side effects, but the first one of `serve` has one.
    ignoreAnnotations: true,
    logLevel: 'error',
  })
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}
