import { isExactText, keyOf, kinds, orderedPart, textKey } from './keys.js'

/** Keys of an index from `from` on, and below `to`. */
export interface Range {
  from: Buffer
  to: Buffer
}

/** Operators that bound a value on one side. */
export const comparisons = ['$gt', '$gte', '$lt', '$lte'] as const

export type Comparison = (typeof comparisons)[number]

/** All entries. */
export const whole: Range = { from: Buffer.of(), to: Buffer.of(0xff) }
/** Entries of values that keys do not model. Every plan reads them. */
export const unmodelled: Range = kindRange(kinds.unmodelled)
const missing: Range = kindRange(kinds.missing)
/** Entries of values that are there. An explicit null is one. */
export const present: Range = { from: Buffer.of(kinds.missing, 1), to: Buffer.of(kinds.unmodelled) }

/** Where documents stand that equal a value. null when keys do not model it. */
export function equalTo(value: unknown): Range | null {
  if (value === undefined || value === null) return missing
  const key = keyOf(value)
  return key && { from: key, to: after(key) }
}

/** Where documents stand that compare so with a number, text or date. null for every other value. */
export function comparedWith(comparison: Comparison, value: unknown): Range | null {
  if (typeof value === 'string') return textsComparedWith(comparison, value)
  if (typeof value !== 'number' && !(value instanceof Date)) return null
  const key = keyOf(value)
  if (key === null) return null
  const kind = kindRange(typeof value === 'number' ? kinds.number : kinds.date)
  return side(comparison, kind, comparison === '$gt' || comparison === '$lte' ? after(key) : key)
}

/** Where texts stand that begin with a text. */
export function startingWith(text: string): Range {
  const key = textKey(orderedPart(text))
  return { from: key, to: afterAllWith(key) }
}

/** One range for each key that there can be in a range. null for a range of any number of keys. */
export function pointsOf({ from, to }: Range): Range[] | null {
  if (from.length === 1 && from.equals(unmodelled.from)) return [unmodelled]
  if (from.equals(missing.from) && to.equals(missing.to)) {
    const keys = [0, 1].map((value) => Buffer.of(kinds.missing, value))
    return keys.map((key) => ({ from: key, to: after(key) }))
  }
  return to.equals(after(from)) ? [{ from, to }] : null
}

/** What two lists of ranges share. Both ascend and have no overlaps, as the result does. */
export function intersection(some: readonly Range[], others: readonly Range[]): Range[] {
  const shared: Range[] = []
  let [at, other] = [0, 0]
  for (;;) {
    const [one, two] = [some[at], others[other]]
    if (!one || !two) return shared
    const range = { from: larger(one.from, two.from), to: smaller(one.to, two.to) }
    if (Buffer.compare(range.from, range.to) < 0) shared.push(range)
    if (Buffer.compare(one.to, two.to) < 0) at += 1
    else other += 1
  }
}

/** The same keys, ascending and without overlaps. */
export function united(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const { from, to } of ranges.toSorted((one, other) => Buffer.compare(one.from, other.from))) {
    const last = result.at(-1)
    if (last && Buffer.compare(from, last.to) < 0) last.to = larger(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** A text whose key is not exact bounds by what is certain of it, so that no text is missed. */
function textsComparedWith(comparison: Comparison, text: string): Range {
  const kind = kindRange(kinds.text)
  const key = textKey(orderedPart(text))
  const isUpper = comparison === '$lt' || comparison === '$lte'
  if (!isExactText(text)) return side(comparison, kind, isUpper ? afterAllWith(key) : key)
  return side(comparison, kind, comparison === '$gt' || comparison === '$lte' ? after(key) : key)
}

function side(comparison: Comparison, kind: Range, bound: Buffer): Range {
  return comparison === '$lt' || comparison === '$lte' ? { from: kind.from, to: bound } : { from: bound, to: kind.to }
}

function kindRange(kind: number): Range {
  return { from: Buffer.of(kind), to: Buffer.of(kind + 1) }
}

/** The next key in byte order. */
function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}

/** The first key behind all that begin so. The last byte is a kind or UTF-8, and neither reaches 255. */
function afterAllWith(key: Buffer): Buffer {
  const next = Buffer.from(key)
  next.writeUInt8(next.readUInt8(next.length - 1) + 1, next.length - 1)
  return next
}

function larger(one: Buffer, other: Buffer): Buffer {
  return Buffer.compare(one, other) > 0 ? one : other
}

function smaller(one: Buffer, other: Buffer): Buffer {
  return Buffer.compare(one, other) < 0 ? one : other
}
