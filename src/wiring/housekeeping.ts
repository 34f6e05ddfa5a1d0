import type { World } from '../lib/runtime.js'
import type { Clock } from '../ports.js'
import type { Logger } from '../settings.js'
import type { Store } from '../store/store.js'

/** The kinds of rows that grow with time. */
type Kept = 'sessions' | 'oneTimeTokens' | 'devices' | 'apiTokens' | 'counters' | 'outbox' | 'audit' | 'changes'

export interface HousekeepingOptions {
  store: { readonly [noun in Kept]: Pick<Store[noun], 'prune'> } & Pick<Store, 'pruneFurtherTokens'>
  /** Ends up to that many impersonations whose time is over; true when there may be more. */
  endImpersonations(count: number): Promise<boolean>
  /** Deletes up to that many accounts whose wait for it is over; true when there may be more. */
  endDeletionWaits(count: number): Promise<boolean>
  clock: Clock
  /** How long after the end of a session one of its access tokens can still be valid. */
  accessTokensLiveSeconds: number
  timer: World['timer']
  /** 0 ≤ n < 1, to spread the processes over time. */
  random(): number
  logger: Logger
}

/** Deletes rows that are no longer needed, in the background and in small steps. */
export interface Housekeeping {
  start(): void
  /** Waits for the current step. */
  close(): Promise<void>
}

/** The interval of each process, plus or minus half of it. */
const everyMs = 10 * 60_000

/**
 * The most rows in one step. SQLite blocks the event loop for the whole step, so a slow step makes the next ones smaller.
 */
const mostRows = 200
const fewestRows = 50
const slowStepMs = 25

/**
 * If there is more to delete, housekeeping goes on after a pause of nine times the duration of its work, so that it uses a
 * tenth of the store's time at most. The pause is at least this long.
 */
const shortestPauseMs = 50
const pauseForWork = 9

const daySeconds = 24 * 60 * 60
/** How long a mail that could not be delivered is kept, so that an operator can look at it. */
const setAsideSeconds = 30 * daySeconds
/** How long the lists of API tokens and admin tokens show an expired one. */
const expiredTokenSeconds = 30 * daySeconds
/** A year, with some weeks to look back on it. */
const auditSeconds = 400 * daySeconds

/** Deletes some rows of one kind; true when there may be more. */
type Chore = () => Promise<boolean>

/**
 * Several processes may run it at once. A process that finds nothing left to do comes back ten minutes later, so mostly one
 * process works through a backlog.
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

  /** Runs one step of each chore, and further steps of those that may have more to delete. Never rejects. */
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
    if (failed) {
      options.logger.warn(
        { event: 'housekeeping_failed' },
        'Expired rows stay in the store for now; the next round tries again.',
      )
    }
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

/** One step after the other, each as large as its time allows. */
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

function chores({
  store,
  clock,
  accessTokensLiveSeconds,
  endImpersonations,
  endDeletionWaits,
}: HousekeepingOptions): readonly Chore[] {
  const now = clock.now()
  return [
    // Before their sessions are forgotten.
    () => endImpersonations(fewestRows),
    () => endDeletionWaits(fewestRows),
    paced(clock, (count) => store.sessions.prune(now - accessTokensLiveSeconds, count)),
    paced(clock, (count) => store.oneTimeTokens.prune(now, count)),
    paced(clock, (count) => store.devices.prune(now, count)),
    paced(clock, (count) => store.apiTokens.prune(now - expiredTokenSeconds, count)),
    paced(clock, (count) => store.pruneFurtherTokens(now - expiredTokenSeconds, count)),
    // Also with Redis: the store may hold counters from before.
    paced(clock, (count) => store.counters.prune(now, count)),
    paced(clock, (count) => store.outbox.prune(now - setAsideSeconds, count)),
    paced(clock, (count) => store.changes.prune(now, count)),
    paced(clock, (count) => store.audit.prune((now - auditSeconds) * 1000, count)),
  ]
}
