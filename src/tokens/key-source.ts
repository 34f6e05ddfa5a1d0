import { FetchFault, fetchAnswer } from '../lib/bounded-fetch.js'
import { publicFetch, type Reach } from '../lib/public-fetch.js'
import type { World } from '../lib/runtime.js'
import type { Reading } from '../lib/shared-clock.js'
import type { Logger } from '../settings.js'
import { type KeySet, readKeySet } from './key-set.js'

/** The key set at an address, kept fresh beside the requests. */
export interface KeySource {
  /**
   * What to check by, now or at a moment just read of the same clocks; null when there is nothing that may be believed.
   * Begins a read that is overdue.
   */
  current(at?: Reading): KeySet | null
  /** The same, once the read that is under way has ended. */
  settled(): Promise<KeySet | null>
  /** Reads again because `seen` lacks a key, at most once in a cool-down, whatever the last reads brought. */
  renew(seen: KeySet): Promise<KeySet | null>
  close(): void
}

export interface KeySourceOptions {
  url: string
  reach: Reach
  algorithms: readonly string[]
  world: World
  logger: Logger
  /** Other keys than before: whatever was checked by the former ones must be checked anew. */
  onChange(): void
}

/** How long a set may be used before it is read again: as long as its `max-age` says, within these bounds. */
const defaultSeconds = 10 * 60
const leastSeconds = 60
const mostSeconds = 12 * 3600
/** After a read that failed. */
const retrySeconds = 30
/** How long the last good set lives through an outage. */
const staleMs = 24 * 3600 * 1000
/** Between two reads for the sake of an unknown key id: a stranger's token must not make us ask each time. */
const coolDownMs = 30_000

const readLimitMs = 5_000
const readLimitBytes = 256 * 1024

interface State {
  kept: ({ set: KeySet; seconds: number } & Reading) | null
  reading: Promise<void> | null
  renewedAtMs: number
  failing: boolean
  reportedLeak: boolean
  stopTimer: () => void
  closed: boolean
}

/** Begins to read at once. */
export function createKeySource(options: KeySourceOptions): KeySource {
  const { world } = options
  const state: State = {
    kept: null,
    reading: null,
    renewedAtMs: Number.NEGATIVE_INFINITY,
    failing: false,
    reportedLeak: false,
    stopTimer: () => {},
    closed: false,
  }
  function current(at: Reading = { wallMs: world.now(), monotonicMs: world.monotonic() }): KeySet | null {
    const { kept } = state
    if (kept === null) return null
    const ageMs = ageOf(kept, at)
    // A computer that slept has timers that are late by as long. After a read that failed the next one is soon.
    if (ageMs > kept.seconds * 1000 && !state.failing) void read(options, state)
    return ageMs < staleMs ? kept.set : null
  }

  void read(options, state)
  return {
    current,
    async settled() {
      await state.reading
      return current()
    },
    async renew(seen) {
      if (current() !== seen) return current()
      const nowMs = world.monotonic()
      if (state.reading === null && nowMs - state.renewedAtMs < coolDownMs) return seen
      if (state.reading === null) state.renewedAtMs = nowMs
      await read(options, state)
      return current()
    },
    close() {
      state.closed = true
      state.stopTimer()
    },
  }
}

/** By the wall or the monotonic clock, whichever shows more: a computer that slept may have stopped one of them. */
function ageOf(kept: Reading, at: Reading): number {
  return Math.max(at.wallMs - kept.wallMs, at.monotonicMs - kept.monotonicMs)
}

/** One at a time: whoever asks meanwhile waits for the same. Never rejects; comes again by itself. */
function read(options: KeySourceOptions, state: State): Promise<void> {
  if (state.closed) return state.reading ?? Promise.resolve()
  state.stopTimer()
  state.reading ??= readOnce(options, state).then((seconds) => {
    state.reading = null
    if (state.closed) return
    state.stopTimer = options.world.timer(seconds * 1000, () => void read(options, state))
  })
  return state.reading
}

/** Returns after how many seconds to come again. */
async function readOnce(options: KeySourceOptions, state: State): Promise<number> {
  const { world } = options
  const started = { wallMs: world.now(), monotonicMs: world.monotonic() }
  try {
    const { set, seconds } = await fetchKeySet(options)
    const before = state.kept?.set
    // The same keys stay the same object, and with it what was checked by them.
    const same = before?.fingerprint === set.fingerprint
    state.kept = { set: same ? before : set, seconds, ...started }
    if (!same) options.onChange()
    if (set.leaksPrivateKey) reportLeak(options, state)
    report(options, state, null)
    return seconds
  } catch (error) {
    report(options, state, error)
    return retrySeconds
  }
}

async function fetchKeySet({
  url,
  reach,
  algorithms,
  world,
}: KeySourceOptions): Promise<{ set: KeySet; seconds: number }> {
  const { text, headers } = await fetchAnswer(
    { timer: world.timer, fetch: publicFetch(world, reach) },
    {
      url,
      headers: { accept: 'application/jwk-set+json, application/json' },
      limitMs: readLimitMs,
      limitBytes: readLimitBytes,
      readable: [200],
    },
  )
  const set = readKeySet(text, algorithms)
  if (set === null) throw new TypeError('no key set')
  return { set, seconds: freshSeconds(headers.get('cache-control')) }
}

/** RFC 9111 §5.2.2.1. */
function freshSeconds(cacheControl: string | null): number {
  const [, text] = /(?:^|[\s,])max-age="?(\d{1,12})/i.exec(cacheControl ?? '') ?? []
  if (text === undefined) return defaultSeconds
  return Math.min(mostSeconds, Math.max(leastSeconds, Number(text)))
}

function reportLeak({ logger }: KeySourceOptions, state: State): void {
  if (state.reportedLeak) return
  state.reportedLeak = true
  logger.error(
    { event: 'jwks_private_key' },
    'The key set of the other issuer publishes a private key. It is refused: the issuer must replace it.',
  )
}

/** Says once that it fails and once that it is back, without the address. */
function report({ logger }: KeySourceOptions, state: State, error: unknown): void {
  const failing = error !== null
  if (failing === state.failing || state.closed) return
  state.failing = failing
  if (!failing) {
    logger.warn({ event: 'jwks_available' }, 'The key set of the other issuer can be read again.')
    return
  }
  const reason = error instanceof FetchFault ? error.reason : 'no_key_set'
  logger.warn(
    { event: 'jwks_unavailable', reason },
    'The key set of the other issuer cannot be read; the last good one lives at most 24 h.',
  )
}
