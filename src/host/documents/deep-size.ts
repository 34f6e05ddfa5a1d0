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
export function deepSizeOf(value: unknown, sizes: Sizes): number {
  if (typeof value === 'string') return 1 + value.length / charactersOfUnit
  if (typeof value !== 'object' || value === null) return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = Array.isArray(value) ? sizeOfList(value, sizes) : sizeOfFields(value, sizes)
  sizes.set(value, size)
  return size
}

/** The sizes that are known, of values that nothing changes as long as they are kept here. */
export type Sizes = WeakMap<object, number>

function sizeOfList(list: readonly unknown[], sizes: Sizes): number {
  let size = 1
  for (const each of list) {
    size += deepSizeOf(each, sizes)
    if (size > bounds.units) return Number.POSITIVE_INFINITY
  }
  return size
}

function sizeOfFields(record: object, sizes: Sizes): number {
  let size = 1
  for (const [name, each] of Object.entries(record)) {
    size += name.length / charactersOfUnit + deepSizeOf(each, sizes)
    if (size > bounds.units) return Number.POSITIVE_INFINITY
  }
  return size
}
