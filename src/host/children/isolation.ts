import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** What one child may reach. Absolute paths. */
export interface Reach {
  /** The program of the child: one file. */
  runner: string
  releaseFolder: string
  temporaryFolder: string
  /** mingo's CommonJS build. */
  mingo: string
  /** The JavaScript heap, in bytes. */
  memoryBytes: number
}

/** A command as `spawn` takes it. No value of the space is in it: `ps` shows it to every user of the machine. */
export interface Command {
  file: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/**
 * The command of a child in the mode `process`: Node's permission model, which allows no child processes, workers, addons, WASI
 * or inspector.
 *
 * @param setpriv path of util-linux's `setpriv`, with which the kernel ends the child when the front dies; null without it
 */
export function isolate(reach: Reach, setpriv: string | null): Command {
  const args = [...nodeOptions(reach), reach.runner]
  return {
    ...(setpriv === null
      ? { file: process.execPath, args }
      : { file: setpriv, args: ['--pdeathsig', 'KILL', process.execPath, ...args] }),
    env: {
      PATH: '/usr/bin:/bin',
      HOME: reach.temporaryFolder,
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      NODE_ENV: 'production',
    },
    cwd: reach.temporaryFolder,
  }
}

function nodeOptions({ runner, releaseFolder, temporaryFolder, mingo, memoryBytes }: Reach): string[] {
  const known = process.allowedNodeEnvironmentFlags
  return [
    // Node 20 calls it experimental, and would write so into the log of the space at each start.
    ...(known.has('--permission')
      ? ['--permission']
      : ['--experimental-permission', '--disable-warning=ExperimentalWarning']),
    `--allow-fs-read=${runner}`,
    `--allow-fs-read=${releaseFolder}/*`,
    `--allow-fs-read=${dirname(dirname(mingo))}/*`,
    `--allow-fs-read=${temporaryFolder}/*`,
    `--allow-fs-write=${temporaryFolder}/*`,
    `--max-old-space-size=${Math.ceil(memoryBytes / 1024 / 1024)}`,
    '--disable-proto=delete',
    ...(known.has('--disable-sigusr1') ? ['--disable-sigusr1'] : []),
  ]
}

/** The path of a `setpriv` that knows `--pdeathsig`, as that of util-linux 2.33 does. Null: this machine has only another one, or no `setpriv`. */
export async function findSetpriv(): Promise<string | null> {
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    try {
      await promisify(execFile)(path, ['--pdeathsig', 'KILL', 'true'], { env: { PATH: '/usr/bin:/bin' } })
      return path
    } catch {
      // Absent or another one.
    }
  }
  return null
}
