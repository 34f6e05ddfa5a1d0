import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { AuthError } from '../../errors.js'
import { parseJsonObject } from '../../lib/json-object.js'
import type { RandomSource } from '../../lib/random.js'
import { late, type World, within } from '../../lib/runtime.js'
import { releasePaths } from '../../model/release.js'
import { healthPath, isSame, nonceHeader, signNonce } from '../runner/hop.js'
import type { StartOptions } from '../runner/start-options.js'
import type { SpawnedChild } from './child-process.js'
import { type ChildSocket, openChildSocket } from './child-socket.js'
import { faultOfStart } from './release-fault.js'

interface Awaited {
  process: SpawnedChild
  options: StartOptions
  /** Where the child is to listen, as a path of this machine. */
  socketPath: string
  /** Called when the socket is looked for. The caller closes it when the process is gone. */
  onSocket(socket: Promise<ChildSocket | null>): void
  releaseFolder: string
  startMs: number
  random: RandomSource
  timer: World['timer']
  signal: AbortSignal
}

type Failed = { code: 'bundle_invalid' | 'application_timeout'; how: string }

/** The sandbox came to an end by itself, for which the application is not to blame. */
export class SandboxFault extends AuthError {
  /** What was printed, which may be words of the application too. */
  readonly lines: readonly string[]
  /** It was not made in time. */
  readonly isLate: boolean

  constructor(lines: readonly string[], isLate: boolean) {
    super('application_starting', { detail: 'The host could not make a sandbox for it.', retryAfterSeconds: 1 })
    this.name = 'SandboxFault'
    this.lines = lines
    this.isLate = isLate
  }
}

/**
 * Waits until a new child has proved that it serves. Otherwise the process is gone when this rejects.
 *
 * @throws {ReleaseFault}
 * @throws {SandboxFault}
 */
export async function becomeReady(awaited: Awaited): Promise<ChildSocket> {
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
  if (outcome !== late && 'path' in outcome) return outcome
  const failed = outcome === late ? timedOut(startMs) : outcome
  process.kill(failed.how)
  await process.closed
  const { bundle } = awaited.options.files
  throw faultOfStart({ ...failed, errors: process.errors, bundle, map: await readMap(awaited.releaseFolder) })
}

async function serves(awaited: Awaited): Promise<ChildSocket | Failed> {
  const { process, options, random, signal, socketPath, onSocket } = awaited
  await process.listening
  const opening = openChildSocket(socketPath)
  onSocket(opening)
  const socket = await opening
  const { hash, keys } = options
  const how =
    socket === null
      ? 'It does not listen on its socket.'
      : await checkHealth({ socketPath: socket.path, hopKey: keys.hop, hash, random, signal })
  // Its end says more.
  if (how !== null && process.isGone()) return endsEarly(process)
  return socket === null || how !== null ? { code: 'bundle_invalid', how: how ?? '' } : socket
}

async function endsEarly(process: SpawnedChild): Promise<Failed> {
  const end = await process.exited
  if (end === null) throw new SandboxFault(process.errors, process.isSandboxLate)
  const how = process.killedFor() ?? `The process ended with ${end.signal ?? `code ${end.code}`} before it was ready.`
  return { code: 'bundle_invalid', how }
}

/** Stops listening when the start is over: the signal lasts longer. */
function aborts(signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over })
    if (signal.aborted) reject(signal.reason)
  })
}

function timedOut(startMs: number): Failed {
  return { code: 'application_timeout', how: `It was not ready after ${startMs / 1_000} s.` }
}

/** A release may have no source map. */
async function readMap(releaseFolder: string): Promise<string> {
  return readFile(join(releaseFolder, releasePaths.map), 'utf8').catch(() => '')
}

interface Checked {
  socketPath: string
  hopKey: string
  /** Of the bundle, as it was sent to the child. */
  hash: string
  random: RandomSource
  signal: AbortSignal
}

const answerBytes = 4 * 1024

/**
 * Asks the process behind a socket to prove that it is our child: only the child has the hop key. Nothing else is sent to it
 * before.
 *
 * @returns what is wrong, as a sentence; null when all is well. Rejects when the signal aborts
 */
async function checkHealth({ socketPath, hopKey, hash, random, signal }: Checked): Promise<string | null> {
  const nonce = random.token()
  const answer = parseJsonObject((await ask(socketPath, nonce, signal)) ?? '')
  signal.throwIfAborted()
  if (answer === null) return 'It did not answer the health check.'
  if (!isSame(answer.signature, signNonce(hopKey, nonce))) return 'Its answer to the health check is not signed by it.'
  return answer.hash === hash ? null : 'It runs another bundle.'
}

/** Null for every fault, which is one of the child. */
function ask(socketPath: string, nonce: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path: healthPath, headers: { [nonceHeader]: nonce }, agent: false, signal })
    sent.on('error', () => resolve(null))
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > answerBytes) sent.destroy()
      })
      response.on('close', () => resolve(response.complete && response.statusCode === 200 ? text : null))
    })
    sent.end()
  })
}
