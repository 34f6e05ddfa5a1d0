import { requireField } from '../documents/names.js'
import { queryInvalid, type StoreError } from '../documents/store-error.js'
import { isPlain } from '../documents/values.js'
import type { IndexScan, KeyRange } from '../ports.js'

const maxScan = 10_000
/** Over all choices of a scan. One `$in` makes 1,000 at most. */
const maxRanges = 2_500
/** Of a kind and 200 bytes of text, and one more behind them. */
const maxKeyBytes = 202
const maxAfter = 2_000

export function misshapen(): StoreError {
  return queryInvalid('The arguments of this call have another shape.')
}

/** @throws {StoreError} `query_invalid` */
export function requireLimit(limit: unknown): number {
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= maxScan) return limit
  throw misshapen()
}

/** @throws {StoreError} `query_invalid` */
export function requireIndexScan(value: unknown): IndexScan {
  if (!isPlain(value) || !isPlain(value.seen)) throw misshapen()
  const { field, choices, order, seen, after, limit } = value
  const { isMultikey, isOrdered } = seen
  if (order !== null && order !== 1 && order !== -1) throw misshapen()
  if (typeof isMultikey !== 'boolean' || typeof isOrdered !== 'boolean') throw misshapen()
  if (after !== null && (typeof after !== 'string' || after.length > maxAfter)) throw misshapen()
  return {
    field: requireField(field),
    choices: requireChoices(choices),
    order,
    seen: { isMultikey, isOrdered },
    after,
    limit: requireLimit(limit),
  }
}

function requireChoices(value: unknown): KeyRange[][] {
  if (!Array.isArray(value) || value.length === 0) throw misshapen()
  const choices = value.map((each: unknown) => (Array.isArray(each) ? each.map(requireRange) : []))
  if (choices.reduce((sum, { length }) => sum + length, 0) > maxRanges) throw misshapen()
  for (const ranges of choices) if (!isAscending(ranges)) throw misshapen()
  return choices
}

function requireRange(value: unknown): KeyRange {
  if (!isPlain(value)) throw misshapen()
  return { from: requireKeyText(value.from), to: requireKeyText(value.to) }
}

function requireKeyText(value: unknown): string {
  if (typeof value === 'string' && value.length <= 2 * maxKeyBytes && /^(?:[0-9a-f]{2})*$/.test(value)) return value
  throw misshapen()
}

/** Hexadecimal texts have the order of their bytes. A range may be empty. */
function isAscending(ranges: readonly KeyRange[]): boolean {
  if (ranges.length === 0) return false
  return ranges.every(({ from, to }, at) => from <= to && to <= (ranges[at + 1]?.from ?? to))
}
