/** What came of an iterator. */
export type Taken<T> = { result: IteratorResult<T> } | { error: unknown }

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
