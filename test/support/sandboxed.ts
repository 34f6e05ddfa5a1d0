import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { findLauncher } from '../../src/host/children/isolation.js'
import { sandboxIsolation, systemMounts } from '../../src/host/children/sandbox.js'
import { seccompFilter } from '../../src/host/children/seccomp.js'
import { reachableNode } from './ordinary-user.js'
import { mingo } from './space-release.js'

const bubblewrap = '/usr/bin/bwrap'

/** False: this machine has no bubblewrap. `.ci/run` installs it, and then what is missing is a failure. */
export const hasSandbox = existsSync(bubblewrap) || process.env.CI !== undefined

/** `nobody`: the sandbox is for ordinary users, and tests may run as root. */
export const ordinaryUser = 65534

export interface Tried {
  stdout: string
  stderr: string
  /** What bubblewrap reported. */
  status: string
}

export interface Tries {
  hasNetwork?: boolean
  /** Perl instead of Node, for calls of the system that Node does not make. */
  isPerl?: boolean
}

/** Runs a script in the sandbox of a child, without Node's permission model. `host`: what must not be seen of this machine. */
export async function tryInSandbox(
  script: string,
  { hasNetwork = false, isPerl = false }: Tries = {},
): Promise<Tried & { host: string }> {
  const host = await mkdtemp(join(tmpdir(), 'latchkey-sandbox-'))
  onTestFinished(() => rm(host, { recursive: true, force: true }))
  const node = await reachableNode(host)
  const [releaseFolder, runner, data] = [join(host, 'release'), join(host, 'runner.mjs'), join(host, 'data.sock')]
  await mkdir(releaseFolder)
  await writeFile(runner, script)
  if (isPerl) await copyFile('/usr/bin/perl', join(releaseFolder, 'perl'))
  const server = createServer().listen(data)
  onTestFinished(() => void server.close())
  const isolation = sandboxIsolation({
    bubblewrap,
    launcher: await findLauncher(),
    filter: seccompFilter(process.arch) ?? Buffer.alloc(0),
    system: await systemMounts(),
    optionsOf: () => [],
  })
  const mebibyte = 1024 * 1024
  const { command } = isolation.enclose({
    ...{ runner, releaseFolder, temporaryFolder: '', mingo, hasNetwork },
    ...{ memoryBytes: 64 * mebibyte, temporaryBytes: 4 * mebibyte, sockets: { data, requests: '' } },
  })
  const args = isPerl
    ? [...command.args.slice(0, command.args.indexOf('--') + 1), '/app/perl', '/latchkey/runner.mjs']
    : command.args
  const child = spawn(command.file, args, {
    ...{ cwd: command.cwd, env: command.env, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] },
    ...(process.getuid?.() === 0 && { uid: ordinaryUser, gid: ordinaryUser }),
  })
  const texts = ['', '', '', '', '', '', '']
  const pipes = Array.from<unknown>(child.stdio)
  const report = pipes[6]
  if (report instanceof Duplex) report.on('data', (chunk) => (texts[6] += chunk))
  child.stdout?.on('data', (chunk) => (texts[1] += chunk))
  child.stderr?.on('data', (chunk) => (texts[2] += chunk))
  for (const [descriptor, bytes] of [
    [4, command.sandbox && replaced(command.sandbox.args, process.execPath, node)],
    [5, command.sandbox?.filter],
  ] as const) {
    const pipe = pipes[descriptor]
    if (pipe instanceof Duplex) pipe.end(bytes)
  }
  await new Promise<void>((resolve) => child.once('close', () => resolve()))
  const [, stdout = '', stderr = '', , , , status = ''] = texts
  return { stdout, stderr, status, host }
}

/** The first path only: Node keeps its place inside. */
function replaced(bytes: Buffer, from: string, to: string): string {
  return bytes.toString().replace(from, to)
}
