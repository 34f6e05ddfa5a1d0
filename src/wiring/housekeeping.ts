import type { World } from '../lib/runtime.js'
import type { Clock } from '../ports.js'
import type { Logger } from '../settings.js'
import type { Store } from '../store/store.js'

/** Whatever grows with time. */
type Kept = 'sessions' | 'oneTimeTokens' | 'devices' | 'apiTokens' | 'counters' | 'outbox' | 'audit' | 'changes'

export interface HousekeepingOptions {
  store: { readonly [noun in Kept]: Pick<Store[noun], 'prune'> }
  clock: Clock
  /** How long after the end of a session one of its access tokens can still live. */
  accessTokensLiveSeconds: number
  timer: World['timer']
  /** 0 ≤ n < 1: processes do not come at the same time. */
  random(): number
  logger: Logger
}

/** Forgets, beside the requests and a little at a time, what nobody needs any more. */
export interface Housekeeping {
  start(): void
  /** Waits for the step under way. */
  close(): Promise<void>
}

/** Every process comes that often, give or take half. */
const everyMs = 10 * 60_000

/**
 * How many rows one step takes. SQLite holds up the event loop for as long as a step takes, so one that is slow makes the
 * next ones smaller.
 */
const mostRows = 200
const fewestRows = 50
const slowStepMs = 25

/**
 * Where there is more, housekeeping goes on after a pause: nine times as long as the work took, so that it takes a tenth
 * of the store's time at most, and at least this long.
 */
const shortestPauseMs = 50
const pauseForWork = 9

const daySeconds = 24 * 60 * 60
/** How long a mail that could not be delivered waits for somebody to look at it. */
const setAsideSeconds = 30 * daySeconds
/** How long the list of API tokens tells of one that has expired. */
const expiredTokenSeconds = 30 * daySeconds
/** A year, and what it takes to look back on it. */
const auditSeconds = 400 * daySeconds

/** Removes some rows of one kind; true when there may be more. */
type Chore = () => Promise<boolean>

/**
 * Any number of processes may do it at once: whoever finds that another was faster has nothing left to do, and comes again
 * ten minutes later, so that mostly one works through a backlog.
 */
export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  let cancel = () => {}
  let running: Promise<void> | null = null
  let closed = false

  function wait(milliseconds: number, due: readonly Chore[] | null): void {
    if (closed) return
    cancel = options.timer(milliseconds * (0.5 + options.random()), () => {
      running = run(due ?? chores(options))
    })
  }

  /** One step of each chore, and again of those that found as much as they might take. Never rejects. */
  async function run(due: readonly Chore[]): Promise<void> {
    const startedMs = options.clock.monotonicMs()
    const unfinished: Chore[] = []
    let failed = false
    for (const chore of due) {
      if (closed) return
      try {
        if (await chore()) unfinished.push(chore)
      } catch {
        failed = true
      }
    }
    if (failed) options.logger.warn({ event: 'housekeeping_failed' }, 'What is out of date stays in the store for now.')
    const tookMs = options.clock.monotonicMs() - startedMs
    if (unfinished.length === 0) wait(everyMs, null)
    else wait(Math.max(shortestPauseMs, tookMs * pauseForWork), unfinished)
  }

  return {
    start: () => wait(everyMs, null),
    async close() {
      closed = true
      cancel()
      await running
    },
  }
}

/** One step after the other, each as large as it may be. */
function paced({ monotonicMs }: Pick<Clock, 'monotonicMs'>, prune: (count: number) => Promise<number>): Chore {
  let rows = mostRows
  return async () => {
    const count = rows
    const startedMs = monotonicMs()
    const removed = await prune(count)
    const slow = monotonicMs() - startedMs > slowStepMs
    rows = slow ? Math.max(fewestRows, Math.floor(rows / 2)) : Math.min(mostRows, rows * 2)
    return removed === count
  }
}

function chores({ store, clock, accessTokensLiveSeconds }: HousekeepingOptions): readonly Chore[] {
  const now = clock.now()
  return [
    paced(clock, (count) => store.sessions.prune(now - accessTokensLiveSeconds, count)),
    paced(clock, (count) => store.oneTimeTokens.prune(now, count)),
    paced(clock, (count) => store.devices.prune(now, count)),
    paced(clock, (count) => store.apiTokens.prune(now - expiredTokenSeconds, count)),
    // Also where Redis counts: what was counted here before it came.
    paced(clock, (count) => store.counters.prune(now, count)),
    paced(clock, (count) => store.outbox.prune(now - setAsideSeconds, count)),
    paced(clock, (count) => store.changes.prune(now, count)),
    paced(clock, (count) => store.audit.prune((now - auditSeconds) * 1000, count)),
  ]
}
