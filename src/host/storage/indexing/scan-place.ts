import type { KeyRange } from '../../ports.js'
import { misshapen } from '../scan-input.js'
import type { Entry } from './entry-changes.js'

/** A choice of a scan with more entries counts as one with so many. */
export const maxCounted = 10_000

/** The place of an entry. An `_id` of '' stands before all. */
export type Place = Entry

/** Where the next page of a scan begins. */
export function formatPlace(choice: number, { key, id }: Place): string {
  return `${choice}.${key.toString('hex')}.${id}`
}

/** @throws {StoreError} `query_invalid` */
export function parsePlace(text: string): Place & { choice: number } {
  const [, choice, key, id] = /^(\d{1,4})\.((?:[0-9a-f]{2})+)\.(.+)$/s.exec(text) ?? []
  if (choice === undefined || key === undefined || id === undefined) throw misshapen()
  return { choice: Number(choice), key: keyBytes(key), id }
}

/** Where a range begins, or goes on behind the page before. */
export function beginOf({ from }: KeyRange, after: Place | null): Place {
  const begin = keyBytes(from)
  return after !== null && Buffer.compare(after.key, begin) >= 0 ? after : { key: begin, id: '' }
}

/** SQLite's drivers bind an empty buffer as null. Every key is greater than this one. */
export function keyBytes(hexadecimal: string): Buffer {
  return hexadecimal === '' ? Buffer.of(0) : Buffer.from(hexadecimal, 'hex')
}
