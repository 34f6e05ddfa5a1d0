import { bounds, charactersOfUnit } from './meter.js'
import { isPlain } from './values.js'

/** In units, without what its parts hold. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length / charactersOfUnit
  if (Array.isArray(value)) return value.length
  return isPlain(value) ? Object.keys(value).length : 0
}

/**
 * In units, with all that its parts hold, and each part as often as it is held: an expression makes values that share parts,
 * and comparing them or writing them as JSON walks each part again. Infinite beyond the bound.
 */
export function deepSizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / charactersOfUnit
  if (typeof value !== 'object' || value === null) return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = Array.isArray(value) ? sizeOfList(value) : sizeOfFields(value)
  sizes.set(value, size)
  return size
}

/** Of what expressions made, and of parts of documents. Nothing changes them. */
const sizes = new WeakMap<object, number>()

function sizeOfList(list: readonly unknown[]): number {
  let size = 1
  for (const each of list) {
    size += deepSizeOf(each)
    if (size > bounds.units) return Number.POSITIVE_INFINITY
  }
  return size
}

function sizeOfFields(record: object): number {
  let size = 1
  for (const [name, each] of Object.entries(record)) {
    size += name.length / charactersOfUnit + deepSizeOf(each)
    if (size > bounds.units) return Number.POSITIVE_INFINITY
  }
  return size
}
