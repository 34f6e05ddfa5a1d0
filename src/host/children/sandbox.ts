import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { parseJsonObject } from '../../lib/json-object.js'
import { type Enclosed, firstEnvironment, type Isolation, nodeOptions, type Reach, type Seen } from './isolation.js'
import { areEntriesMany } from './process-facts.js'

/** What sandboxes stand on. */
export interface SandboxGround {
  /** Path of bubblewrap. */
  bubblewrap: string
  /** From `findLauncher`. */
  launcher: readonly string[]
  /** Of system calls. */
  filter: Buffer
  /** From `systemMounts`. */
  system: readonly Mount[]
  /** Node's own flags. */
  optionsOf?: (seen: Seen) => string[]
}

/** A folder of this machine that children see at the same path: one to read, or a link. */
type Mount = { path: string; target: string | null }

/** Where a child finds what is its own. */
const inside = {
  node: '/usr/bin/node',
  release: '/app',
  runner: '/latchkey/runner.mjs',
  mingo: '/latchkey/mingo',
  temporary: '/tmp',
  data: '/run/data',
  requests: '/run/requests',
} as const
const requestSocket = `${inside.requests}/s`
/** A socket takes no room; this is for what an application may write beside it. */
const requestFolderBytes = 64 * 1024

/** Files that name servers are looked up with. */
const networkFiles = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf']

/** The mode `sandbox`: bubblewrap makes a system of namespaces in which nothing else exists. */
export function sandboxIsolation({ bubblewrap, launcher, filter, system, ...rest }: SandboxGround): Isolation {
  const { optionsOf = nodeOptions } = rest
  return {
    mode: 'sandbox',
    absent: null,
    enclose(reach): Enclosed {
      const seen = seenBy(reach)
      const [file = bubblewrap, ...args] = [...launcher, bubblewrap]
      const node = [inside.node, ...optionsOf(seen), seen.runner]
      return {
        command: {
          file,
          args: [...args, '--args', '4', '--', ...node],
          env: firstEnvironment(inside.temporary),
          cwd: '/',
          sandbox: { args: Buffer.from(argumentsOf(reach, system).join('\0')), filter },
        },
        seen,
        // The front and the child are of one user, so the front may look into the root of the child.
        outside(pid) {
          const root = `/proc/${pid}/root`
          const writable = [root + inside.temporary, root + inside.requests]
          return {
            socketPath: root + requestSocket,
            areFilesOver: () => areEntriesMany(writable, reach.temporaryBytes),
          }
        },
      }
    },
  }
}

function seenBy({ mingo, memoryBytes }: Reach): Enclosed['seen'] {
  return {
    runner: inside.runner,
    releaseFolder: inside.release,
    temporaryFolder: inside.temporary,
    mingo: join(inside.mingo, relative(packageOf(mingo), mingo)),
    memoryBytes,
    sockets: { data: inside.data, requests: requestSocket },
  }
}

/** The folder of mingo's package. */
function packageOf(mingo: string): string {
  return dirname(dirname(mingo))
}

function argumentsOf({ hasNetwork, ...reach }: Reach, system: readonly Mount[]): string[] {
  return [
    ...['--unshare-user', '--unshare-all', ...(hasNetwork ? ['--share-net'] : []), '--disable-userns'],
    ...['--as-pid-1', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'space'],
    ...['--clearenv', ...environmentArguments(), '--chdir', inside.temporary],
    ...['--seccomp', '5', '--json-status-fd', '6'],
    ...system.flatMap(({ path, target }) => (target === null ? readOnly(path, path) : ['--symlink', target, path])),
    ...readOnly(process.execPath, inside.node),
    ...readOnly(reach.releaseFolder, inside.release),
    ...readOnly(reach.runner, inside.runner),
    ...readOnly(packageOf(reach.mingo), inside.mingo),
    ...(hasNetwork ? networkFiles.flatMap((path) => ['--ro-bind-try', path, path]) : []),
    ...readOnly(reach.sockets.data, inside.data),
    ...['--size', String(requestFolderBytes), '--tmpfs', inside.requests],
    ...['--size', String(reach.temporaryBytes), '--tmpfs', inside.temporary],
    ...['--dev', '/dev', '--proc', '/proc'],
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

function readOnly(path: string, seenAs: string): string[] {
  return ['--ro-bind', path, seenAs]
}

function environmentArguments(): string[] {
  return Object.entries(firstEnvironment(inside.temporary)).flatMap((each) => ['--setenv', ...each])
}

/** The libraries of this machine, which Node's program needs. */
export async function systemMounts(): Promise<Mount[]> {
  const libraries = (await readdir('/usr')).filter((name) => /^lib(?:32|64|x32)?$/.test(name))
  const paths = libraries.flatMap((name) => [join('/usr', name), join('/', name)])
  // Debian's package of Node keeps parts of Node there.
  const mounts = await Promise.all([...paths, '/usr/share/nodejs'].map(mountOf))
  return mounts.flat()
}

async function mountOf(path: string): Promise<Mount[]> {
  const stats = await lstat(path).catch(() => null)
  if (stats?.isSymbolicLink()) return [{ path, target: await readlink(path) }]
  return stats?.isDirectory() ? [{ path, target: null }] : []
}

/**
 * The folder that children would see although a path lies in it; null: none.
 *
 * @param reach what every child sees besides its release
 */
export async function mountedAbove(
  path: string,
  reach: Pick<Seen, 'mingo'>,
  system: readonly Mount[],
): Promise<string | null> {
  const place = await realpath(path)
  const folders = [...system.filter(({ target }) => target === null).map((each) => each.path), packageOf(reach.mingo)]
  for (const folder of folders) {
    const real = await realpath(folder)
    if (place === real || place.startsWith(real + sep)) return folder
  }
  return null
}

/** What bubblewrap reports of the process in the sandbox. */
export interface SandboxStatus {
  /** Its id on this machine; null: there was none. */
  pid: Promise<number | null>
  /** How it ended, when bubblewrap is gone. null: the sandbox came to an end, not the application. */
  end: Promise<ChildEnd | null>
}

export interface ChildEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

const mostCharacters = 64 * 1024
/** Added to the number of a signal. */
const signalBase = 128

/** Reads two lines of JSON: one at the start, and one at the end. Nothing of the application gets into them. */
export function readStatus(stream: Readable): SandboxStatus {
  let text = ''
  const values = () => text.split('\n').map((line) => parseJsonObject(line) ?? {})
  const numberOf = (name: string) => values().flatMap((each) => (typeof each[name] === 'number' ? each[name] : []))[0]
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()))
  const pid = new Promise<number | null>((resolve) => {
    stream.on('data', (chunk: string) => {
      if (text.length < mostCharacters) text += chunk
      const found = numberOf('child-pid')
      if (found !== undefined) resolve(found)
    })
    void closed.then(() => resolve(null))
  })
  return {
    pid,
    end: closed.then(() => {
      const code = numberOf('exit-code')
      return code === undefined ? null : endOf(code)
    }),
  }
}

function endOf(code: number): ChildEnd {
  const [signal = null] = code > signalBase ? signalsOf(code - signalBase) : []
  return { code: signal === null ? code : null, signal }
}

function signalsOf(number: number): NodeJS.Signals[] {
  return Object.entries(constants.signals).flatMap(([name, each]) => (each === number && isSignal(name) ? [name] : []))
}

function isSignal(name: string): name is NodeJS.Signals {
  return name in constants.signals
}
