import { realTimer } from '../../lib/runtime.js'

/** A removal or a sign-out is in force within a second. */
const everyMs = 1_000

/**
 * The same items, as long as `judge` does not reject: it is asked every second, also while no item comes, and after the last one.
 * Its error ends them, as an error of their own would.
 *
 * @example context.upload = (limitBytes) => whileAllowed(upload(limitBytes), still)
 */
export function whileAllowed<T>(items: AsyncIterable<T>, judge: () => Promise<void>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => judged(items[Symbol.asyncIterator](), judge) }
}

function judged<T>(iterator: AsyncIterator<T>, judge: () => Promise<void>): AsyncIterator<T> {
  const end = { done: true, value: undefined } as const
  const period = createPeriod()
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
    period.begin()
  }

  return {
    async next() {
      if (isOver) return end
      const coming = iterator.next()
      coming.catch(() => {})
      for (;;) {
        const item = await Promise.race([coming, period.over()])
        if (item === null || item.done === true || period.isOver()) await judgeNow()
        if (item === null) continue
        isOver = item.done === true
        if (isOver) period.cancel()
        return item
      }
    },
    async return() {
      isOver = true
      period.cancel()
      await iterator.return?.()
      return end
    },
  }
}

/** One second after the other, each begun anew. */
function createPeriod() {
  let isOver = false
  let wake = () => {}
  let cancel = () => {}
  function begin(): void {
    isOver = false
    cancel()
    cancel = realTimer(everyMs, () => {
      isOver = true
      wake()
    })
  }
  begin()
  return {
    begin,
    cancel: () => cancel(),
    isOver: () => isOver,
    over: () =>
      new Promise<null>((resolve) => {
        wake = () => resolve(null)
        if (isOver) wake()
      }),
  }
}
