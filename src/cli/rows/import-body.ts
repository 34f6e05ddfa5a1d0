import { usage } from '../tool-error.js'
import type { Row, RowFault } from './row.js'

const newline = 0x0a
const partBytes = 64 * 1024
/** As many as the host lists. */
const mostFaults = 1_000

/** Rows as JSONL, for the host. */
export interface ImportBody {
  open(): AsyncGenerator<Uint8Array>
  /** Rows that were sent. */
  sent(): number
  /** What the tool could not read: the first 1,000 faults, and the number of all. */
  faults(): { first: readonly RowFault[]; count: number }
  /** Why the file could not be read to its end; null: it could. */
  failure(): unknown
}

/**
 * Every row stands on the line of its number, with empty lines between, so that the host names the lines of the file. Rows that
 * have a fault are left out.
 *
 * @param most how many rows are sent
 * @param report called with each part
 */
export function importBody(rows: AsyncIterable<Row>, most: number, report: (sent: number) => void): ImportBody {
  const first: RowFault[] = []
  let faultCount = 0
  let sent = 0
  let failure: unknown = null
  let isOpen = false

  async function* lines(): AsyncGenerator<Uint8Array> {
    let line = 1
    for await (const row of rows) {
      if ('fault' in row) {
        faultCount += 1
        if (first.length < mostFaults) first.push(row)
        continue
      }
      yield Buffer.alloc(row.line - line, newline)
      yield Buffer.from(row.json)
      yield Buffer.from('\n')
      line = row.line + 1
      sent += 1
      if (sent >= most) return
    }
  }

  async function* parts(): AsyncGenerator<Uint8Array> {
    let waiting: Uint8Array[] = []
    let size = 0
    try {
      for await (const piece of lines()) {
        waiting.push(piece)
        size += piece.length
        if (size < partBytes) continue
        yield Buffer.concat(waiting)
        report(sent)
        waiting = []
        size = 0
      }
    } catch (error) {
      failure = error
      throw error
    }
    if (size > 0) yield Buffer.concat(waiting)
  }

  return {
    open() {
      if (isOpen) throw usage('The sign-in was renewed while the file was read. Run the command again.')
      isOpen = true
      return parts()
    },
    sent: () => sent,
    faults: () => ({ first, count: faultCount }),
    failure: () => failure,
  }
}
