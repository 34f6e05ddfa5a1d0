import { realTimer } from '../../lib/runtime.js'

/** A removal or a sign-out is in force within a second. */
const everyMs = 1_000

/**
 * The same items, as long as `judge` does not reject. It runs every second, also between items, and once more at the end. Its error
 * ends the stream.
 *
 * @example context.upload = (limitBytes) => whileAllowed(upload(limitBytes), still)
 */
export function whileAllowed<T>(items: AsyncIterable<T>, judge: () => Promise<void>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => judged(items[Symbol.asyncIterator](), judge) }
}

function judged<T>(iterator: AsyncIterator<T>, judge: () => Promise<void>): AsyncIterator<T> {
  const end = { done: true, value: undefined } as const
  const second = createSecond()
  const take = createTaking(iterator, second.whenOver)
  let isOver = false

  function stop(): void {
    isOver = true
    second.cancel()
  }

  async function judgeNow(): Promise<void> {
    try {
      await judge()
    } catch (error) {
      stop()
      // A generator that waits for its own next item answers `return` only then.
      void iterator.return?.().catch(() => {})
      throw error
    }
    if (!isOver) second.restart()
  }

  return {
    async next() {
      for (;;) {
        if (isOver) return end
        const took = await take()
        if (took !== null && 'error' in took) {
          stop()
          throw took.error
        }
        const item = took?.result ?? null
        if (second.isOver() || item?.done === true) await judgeNow()
        if (item === null) continue
        if (item.done === true) stop()
        return item
      }
    },
    async return() {
      stop()
      await iterator.return?.()
      return end
    },
  }
}

/** A timer of one second that can be restarted. */
function createSecond() {
  let isOver = false
  let woken = () => {}
  let cancel = () => {}
  function restart(): void {
    isOver = false
    cancel()
    cancel = realTimer(everyMs, () => {
      isOver = true
      woken()
    })
  }
  restart()
  return {
    restart,
    cancel: () => cancel(),
    isOver: () => isOver,
    /** Calls back when it is over; returns how to cancel that. */
    whenOver(wake: () => void): () => void {
      woken = wake
      if (isOver) wake()
      return () => {
        woken = () => {}
      }
    },
  }
}

/** What came of an iterator. */
type Taken<T> = { result: IteratorResult<T> } | { error: unknown }

/**
 * Takes the next item, or null when the wait is broken off first; the next call goes on waiting for the same item, which is asked
 * for once. One call at a time.
 *
 * @param breakOff calls back when a wait is over, and returns how to cancel that
 */
export function createTaking<T>(
  items: AsyncIterator<T>,
  breakOff: (wake: () => void) => () => void,
): () => Promise<Taken<T> | null> {
  let isAsked = false
  let come: Taken<T> | null = null
  let wake = () => {}
  const arrive = (arrived: Taken<T>) => {
    come = arrived
    wake()
  }
  return async () => {
    if (!isAsked) {
      isAsked = true
      items.next().then(
        (result) => arrive({ result }),
        (error: unknown) => arrive({ error }),
      )
    }
    if (come === null) {
      await new Promise<void>((resolve) => {
        const cancel = breakOff(resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
    }
    const took: Taken<T> | null = come
    if (took !== null) isAsked = false
    come = null
    return took
  }
}
