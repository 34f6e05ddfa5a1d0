/** A row of an NDJSON answer. */
export type Row = Readonly<Record<string, unknown>>

/** Rows that wait for their reader. */
export interface RowQueue extends AsyncIterable<Row> {
  put(row: Row): void
  /** No row comes any more. */
  end(): void
}

/**
 * For one reader, who may leave while it waits: a generator would then hang until its next row.
 *
 * @param leave called once, when the reader leaves
 * @param most rows that wait for a slow reader; older ones are dropped
 */
export function createRowQueue(leave: () => void = () => {}, most = Number.POSITIVE_INFINITY): RowQueue {
  const waiting: Row[] = []
  let isOver = false
  let wake = () => {}

  async function next(): Promise<IteratorResult<Row, undefined>> {
    while (!isOver && waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    const row = waiting.shift()
    return row ? { done: false, value: row } : { done: true, value: undefined }
  }

  return {
    put(row) {
      if (isOver) return
      waiting.push(row)
      if (waiting.length > most) waiting.shift()
      wake()
    },
    end() {
      isOver = true
      wake()
    },
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        isOver = true
        waiting.splice(0)
        wake()
        leave()
        return { done: true, value: undefined }
      },
    }),
  }
}
