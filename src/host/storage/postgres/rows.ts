import { memberOf } from '../../../lib/members.js'

/** A column of a row that the schema declares as an integer. Drivers give a `bigint` as text, as a number or as a BigInt. */
export function numberAt(row: unknown, column: string): number {
  const value = memberOf(row, column)
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new TypeError(`The column ${column} holds no integer.`)
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

export function booleanAt(row: unknown, column: string): boolean {
  const value = memberOf(row, column)
  if (typeof value === 'boolean') return value
  throw new TypeError(`The column ${column} holds no boolean.`)
}

export function isNullAt(row: unknown, column: string): boolean {
  return memberOf(row, column) === null
}

/** The UTF-8 text of a column that the schema declares as bytes. */
export function bytesTextAt(row: unknown, column: string): string {
  return bytesAt(row, column).toString()
}

export function bytesAt(row: unknown, column: string): Buffer {
  const value = memberOf(row, column)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(`The column ${column} holds no bytes.`)
}
