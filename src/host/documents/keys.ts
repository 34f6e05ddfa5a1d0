import { createHash } from 'node:crypto'
import { isWellFormed } from './names.js'
import { isPlain } from './values.js'

/** The first byte of a key. Kinds follow each other as mingo sorts them; values that keys do not model come last. */
export const kinds = {
  missing: 0x10,
  number: 0x20,
  text: 0x30,
  object: 0x40,
  array: 0x50,
  boolean: 0x60,
  date: 0x70,
  unmodelled: 0x7e,
} as const

/** The entries that a document has in an index, without duplicates. */
export interface Keys {
  entries: readonly Buffer[]
  /** The field holds an array. */
  isMultikey: boolean
  /** The entry stands where mingo sorts the document, and equals only entries of values that mingo finds equal. */
  isOrdered: boolean
}

/** Longer texts share the key of their beginning. */
const maxTextBytes = 200
const hashBytes = 16
/** An array with more elements has one entry, which every plan reads, so that no document makes too many. */
const maxElements = 1_000
const unmodelledKey = Buffer.of(kinds.unmodelled)
const missingKey = Buffer.of(kinds.missing, 0)
const nullKey = Buffer.of(kinds.missing, 1)
/** What `valueAt` gives where a path leads into a value that has fields of its class. */
const unmodelledValue: unknown = [[]]

/** Entries of a document in an index on a field, which may be a dotted path. */
export function keysOf(document: Readonly<Record<string, unknown>>, field: string): Keys {
  const value = valueAt(document, field)
  if (Array.isArray(value)) return { entries: arrayEntries(value), isMultikey: true, isOrdered: false }
  const key = value === undefined ? missingKey : keyOf(value)
  return { entries: [key ?? unmodelledKey], isMultikey: false, isOrdered: isOrdered(value) }
}

/** The key of one value, an array as a whole. null for a value that keys do not model. */
export function keyOf(value: unknown): Buffer | null {
  if (value === null) return nullKey
  if (typeof value === 'number') return Number.isNaN(value) ? null : numberKey(kinds.number, value)
  if (typeof value === 'string') return textKey(value)
  if (typeof value === 'boolean') return Buffer.of(kinds.boolean, Number(value))
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : numberKey(kinds.date, value.getTime())
  if (Array.isArray(value)) return hashKey(kinds.array, value)
  // mingo reads the kind of an object from its `constructor`, also when that is a field.
  if (!isPlain(value) || Object.hasOwn(value, 'constructor')) return null
  return hashKey(kinds.object, value)
}

/** The key of a text that is cut at 200 bytes. */
export function textKey(text: string): Buffer {
  // No character has fewer bytes in UTF-8 than UTF-16 has units for it.
  const bytes = Buffer.from(text.slice(0, maxTextBytes))
  return Buffer.concat([Buffer.of(kinds.text), bytes.subarray(0, maxTextBytes)])
}

/**
 * How much of a text mingo and keys order alike: mingo compares UTF-16 units, keys compare UTF-8 bytes, and they differ from
 * the first surrogate or later unit on.
 */
export function orderedPart(text: string): string {
  const end = text.search(/[\ud800-\uffff]/)
  return end === -1 ? text : text.slice(0, end)
}

/** Whether no other text has the key of this one, and mingo orders it alike. At 200 bytes, longer texts share the key. */
export function isExactText(text: string): boolean {
  return Buffer.byteLength(text) < maxTextBytes && orderedPart(text) === text
}

/** Missing and null are one for mingo's sort and two keys here, so an explicit null puts an index out of order. */
function isOrdered(value: unknown): boolean {
  if (typeof value === 'string') return isExactText(value)
  return value === undefined || typeof value === 'number' || typeof value === 'boolean' || value instanceof Date
}

/** One entry an element and one for the whole; the empty array also as null. */
function arrayEntries(values: readonly unknown[]): Buffer[] {
  if (values.length > maxElements || values.some(isNested)) return [unmodelledKey]
  const elements = values.map((each) => keyOf(each) ?? unmodelledKey)
  const entries = [...(values.length === 0 ? [nullKey] : elements), hashKey(kinds.array, values)]
  return [...new Map(entries.map((each) => [each.toString('latin1'), each])).values()]
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** IEEE-754, flipped so that its bytes have the order of the numbers. Adding 0 makes −0 the 0 that it equals. */
function numberKey(kind: number, value: number): Buffer {
  const key = Buffer.alloc(9)
  key.writeUInt8(kind)
  key.writeDoubleBE(value + 0, 1)
  const isNegative = value < 0
  for (const at of key.keys()) {
    if (at > 0) key.writeUInt8(key.readUInt8(at) ^ (isNegative ? 0xff : at === 1 ? 0x80 : 0), at)
  }
  return key
}

/** Collisions cost time, not rows. */
function hashKey(kind: number, value: unknown): Buffer {
  const hash = createHash('sha256').update(canonical(value)).digest()
  return Buffer.concat([Buffer.of(kind), hash.subarray(0, hashBytes)])
}

/** Equal texts for values that mingo finds equal: the order of fields does not count. */
function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Date) return `date ${value.getTime()}`
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isPlain(value)) return String(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/** The value that mingo finds under a path: behind an array, the values of its elements. */
export function valueAt(document: Readonly<Record<string, unknown>>, field: string): unknown {
  return field.includes('.') ? walk(document, field.split('.'), false) : ownField(document, field)
}

function walk(start: unknown, path: readonly string[], isElement: boolean): unknown {
  let value = start
  for (const [at, name] of path.entries()) {
    if (Array.isArray(value) && !/^\d*$/.test(name)) {
      // mingo looks into elements, but not into arrays among them.
      if (at === 0 && isElement) return value
      return value.map((each) => walk(each, path.slice(at), true)).filter((each) => each !== undefined)
    }
    value = Array.isArray(value) ? value[Number(name)] : ownField(value, name)
    if (value === undefined || value === unmodelledValue) return value
  }
  return value
}

function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (!isPlain(value)) return unmodelledValue
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * The key of a document in a unique index: equal for equal values alone. `none` where the field is missing or null, which any
 * number of documents may share. `not_scalar` for an array or an object, which a unique index does not take.
 */
export function uniqueKeyOf(
  document: Readonly<Record<string, unknown>>,
  field: string,
): Buffer | 'none' | 'not_scalar' {
  const value = valueAt(document, field)
  if (value === undefined || value === null) return 'none'
  if (typeof value === 'string') return uniqueTextKey(value)
  const isScalar = typeof value !== 'object' || value instanceof Date
  return (isScalar ? keyOf(value) : null) ?? 'not_scalar'
}

/** The SHA-256 stands behind what the cut, or UTF-8, loses of the text. */
function uniqueTextKey(text: string): Buffer {
  if (Buffer.byteLength(text) <= maxTextBytes && isWellFormed(text)) return textKey(text)
  const hash = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest()
  return Buffer.concat([textKey(text), hash])
}
