import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SettingsError } from '../../errors.js'
import { releasePaths } from '../../model/release.js'
import { hasCode } from '../has-code.js'
import { findLauncher, type Isolation, type NoSandbox, processIsolation } from './isolation.js'
import { createLog, defaultLogLimits } from './logs.js'
import { type ChildPlan, defaultChildLimits } from './plan.js'
import { SandboxFault } from './ready.js'
import { ReleaseFault } from './release-fault.js'
import { probePrefix } from './run-folder.js'
import { mountedAbove, sandboxIsolation, systemMounts } from './sandbox.js'
import { seccompFilter } from './seccomp.js'
import { type Premises, startChild } from './start.js'

interface Asked {
  wanted: 'auto' | 'sandbox' | 'process'
  /** The folder of the host: an absolute path. */
  data: string
  /** Whether every application has a network. */
  isNetworkForAll: boolean
  premises: Omit<Premises, 'isolation'>
  /** Whether this host has had a sandbox before. */
  hasWorked: boolean
}

/**
 * Finds out how children are kept apart on this machine.
 *
 * @throws {SettingsError} `isolation`, when a sandbox is asked for and does not work, or cannot be tried; `data`, when every
 * sandbox would show the folder, or the disk is full
 */
export async function chooseIsolation(asked: Asked): Promise<Isolation> {
  const launcher = await findLauncher()
  const process = processIsolation(launcher)
  const found = asked.wanted === 'process' ? null : await findSandbox(asked, launcher)
  if (found !== null && 'mode' in found) return found
  if (found !== null && asked.wanted === 'sandbox')
    throw fault('isolation', `is the sandbox, which does not work here. ${sentencesOf(found)}`)
  if (found !== null && asked.hasWorked) {
    throw fault(
      'isolation',
      `was the sandbox, which does not work any more. ${sentencesOf(found)} Or write isolation: 'process', which protects no space from the code of another`,
    )
  }
  if (!asked.isNetworkForAll) {
    const why = found === null ? "isolation is 'process'" : sentencesOf(found)
    throw fault('limits.network', `can be switched off only in the sandbox, which is not used: ${why}`)
  }
  return { ...process, absent: found }
}

function sentencesOf({ cause, cure }: NoSandbox): string {
  return `${cause} ${cure}`
}

function fault(setting: string, message: string): SettingsError {
  return new SettingsError([{ setting, message }])
}

async function findSandbox(asked: Asked, launcher: readonly string[]): Promise<Isolation | NoSandbox> {
  const filter = seccompFilter(process.arch)
  if (process.platform !== 'linux' || filter === null) return unknownMachine
  if (process.getuid?.() === 0) return root
  const bubblewrap = await findBubblewrap()
  if (bubblewrap === null) return missing
  const version = await versionOf(bubblewrap).catch((error: unknown) => {
    throw asSettingsError(error, asked.data)
  })
  if (version === null) return tooOld

  const system = await systemMounts()
  const { premises, data } = asked
  const above = await mountedAbove(data, premises, system)
  if (above !== null) throw fault('data', `lies in ${above}, which every application can read. Choose another folder`)
  const ground = { bubblewrap, launcher, filter, system }
  // The first start shows that the sandbox holds by itself, the second that applications start as they will.
  for (const [isolation, hasNetwork] of [
    [sandboxIsolation({ ...ground, optionsOf: () => [] }), false],
    [sandboxIsolation(ground), true],
  ] as const) {
    const found = await probe({ ...premises, isolation }, { data, hasNetwork })
    if (found !== null) return explain(found)
  }
  return sandboxIsolation(ground)
}

const unknownMachine = {
  cause: 'The sandbox is made for Linux on x64 and arm64.',
  cure: "Run the host on such a machine, or write isolation: 'process'.",
}
const root = {
  cause: 'The host runs as root, and a child of root is root outside of its sandbox too.',
  cure: 'Run the host as a user of its own.',
}
const missing = {
  cause: 'bubblewrap is not installed.',
  cure: 'Install it: apt-get install bubblewrap, or dnf install bubblewrap.',
}
const tooOld = { cause: 'bubblewrap is older than 0.8, or broken.', cure: 'Install bubblewrap 0.8 or newer.' }

/** Where packages put it. `PATH` is not asked: it may name folders that others write to. */
const usualPaths = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

async function findBubblewrap(): Promise<string | null> {
  for (const path of usualPaths) if (await exists(path)) return path
  return null
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/**
 * null: older than 0.8, which lacks `--disable-userns`, or a program that does not name its version.
 *
 * @throws {Error} of the system, with a `syscall`, when no process can be started
 */
async function versionOf(bubblewrap: string): Promise<string | null> {
  const { stdout } = await promisify(execFile)(bubblewrap, ['--version']).catch((error: unknown) => {
    if (error instanceof Error && 'syscall' in error) throw error
    return { stdout: '' }
  })
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
  return Number(major) > 0 || Number(minor) >= 8 ? stdout.trim() : null
}

/** What bubblewrap prints, and what it means on this machine. */
export async function explain({ lines, lateMs }: ProbeFault): Promise<NoSandbox> {
  if (lateMs !== null) {
    return {
      cause: `A first try of it was not ready after ${lateMs / 1_000} s.`,
      cure: 'The machine is too slow or has too much to do: start the host again when it has less.',
    }
  }
  const own = lines.find((line) => line.startsWith('bwrap: ')) ?? lines[0] ?? 'It ended without a word.'
  const cause = `A first try of it failed: ${own}`
  if (/mount proc/i.test(own)) {
    return {
      cause: `/proc of this container is masked, so that no new one can be mounted (${own}).`,
      cure: 'Start the container with --security-opt systempaths=unconfined.',
    }
  }
  if (!/namespace|uid map|user_namespaces|Operation not permitted|Permission denied/i.test(own)) {
    return { cause, cure: 'Run bwrap by hand as the user of the host to find out more.' }
  }
  return { cause: `User namespaces are refused here (${own}).`, cure: await cureOfNamespaces() }
}

async function cureOfNamespaces(): Promise<string> {
  if (await isInContainer()) {
    return 'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, which weakens the container, or run the host without a container.'
  }
  if ((await setting('kernel/apparmor_restrict_unprivileged_userns')) === '1') {
    return 'AppArmor of Ubuntu refuses them: allow bwrap by a profile in /etc/apparmor.d, as docs/host/isolation.md shows.'
  }
  if ((await setting('kernel/unprivileged_userns_clone')) === '0')
    return 'Run: sysctl -w kernel.unprivileged_userns_clone=1'
  if ((await setting('user/max_user_namespaces')) === '0') return 'Run: sysctl -w user.max_user_namespaces=15000'
  return 'If systemd runs the host, take RestrictNamespaces, SystemCallFilter=~@mount and PrivateUsers out of its unit.'
}

async function isInContainer(): Promise<boolean> {
  const found = await Promise.all(['/.dockerenv', '/run/.containerenv', '/run/secrets/kubernetes.io'].map(exists))
  return found.includes(true)
}

async function setting(name: string): Promise<string | null> {
  return (await readFile(`/proc/sys/${name}`, 'utf8').catch(() => null))?.trim() ?? null
}

/** An application that refuses to run where it sees more than it may. */
const bundle = `import { existsSync, readdirSync } from 'node:fs'
const seen = [process.env.PROBE, '/etc/passwd', '/home', '/root', '/var'].filter((path) => {
  try {
    return existsSync(path) && readdirSync(path)
  } catch (error) {
    return error.code === 'ENOTDIR'
  }
})
if (seen.length > 0) throw new Error('The sandbox shows ' + seen.join(', '))
export default { authhooks: {}, routehooks: {}, globalhooks: [] }
`

/** Why the sandbox does not work. */
interface ProbeFault {
  /** What was printed. */
  lines: readonly string[]
  /** The application was not ready after this time, in milliseconds. null: something else is wrong. */
  lateMs: number | null
}

interface Tried {
  /** The folder of the host. */
  data: string
  hasNetwork: boolean
}

/** A machine that has just started may be busy. Then the application gets more time once. */
const patiencesMs = [defaultChildLimits.startMs, 60_000]

/**
 * Starts the program of a child in a sandbox, with an application that looks for what it must not see.
 *
 * @param waitsMs how long each try may take, in milliseconds: there is another one only after one that took too long
 * @returns null when the sandbox works
 * @throws {SettingsError} `data` when the disk is full, `isolation` when the system refuses something else: whether the sandbox
 * works is not known then
 */
export async function probe(
  premises: Premises,
  tried: Tried,
  waitsMs: readonly number[] = patiencesMs,
): Promise<ProbeFault | null> {
  let fault: ProbeFault | null = null
  for (const startMs of waitsMs) {
    fault = await tryOnce(premises, tried, startMs).catch((error: unknown) => {
      throw asSettingsError(error, tried.data)
    })
    if (fault === null || fault.lateMs === null) return fault
  }
  return fault
}

async function tryOnce(premises: Premises, tried: Tried, startMs: number): Promise<ProbeFault | null> {
  const releaseFolder = join(tried.data, 'run', `${probePrefix}${premises.random.id()}`)
  const log = createLog(premises.world, defaultLogLimits)
  try {
    await mkdir(releaseFolder, { mode: 0o700 })
    await writeFile(join(releaseFolder, releasePaths.code), bundle, { mode: 0o600 })
    const plan = planOf(releaseFolder, tried, startMs)
    const { signal } = new AbortController()
    const running = await startChild({ plan, log, premises, isAlone: true, signal })
    running.kill('It was a probe.')
    await running.ended
    return null
  } catch (error) {
    if (error instanceof SandboxFault) return { lines: error.lines, lateMs: error.isLate ? startMs : null }
    if (!(error instanceof ReleaseFault)) throw error
    return { lines: [error.message], lateMs: error.code === 'application_timeout' ? startMs : null }
  } finally {
    // What is left here goes at the next start.
    await rm(releaseFolder, { recursive: true, force: true }).catch(() => {})
  }
}

/** Errors of the system say nothing about the sandbox, so they must not lead to a host without one. */
function asSettingsError(error: unknown, data: string): unknown {
  if (hasCode(error, 'ENOSPC', 'EDQUOT'))
    return new SettingsError([{ setting: 'data', message: `the disk of ${data} is full. Free some space.` }])
  if (!(error instanceof Error && 'syscall' in error)) return error
  const message = `could not be tried: ${error.message}. Start the host again when that is mended`
  return new SettingsError([{ setting: 'isolation', message }])
}

function planOf(releaseFolder: string, { data, hasNetwork }: Tried, startMs: number): ChildPlan {
  return {
    spaceId: 'probe',
    name: 'probe',
    release: 1,
    hash: createHash('sha256').update(bundle).digest('hex'),
    releaseFolder,
    temporaryFolder: releaseFolder,
    env: { PROBE: data },
    limits: { ...defaultChildLimits, startMs },
    hasNetwork,
    compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
    openData,
  }
}

/** A socket that nothing is asked on. */
async function openData(path: string): Promise<{ close(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return { close: () => new Promise((resolve) => void server.close(() => resolve())) }
}
