import type { World } from '../lib/runtime.js'
import type { Clock } from '../ports.js'
import type { Logger } from '../settings.js'
import type { Store } from '../store/store.js'

export interface HousekeepingOptions {
  store: Pick<Store, 'sessions' | 'oneTimeTokens' | 'devices' | 'apiTokens' | 'outbox' | 'audit'>
  clock: Pick<Clock, 'now' | 'nowMs'>
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

/** Every process comes that often, give or take half; sooner while a step found as much as it may take. */
const everyMs = 10 * 60_000
const soonMs = 5_000
const batchSize = 500

const daySeconds = 24 * 60 * 60
/** How long a mail that could not be delivered waits for somebody to look at it. */
const setAsideSeconds = 30 * daySeconds
/** How long the list of API tokens tells of one that has expired. */
const expiredTokenSeconds = 30 * daySeconds
/** A year, and what it takes to look back on it. */
const auditSeconds = 400 * daySeconds

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  let cancel = () => {}
  let running: Promise<void> | null = null
  let closed = false

  function wait(milliseconds: number): void {
    if (closed) return
    cancel = options.timer(milliseconds * (0.5 + options.random()), () => {
      running = run().then(wait)
    })
  }

  /** One small step for each kind; returns when to come again. Never rejects. */
  async function run(): Promise<number> {
    let more = false
    let failed = false
    for (const step of steps(options)) {
      if (closed) break
      try {
        more = (await step()) === batchSize || more
      } catch {
        failed = true
      }
    }
    if (failed) options.logger.warn({ event: 'housekeeping_failed' }, 'What is out of date stays in the store for now.')
    return more && !failed ? soonMs : everyMs
  }

  return {
    start: () => wait(everyMs),
    async close() {
      closed = true
      cancel()
      await running
    },
  }
}

function steps({ store, clock, accessTokensLiveSeconds }: HousekeepingOptions): readonly (() => Promise<number>)[] {
  const now = clock.now()
  return [
    () => store.sessions.prune(now - accessTokensLiveSeconds, batchSize),
    () => store.oneTimeTokens.prune(now, batchSize),
    () => store.devices.prune(now, batchSize),
    () => store.apiTokens.prune(now - expiredTokenSeconds, batchSize),
    () => store.outbox.prune(now - setAsideSeconds, batchSize),
    () => store.audit.prune(clock.nowMs() - auditSeconds * 1000, batchSize),
  ]
}
