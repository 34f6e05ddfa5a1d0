import type { RowSource } from '../../rows/read-rows.js'
import type { Row } from '../../rows/row.js'
import { usage } from '../../tool-error.js'
import { size } from '../sizes.js'

/** Reads the first row, and gives all of them. */
export async function begun(rows: AsyncIterable<Row>): Promise<AsyncGenerator<Row>> {
  const iterator = rows[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all() {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value
  }
  return all()
}

/** The text of the progress, and its part of 1 where the size is known. */
export function progressOf({ read, size: total }: RowSource, sent: number): [string, number?] {
  const message = `Imported ${sent} objects, ${size(read())}`
  return total === null ? [message] : [`${message} of ${size(total)}`, read() / Math.max(1, total)]
}

/** How many rows `--rowcount` lets through. Default: all. @throws {ToolError} usage */
export function rowCount(given: string | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,14}$/.test(given)) throw usage(`--rowcount takes a number from 1 on, not "${given}".`)
  return Number(given)
}
