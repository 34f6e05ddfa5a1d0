import { mayCommit } from './calls.js'
import type { OpenPlace, ThreadRequest } from './messages.js'
import { unavailable } from './messages.js'
import type { ThreadLink } from './thread-link.js'

/** The calls of one space in its thread. */
export interface SpaceCalls {
  /** Opens the file in the thread, if the thread that runs now has not opened it. */
  open(): Promise<void>
  /** @throws {StoreError} of the thread, or `store_unavailable` */
  post(request: ThreadRequest, transfer?: readonly ArrayBuffer[]): Promise<unknown>
  /** Runs what waits, then closes the file. Later calls reject. */
  close(): Promise<void>
}

/**
 * How many calls of a space are in its thread at once, where other spaces wait for them: one that commits, and a few that
 * read, which keep the thread busy.
 */
const most = { writing: { running: 1, waiting: 2_000 }, reading: { running: 4, waiting: 2_000 } }

export function createSpaceCalls(link: ThreadLink, space: number, place: OpenPlace): SpaceCalls {
  const writing = createQueue(most.writing)
  const reading = createQueue(most.reading)
  let openedIn = 0
  let isClosed = false

  async function open(): Promise<void> {
    const start = link.ensureStarted()
    if (openedIn === start) return
    openedIn = start
    try {
      await link.post({ kind: 'open', space, place })
    } catch (error) {
      openedIn = 0
      throw error
    }
  }

  return {
    open,
    async post(request, transfer) {
      if (isClosed) throw unavailable()
      return (mayCommit(request) ? writing : reading).run(async () => {
        // Both are on their way at once: the thread takes messages in their order.
        const opening = open()
        const [value] = await Promise.all([link.post(request, transfer), opening])
        return value
      })
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await Promise.all([writing.idle(), reading.idle()])
      // A thread that died has closed the file already.
      await link.post({ kind: 'close', space }).catch(() => {})
    },
  }
}

/** Runs a bounded number of jobs at once; others wait in their order. */
interface Queue {
  /** @throws {StoreError} `store_unavailable` when too many wait already, and what the job throws */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Resolves when no job runs or waits. */
  idle(): Promise<void>
}

function createQueue(most: { running: number; waiting: number }): Queue {
  const waiting: (() => void)[] = []
  const idlers: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < most.running) {
      running += 1
      return
    }
    if (waiting.length >= most.waiting) throw unavailable()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** The next one takes the place over. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
    if (running === 0) for (const resolve of idlers.splice(0)) resolve()
  }

  return {
    async run(job) {
      await enter()
      try {
        return await job()
      } finally {
        leave()
      }
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  }
}
