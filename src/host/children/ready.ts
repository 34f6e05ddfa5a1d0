import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RandomSource } from '../../lib/random.js'
import { late, type World, within } from '../../lib/runtime.js'
import { releasePaths } from '../../model/release.js'
import type { StartOptions } from '../runner/start-options.js'
import { checkHealth } from './check-health.js'
import type { SpawnedChild } from './child-process.js'
import { faultOfStart } from './release-fault.js'

interface Awaited {
  process: SpawnedChild
  options: StartOptions
  releaseFolder: string
  startMs: number
  random: RandomSource
  timer: World['timer']
  signal: AbortSignal
}

type Failed = { code: 'bundle_invalid' | 'application_timeout'; how: string } | null

/**
 * Waits until a new child has proved that it serves. Otherwise the process is gone when this rejects.
 *
 * @throws {ReleaseFault}
 */
export async function becomeReady(awaited: Awaited): Promise<void> {
  const { process, startMs, timer, signal } = awaited
  const over = new AbortController()
  const ways = [serves(awaited), endsEarly(process), aborts(signal, over.signal)]
  const outcome = await within(timer, startMs, Promise.race(ways))
    .catch(async (error: unknown) => {
      process.kill('Its start was given up.')
      await process.closed
      throw error
    })
    .finally(() => over.abort())
  if (outcome === null) return
  const failed = outcome === late ? timedOut(startMs) : outcome
  process.kill(failed.how)
  await process.closed
  const { bundle } = awaited.options.files
  throw faultOfStart({ ...failed, errors: process.errors, bundle, map: await readMap(awaited.releaseFolder) })
}

async function serves({ process, options, random, signal }: Awaited): Promise<Failed> {
  await process.listening
  const { hash, keys, sockets } = options
  const how = await checkHealth({ socketPath: sockets.requests, hopKey: keys.hop, hash, random, signal })
  // Its end says more.
  if (how !== null && process.isGone()) return endsEarly(process)
  return how === null ? null : { code: 'bundle_invalid', how }
}

async function endsEarly(process: SpawnedChild): Promise<Failed> {
  const { code, signal } = await process.exited
  const how = process.killedFor() ?? `The process ended with ${signal ?? `code ${code}`} before it was ready.`
  return { code: 'bundle_invalid', how }
}

/** Stops listening when the start is over: the signal lasts longer. */
function aborts(signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over })
    if (signal.aborted) reject(signal.reason)
  })
}

function timedOut(startMs: number): NonNullable<Failed> {
  return { code: 'application_timeout', how: `It was not ready after ${startMs / 1_000} s.` }
}

/** A release may have no source map. */
async function readMap(releaseFolder: string): Promise<string> {
  return readFile(join(releaseFolder, releasePaths.map), 'utf8').catch(() => '')
}
