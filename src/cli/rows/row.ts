/** A row of a file: its JSON, or why it is none. `line` is its line in the file from 1; in a JSON list, its number. */
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
