import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, link, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** Not in `/tmp`, which a sandbox has of its own: whatever lies there could be made anew in it. */
const place = '/var/tmp'
const ordinary = 64_123

/** Where a program of a test runs as an ordinary user, as a host does: for root there is no sandbox. */
export interface OrdinaryUser {
  /** Whatever is put here belongs to the user from `run` on. */
  home: string
  /**
   * Bundles a program of `test/support`, because the user may not read the repository, and gives what it prints.
   *
   * @param options.ambient capabilities that the program has besides, as systemd gives them to a service
   */
  run(program: string, argument: object, options?: { ambient?: readonly string[] }): Promise<string>
  close(): Promise<void>
}

/** How code is bundled that stands in nothing but its file. */
export const bundled = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' } as const
export const bundledRequire = {
  js: "import { createRequire as bundleRequire } from 'node:module'; var require = bundleRequire(import.meta.url);",
}

export async function openOrdinaryUser(): Promise<OrdinaryUser> {
  const home = await mkdtemp(join(place, 'latchkey-escapes-'))
  const programs = await mkdtemp(join(place, 'latchkey-node-'))
  return {
    home,
    async run(program, argument, { ambient = [] } = {}) {
      const outfile = join(home, `${program}.mjs`)
      const entry = fileURLToPath(new URL(`${program}.ts`, import.meta.url))
      await build({
        ...{ ...bundled, outfile, entryPoints: [entry], external: ['better-sqlite3'], banner: bundledRequire },
      })
      const isRoot = process.getuid?.() === 0
      const node = isRoot ? await handOver(home, programs) : process.execPath
      const become = isRoot ? ['setpriv', ...userOptions(ambient)] : []
      const [file = node, ...args] = [...become, node, outfile, JSON.stringify(argument)]
      const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, NODE_ENV: 'test' }
      const { stdout } = await promisify(execFile)(file, args, { cwd: home, env, maxBuffer: 64 * 1024 * 1024 })
      return stdout
    },
    async close() {
      for (const folder of [home, programs]) await rm(folder, { recursive: true, force: true })
    },
  }
}

function userOptions(ambient: readonly string[]): string[] {
  const capabilities = ambient.map((name) => `+${name}`).join()
  const given = ambient.length === 0 ? ['-all'] : [capabilities, '--ambient-caps', capabilities]
  return ['--reuid', String(ordinary), '--regid', String(ordinary), '--clear-groups', '--inh-caps', ...given]
}

/** An ordinary user may not reach a Node below the home folder of root. @returns the path of one in this folder, which it may */
export async function reachableNode(folder: string): Promise<string> {
  const node = join(folder, 'node')
  await chmod(folder, 0o755)
  await rm(node, { force: true })
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node))
  return node
}

async function handOver(home: string, programs: string): Promise<string> {
  const node = await reachableNode(programs)
  await chmod(home, 0o700)
  for (const path of [home, ...(await readdir(home, { recursive: true })).map((name) => join(home, name))]) {
    await chown(path, ordinary, ordinary)
  }
  return node
}
