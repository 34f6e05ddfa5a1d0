import { storeUnavailable } from '../errors.js'
import type { Moment, SharedClock } from '../lib/shared-clock.js'
import type { Clock } from '../ports.js'
import type { Logger } from '../settings.js'
import type { AccessRecord, AccessSettings } from '../store/access-settings.js'
import type { Revocations } from './revocations.js'

/** This process's copy of the access settings that can change at run time. */
export interface AccessFeed {
  /** Reads them for the first time. Rejects when the store does not answer. */
  start(): Promise<void>
  /** False from the moment a change is announced until it has been read. */
  isCurrent(): boolean
  /** Waits for that read, at most half a second. Resolves to whether the settings are current. */
  catchUp(): Promise<boolean>
  close(): void
}

export interface AccessFeedOptions {
  accessSettings: Pick<AccessSettings, 'read'>
  revocations: Pick<Revocations, 'subscribe'>
  timer: (milliseconds: number, callback: () => void) => () => void
  clock: Pick<Clock, 'monotonicMs'>
  logger: Logger
  /** Applies the settings that were read. */
  use(record: AccessRecord): void
}

const catchUpMs = 500
const retryMs = 400

interface State {
  /** Counts announced changes: the result of a read that began before the last one is discarded. */
  heard: number
  current: boolean
  reading: Promise<void> | null
  stopTimer: () => void
  closed: boolean
}

/**
 * Follows the change feed. Each `setting` row, and each possible gap in the feed, makes it read all settings again. Until
 * that read has ended, guarded requests wait.
 */
export function createAccessFeed(options: AccessFeedOptions): AccessFeed {
  const state: State = { heard: 0, current: false, reading: null, stopTimer: () => {}, closed: false }

  function readSoon(): void {
    if (state.closed || state.reading !== null) return
    readUntilCurrent(options, state).catch(() => {
      options.logger.warn(
        { event: 'access_settings' },
        'Access settings cannot be read, so guarded requests get 503. Check the database.',
      )
      state.stopTimer()
      if (!state.closed) state.stopTimer = options.timer(retryMs, readSoon)
    })
  }

  options.revocations.subscribe((change) => {
    if (change !== null && change.kind !== 'setting') return
    state.heard += 1
    state.current = false
    readSoon()
  })
  return {
    start: () => readUntilCurrent(options, state),
    isCurrent: () => state.current,
    async catchUp() {
      readSoon()
      await soonOrNever(options.timer, state.reading)
      return state.current
    },
    close() {
      state.closed = true
      state.stopTimer()
    },
  }
}

/** One read at a time, repeated while further changes were announced. */
function readUntilCurrent(options: AccessFeedOptions, state: State): Promise<void> {
  const run = async () => {
    while (!state.current && !state.closed) {
      const { heard } = state
      const record = await options.accessSettings.read()
      if (heard !== state.heard) continue
      options.use(record)
      state.current = true
    }
  }
  const ended = () => {
    state.reading = null
  }
  state.reading ??= run().then(
    () => {
      ended()
      // A change was announced after the last check, so its caller waits for a read that has already ended.
      return state.current || state.closed ? undefined : readUntilCurrent(options, state)
    },
    (fault: unknown) => {
      ended()
      throw fault
    },
  )
  return state.reading
}

function soonOrNever(timer: AccessFeedOptions['timer'], reading: Promise<void> | null): Promise<void> {
  return new Promise((resolve) => {
    const stop = timer(catchUpMs, resolve)
    const finish = () => {
      stop()
      resolve()
    }
    Promise.resolve(reading).then(finish, finish)
  })
}

/** What a guard decides by besides the request, and which the change feed keeps current. */
export interface FreshParts {
  revocations: Pick<Revocations, 'isFresh' | 'catchUp'>
  accessFeed: Pick<AccessFeed, 'isCurrent' | 'catchUp'>
  clock: Pick<SharedClock, 'moment'>
}

export function isFresh({ revocations, accessFeed }: Omit<FreshParts, 'clock'>, at: Moment): boolean {
  return revocations.isFresh(at) && accessFeed.isCurrent()
}

/**
 * After a pause or a store failure, reads the changes once. If that fails, the request is refused.
 *
 * @throws {AuthError} `store_unavailable`
 */
export async function requireFresh(parts: FreshParts): Promise<void> {
  const { revocations, accessFeed, clock } = parts
  if (isFresh(parts, clock.moment())) return
  if ((revocations.isFresh() || (await revocations.catchUp())) && (await accessFeed.catchUp())) return
  throw storeUnavailable()
}
