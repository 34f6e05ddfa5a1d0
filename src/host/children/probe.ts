import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { SettingsError } from '../../errors.js'
import { releasePaths } from '../../model/release.js'
import { hasCode } from '../has-code.js'
import { createLog, defaultLogLimits } from './logs.js'
import { type ChildPlan, defaultChildLimits } from './plan.js'
import { SandboxFault } from './ready.js'
import { ReleaseFault } from './release-fault.js'
import { probePrefix } from './run-folder.js'
import { type Premises, startChild } from './start.js'

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
export interface ProbeFault {
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
