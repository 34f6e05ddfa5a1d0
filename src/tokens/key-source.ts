import { FetchFault, type FetchFaultReason, fetchAnswer } from '../lib/bounded-fetch.js'
import { isoTime } from '../lib/iso-time.js'
import { publicFetch, type Reach } from '../lib/public-fetch.js'
import type { World } from '../lib/runtime.js'
import type { Reading } from '../lib/shared-clock.js'
import type { KeySetCheck, KeySetFault, KeySetState } from '../model/key-set.js'
import type { Logger } from '../settings.js'
import { type KeySet, readKeySet } from './key-set.js'

/** The key set at a URL. It is kept fresh in the background. */
export interface KeySource {
  /**
   * The current keys; null if no set can be trusted. `at` may be a reading that was just taken from the same clocks. Starts an
   * overdue read.
   */
  current(at?: Reading): KeySet | null
  /** The same, after the current read has ended. */
  settled(): Promise<KeySet | null>
  /** The set and its last read, for administrators. */
  state(): KeySetState
  /** Reads again because `seen` lacks a key. At most once in a cool-down, whatever the last reads returned. */
  renew(seen: KeySet): Promise<KeySet | null>
  close(): void
}

/** Where a key set is, and which of its keys count. */
export interface KeySetPlace {
  url: string
  reach: Reach
  algorithms: readonly string[]
  world: World
}

export interface KeySourceOptions extends KeySetPlace {
  logger: Logger
  /** The keys have changed: tokens that were checked with the former keys must be checked again. */
  onChange(): void
}

/** How long a set is used before it is read again: its `max-age`, within these bounds. */
const defaultSeconds = 10 * 60
const leastSeconds = 60
const mostSeconds = 12 * 3600
/** The pause after a read that failed. */
const retrySeconds = 30
/** How long the last good set is used during an outage. */
const staleMs = 24 * 3600 * 1000
/** The pause between two reads for unknown key ids: many forged tokens must not cause a read each. */
const coolDownMs = 30_000

const readLimitMs = 5_000
const readLimitBytes = 256 * 1024

interface State {
  fault: KeySetFault | null
  kept: ({ set: KeySet; seconds: number } & Reading) | null
  reading: Promise<void> | null
  renewedAtMs: number
  failing: boolean
  reportedLeak: boolean
  stopTimer: () => void
  closed: boolean
}

/** Starts reading at once. */
export function createKeySource(options: KeySourceOptions): KeySource {
  const { world } = options
  const state: State = {
    fault: null,
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
    // After sleep, timers fire late by the time that the computer slept. After a failed read, the next timer fires soon.
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
    state() {
      const set = current()
      const fetchedAt = state.kept === null ? null : isoTime(Math.floor(state.kept.wallMs / 1000))
      return { ok: set !== null && set.keys.length > 0, keys: set?.keys ?? [], fetchedAt, fault: state.fault }
    },
    close() {
      state.closed = true
      state.stopTimer()
    },
  }
}

/** The larger age of wall clock and monotonic clock, because sleep may have stopped one of them. */
function ageOf(kept: Reading, at: Reading): number {
  return Math.max(at.wallMs - kept.wallMs, at.monotonicMs - kept.monotonicMs)
}

/** One read at a time; other callers wait for the same one. Never rejects. Schedules the next read. */
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

/** Returns the seconds until the next read. */
async function readOnce(options: KeySourceOptions, state: State): Promise<number> {
  const { world } = options
  const started = { wallMs: world.now(), monotonicMs: world.monotonic() }
  try {
    const { set, seconds } = await fetchKeySet(options)
    const before = state.kept?.set
    // Unchanged keys stay the same object, so the results of earlier checks stay valid.
    const same = before?.fingerprint === set.fingerprint
    state.kept = { set: same ? before : set, seconds, ...started }
    if (!same) options.onChange()
    if (set.leaksPrivateKey) reportLeak(options, state)
    report(options, state, null)
    state.fault = null
    return seconds
  } catch (error) {
    state.fault = keySetFaultOf(error)
    report(options, state, error)
    return retrySeconds
  }
}

/**
 * Reads the key set at a URL once.
 *
 * @throws {FetchFault}, {TypeError} when the answer is no key set
 */
async function fetchKeySet({ url, reach, algorithms, world }: KeySetPlace): Promise<{ set: KeySet; seconds: number }> {
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

/** Reads the key set at a URL and keeps nothing of it. Never rejects. */
export async function checkKeySet(place: KeySetPlace): Promise<KeySetCheck> {
  try {
    const { set } = await fetchKeySet(place)
    return { ok: set.keys.length > 0, keys: set.keys, fault: set.keys.length > 0 ? null : 'not_a_key_set' }
  } catch (error) {
    return { ok: false, keys: [], fault: keySetFaultOf(error) }
  }
}

/** Refused connections, time-outs and failed TLS look alike, so that an administrator's browser cannot scan a network by them. */
function keySetFaultOf(error: unknown): KeySetFault {
  if (!(error instanceof FetchFault)) return 'not_a_key_set'
  return fetchFaults[error.reason] ?? 'unreachable'
}

const fetchFaults: Readonly<Partial<Record<FetchFaultReason, KeySetFault>>> = {
  private_address: 'not_allowed',
  redirected: 'redirected',
  too_big: 'too_large',
  bad_status: 'not_a_key_set',
}

/** RFC 9111 §5.2.2.1. */
function freshSeconds(cacheControl: string | null): number {
  const [, text] = /(?:^|[ \t,])max-age="?(\d{1,12})/i.exec(cacheControl ?? '') ?? []
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

/** Logs once that reading fails and once that it works again, without the address. */
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
    'The key set of the other issuer cannot be read. The last good one is used for 24 h at most. Check jwks.url and the network.',
  )
}
