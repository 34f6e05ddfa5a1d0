import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { isFolderLarger } from './process-facts.js'

/** What one child may reach. Absolute paths of this machine. */
export interface Reach extends Seen {
  /** What the temporary folder may hold. */
  temporaryBytes: number
  hasNetwork: boolean
  /** Of its data, and the one on which it is to listen. */
  sockets: Sockets
}

interface Sockets {
  data: string
  requests: string
}

/** A command as `spawn` takes it. No value of the space is in it: `ps` shows it to every user of the machine. */
export interface Command {
  file: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** What bubblewrap reads from its descriptors 4 and 5. It reports on descriptor 6. null: the command is no sandbox. */
  sandbox: { args: Buffer; filter: Buffer } | null
}

/** How children are kept apart from the machine and from each other. */
export interface Isolation {
  mode: 'sandbox' | 'process'
  /** Why there is no sandbox, where one was looked for. */
  absent: NoSandbox | null
  enclose(reach: Reach): Enclosed
}

/** One sentence each, or more. */
export interface NoSandbox {
  cause: string
  cure: string
}

export interface Enclosed {
  command: Command
  /** Paths as the child sees them. */
  seen: Seen & { sockets: Sockets }
  /** What the front sees of the running child. */
  outside(pid: number): Outside
}

interface Outside {
  /** The path of the socket of the child. */
  socketPath: string
  /** Whether the files of the child are too many or too large. */
  areFilesOver(): Promise<boolean>
}

/** The first environment of a child. What the application gets comes over the pipe. */
export function firstEnvironment(home: string): Readonly<Record<string, string>> {
  return { PATH: '/usr/bin:/bin', HOME: home, TZ: 'UTC', LANG: 'C.UTF-8', NODE_ENV: 'production' }
}

/** The mode `process`: Node's permission model alone. @param launcher from `findLauncher` */
export function processIsolation(launcher: readonly string[]): Isolation {
  return {
    mode: 'process',
    absent: null,
    enclose: (reach) => ({
      command: isolate(reach, launcher),
      seen: reach,
      outside: () => ({
        socketPath: reach.sockets.requests,
        areFilesOver: () => isFolderLarger(reach.temporaryFolder, reach.temporaryBytes),
      }),
    }),
  }
}

/** The command of a child in the mode `process`. */
export function isolate(seen: Seen, launcher: readonly string[]): Command {
  const [file = process.execPath, ...rest] = [...launcher, process.execPath]
  return {
    file,
    args: [...rest, ...nodeOptions(seen), seen.runner],
    env: firstEnvironment(seen.temporaryFolder),
    cwd: seen.temporaryFolder,
    sandbox: null,
  }
}

/** The kernel ends the child when the front dies, and the child has none of the rights that systemd may have given the front. */
const dropRights = ['--pdeathsig', 'KILL', '--inh-caps', '-all', '--ambient-caps', '-all']

/**
 * The command before that of a child: `setpriv` of util-linux with what this one knows. Empty: this machine has only another
 * one, or no `setpriv`.
 */
export async function findLauncher(): Promise<readonly string[]> {
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    for (const options of [dropRights, dropRights.slice(0, 2)]) {
      try {
        await promisify(execFile)(path, [...options, 'true'], { env: { PATH: '/usr/bin:/bin' } })
        return [path, ...options]
      } catch {
        // Absent, or another one.
      }
    }
  }
  return []
}

/** What one child has, by the paths that it sees itself. */
export interface Seen {
  /** The program of the child: one file. */
  runner: string
  releaseFolder: string
  temporaryFolder: string
  /** mingo's CommonJS build. */
  mingo: string
  /** The JavaScript heap, in bytes. */
  memoryBytes: number
}

/**
 * Node's own flags: its permission model allows no child processes, workers, addons, WASI or inspector.
 *
 * @param known those of this version of Node
 */
export function nodeOptions(
  { runner, releaseFolder, temporaryFolder, mingo, memoryBytes }: Seen,
  known: ReadonlySet<string> = process.allowedNodeEnvironmentFlags,
): string[] {
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
    // From Node 25 on the unix sockets of a child need it too. Who has a network is for the sandbox to say.
    ...(known.has('--allow-net') ? ['--allow-net'] : []),
    // The permission model does not check it.
    ...(known.has('--no-experimental-sqlite') ? ['--no-experimental-sqlite'] : []),
    ...(known.has('--disable-sigusr1') ? ['--disable-sigusr1'] : []),
  ]
}
