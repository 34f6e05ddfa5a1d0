import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createWorld, sleep } from '../../lib/runtime.js'
import { ToolError } from '../tool-error.js'
import { statOrNull } from './trusted-file.js'

const pollMs = 50
/** Longer than a refresh may take with all its timeouts, which happens under the lock. */
const staleMs = 60_000

/**
 * Runs a step while no other process of this user runs one with the same lock file. The file names its process, so the lock
 * of a killed process is taken over.
 *
 * @throws {ToolError} when another process holds the lock for a minute
 */
export async function withFileLock<T>(path: string, step: () => Promise<T>): Promise<T> {
  const { now } = createWorld()
  const deadline = now() + staleMs
  while (!take(path)) {
    if (isAbandoned(path, now())) clear(path, now())
    else if (now() > deadline)
      throw new ToolError(1, 'locked', `Another latchkey holds ${path}. Remove it if none runs.`)
    else await sleep(pollMs)
  }
  const release = () => {
    if (ownerOf(path) === process.pid) rmSync(path, { force: true })
  }
  process.once('exit', release)
  try {
    return await step()
  } finally {
    process.off('exit', release)
    release()
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes an abandoned lock. One process does it at a time, so that none removes the lock that another has just taken. */
function clear(path: string, nowMs: number): void {
  const clearing = `${path}.stale`
  if (!take(clearing)) {
    if (ageOf(clearing, nowMs) > staleMs) rmSync(clearing, { force: true })
    return
  }
  if (isAbandoned(path, nowMs)) rmSync(path, { force: true })
  rmSync(clearing, { force: true })
}

function isAbandoned(path: string, nowMs: number): boolean {
  const owner = ownerOf(path)
  return ageOf(path, nowMs) > staleMs || (owner !== null && !isRunning(owner))
}

/** 0 for a lock that was released meanwhile. */
function ageOf(path: string, nowMs: number): number {
  const stats = statOrNull(path)
  return stats === null ? 0 : nowMs - stats.mtimeMs
}

/** The process that holds the lock. Null when it is free, or its process has not written its number yet. */
function ownerOf(path: string): number | null {
  try {
    const owner = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(owner) && owner > 0 ? owner : null
  } catch {
    return null
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
