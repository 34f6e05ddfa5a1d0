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
  let isOver = false

  async function judgeNow(): Promise<void> {
    try {
      await judge()
    } catch (error) {
      isOver = true
      // A generator that waits for its own next item answers `return` only then.
      void iterator.return?.().catch(() => {})
      throw error
    }
    if (!isOver) second.restart()
  }

  return {
    async next() {
      if (isOver) return end
      const arrived = createArrival(iterator.next())
      for (;;) {
        await new Promise<void>((resolve) => {
          arrived.wake(resolve)
          second.wake(resolve)
        })
        const item = arrived.item()
        if (second.isOver() || item?.done === true) await judgeNow()
        if (item === null && !isOver) continue
        if (item === null) return end
        isOver ||= item.done === true
        if (isOver) second.cancel()
        return item
      }
    },
    async return() {
      isOver = true
      second.cancel()
      await iterator.return?.()
      return end
    },
  }
}

/** An item that may come late. It is asked for once, so that nothing piles up while it does not come. */
function createArrival<T>(coming: Promise<IteratorResult<T>>) {
  let come: { item: IteratorResult<T> } | { error: unknown } | null = null
  let woken = () => {}
  const arrive = (arrived: NonNullable<typeof come>) => {
    come = arrived
    woken()
  }
  coming.then(
    (item) => arrive({ item }),
    (error: unknown) => arrive({ error }),
  )
  return {
    /** Calls back when the item is there. */
    wake(callback: () => void): void {
      woken = callback
      if (come !== null) callback()
    },
    /** null: not there yet. @throws what the items throw */
    item(): IteratorResult<T> | null {
      if (come !== null && 'error' in come) throw come.error
      return come === null ? null : come.item
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
    /** Calls back when it is over. */
    wake(callback: () => void): void {
      woken = callback
      if (isOver) callback()
    },
  }
}
