/** A row of a file: its JSON, or the reason why the row cannot be read. `line` counts from 1: the line in the file, or the place in a JSON list. */
export type Row = { line: number; json: string | Uint8Array } | RowFault

export interface RowFault {
  line: number
  fault: string
  /** Nothing can be read after it. */
  isLast: boolean
}

/** Of one row: more than any host takes. */
export const mostRowBytes = 16 * 1024 * 1024

export const tooLong = `is longer than ${mostRowBytes / 1024 / 1024} MiB`
