import type { AuthError } from '../../errors.js'
import { toAuthError } from '../../http/faults.js'
import { problemBody } from '../../http/problem.js'
import type { RouteContext } from '../../http/route.js'
import { createRowQueue, type Row } from './row-queue.js'

/** What a stream that fails needs of its request. */
export type Reported = Pick<RouteContext, 'requestId' | 'report'>

/**
 * Runs something long and yields its reports as rows, then its result, or `{ error: <problem> }`. It starts at once and runs to its
 * end, also when its reader leaves, unless it heeds `left`.
 */
export function progressRows(
  context: Reported,
  run: (report: (row: Row) => void, left: AbortSignal) => Promise<Row>,
): AsyncIterable<Row> {
  const leaving = new AbortController()
  const rows = createRowQueue(() => leaving.abort())
  run(rows.put, leaving.signal)
    .catch((error: unknown) => errorRow(context, toAuthError(error)))
    .then((last) => {
      rows.put(last)
      rows.end()
    })
  return rows
}

/** The last row of a stream that failed. What is no refusal goes to the log, too. */
export function errorRow({ requestId, report }: Reported, fault: AuthError): Row {
  report(fault)
  return { error: problemBody(fault, requestId) }
}
