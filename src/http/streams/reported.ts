/** The same pieces. An error is reported before it reaches the adapter, which can only cut the answer off. */
export function reported(
  pieces: AsyncIterable<Uint8Array>,
  report: (error: unknown) => void,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            return await iterator.next()
          } catch (error) {
            report(error)
            throw error
          }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
