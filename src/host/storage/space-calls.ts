import { mayCommit } from './calls.js'
import { unavailable } from './faults.js'
import type { OpenPlace, ThreadRequest } from './messages.js'
import { createQueue } from './queue.js'
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
