import type { Clock } from '../ports.js'
import type { Logger } from '../settings.js'
import type { AccessRecord, AccessSettings } from '../store/access-settings.js'
import type { Revocations } from './revocations.js'

/** What this process knows of the settings of access that are changed at run time. */
export interface AccessFeed {
  /** Reads them for the first time. Rejects when the store does not answer. */
  start(): Promise<void>
  /** False from the moment a change is heard of until it has been read. */
  isCurrent(): boolean
  /** Waits for that reading, at most half a second; whether it is current then. */
  catchUp(): Promise<boolean>
  close(): void
}

export interface AccessFeedOptions {
  accessSettings: Pick<AccessSettings, 'read'>
  revocations: Pick<Revocations, 'subscribe'>
  timer: (milliseconds: number, callback: () => void) => () => void
  clock: Pick<Clock, 'monotonicMs'>
  logger: Logger
  /** Puts what was read in force. */
  use(record: AccessRecord): void
}

const catchUpMs = 500
const retryMs = 400

interface State {
  /** Counts what was heard of: a read that began before the last of it brings nothing that may be believed. */
  heard: number
  current: boolean
  reading: Promise<void> | null
  stopTimer: () => void
  closed: boolean
}

/**
 * Follows the change feed: with each `setting` row, and whenever rows may have been missed, everything is read again, and
 * until that is done no guarded request is decided by what was known before.
 */
export function createAccessFeed(options: AccessFeedOptions): AccessFeed {
  const state: State = { heard: 0, current: false, reading: null, stopTimer: () => {}, closed: false }

  function readSoon(): void {
    if (state.closed || state.reading !== null) return
    readUntilCurrent(options, state).catch(() => {
      options.logger.warn({ event: 'access_settings' }, 'Settings of access cannot be read; guarded requests get 503.')
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

/** One read at a time, again while more was heard of meanwhile. */
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
      // Heard between the last look and this: whoever told waits for a read that was over.
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
