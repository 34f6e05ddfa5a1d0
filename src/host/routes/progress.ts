import { toAuthError } from '../../http/faults.js'
import { problem } from '../../http/problem.js'
import { createRowQueue, type Row } from './row-queue.js'

/**
 * Runs something long and yields its reports as rows, then its result, or `{ error: <problem> }`. It starts at once and runs to its
 * end, also when its reader leaves.
 */
export function progressRows(run: (report: (row: Row) => void) => Promise<Row>, requestId: string): AsyncIterable<Row> {
  const rows = createRowQueue()
  run(rows.put)
    .catch((error: unknown) => errorRow(error, requestId))
    .then((last) => {
      rows.put(last)
      rows.end()
    })
  return rows
}

/** The last row of a stream that failed. */
function errorRow(error: unknown, requestId: string): Row {
  const { body } = problem(toAuthError(error), requestId)
  return { error: JSON.parse(String(body)) }
}
