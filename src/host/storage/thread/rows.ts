import { memberOf } from '../../../lib/members.js'

/** A column of a row that the schema declares as an integer. */
export function numberAt(row: unknown, column: string): number {
  const value = memberOf(row, column)
  if (typeof value === 'number') return value
  throw new TypeError(`The column ${column} holds no number.`)
}

export function nullableNumberAt(row: unknown, column: string): number | null {
  return memberOf(row, column) === null ? null : numberAt(row, column)
}

/** A column of a row that the schema declares as text. */
export function textAt(row: unknown, column: string): string {
  const value = memberOf(row, column)
  if (typeof value === 'string') return value
  throw new TypeError(`The column ${column} holds no text.`)
}

export function nullableTextAt(row: unknown, column: string): string | null {
  return memberOf(row, column) === null ? null : textAt(row, column)
}

/** The UTF-8 text of a column that the schema declares as a blob. */
export function blobTextAt(row: unknown, column: string): string {
  return blobAt(row, column).toString()
}

export function blobAt(row: unknown, column: string): Buffer {
  const value = memberOf(row, column)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(`The column ${column} holds no bytes.`)
}
