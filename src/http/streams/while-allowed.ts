import { late, realMonotonic, realTimer, within } from '../../lib/runtime.js'

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
  let nextAt = realMonotonic() + everyMs
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
    nextAt = realMonotonic() + everyMs
  }

  return {
    async next() {
      if (isOver) return end
      const coming = iterator.next()
      for (;;) {
        const item = await within(realTimer, Math.max(0, nextAt - realMonotonic()), coming)
        if (item === late || item.done === true || realMonotonic() >= nextAt) await judgeNow()
        if (item === late) continue
        isOver = item.done === true
        return item
      }
    },
    async return() {
      isOver = true
      await iterator.return?.()
      return end
    },
  }
}
