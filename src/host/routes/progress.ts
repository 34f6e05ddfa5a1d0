import { toAuthError } from '../../http/faults.js'
import { problem } from '../../http/problem.js'

/** A row of an NDJSON answer. */
export type Row = Readonly<Record<string, unknown>>

/**
 * Runs something long and yields its reports as rows, then its result, or `{ error: <problem> }`. It starts at once and runs to its
 * end, also when its rows are no longer read.
 */
export function progressRows(run: (report: (row: Row) => void) => Promise<Row>, requestId: string): AsyncIterable<Row> {
  const waiting: Row[] = []
  let isOver = false
  let wake = () => {}

  function put(row: Row): void {
    waiting.push(row)
    wake()
  }

  function end(row: Row): void {
    isOver = true
    put(row)
  }

  run(put).then(end, (error: unknown) => end(errorRow(error, requestId)))

  async function* rows(): AsyncGenerator<Row> {
    for (;;) {
      const row = waiting.shift()
      if (row) yield row
      else if (isOver) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return rows()
}

/** The last row of a stream that failed. */
export function errorRow(error: unknown, requestId: string): Row {
  const { body } = problem(toAuthError(error), requestId)
  return { error: JSON.parse(String(body)) }
}
