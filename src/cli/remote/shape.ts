import { type Fields, fieldsIn, flagIn, nullOr, numberIn, textIn, WrongField } from '../../lib/json-fields.js'
import { isObject } from '../../lib/json-object.js'

/**
 * What the tool checks in an answer. Words of a list count as any text, because a newer server may have more of them. `fact`:
 * a text, a number, true or false. `open`: fields that the contract does not name are kept.
 */
export type Shape =
  | 'any'
  | 'fact'
  | 'flag'
  | 'number'
  | 'text'
  | { list: Shape }
  | { map: Shape }
  | { orNull: Shape }
  | { fields: Readonly<Record<string, Shape>>; open?: true }

/**
 * Reads a value of a field. A field that the shape does not name is left out, and a field that may be null is null where it is
 * missing.
 *
 * @throws {WrongField}
 */
export function readShape(shape: Shape, fields: Fields, name: string): unknown {
  if (shape === 'any') return fields[name]
  if (shape === 'text') return textIn(fields, name)
  if (shape === 'number') return numberIn(fields, name)
  if (shape === 'flag') return flagIn(fields, name)
  if (shape === 'fact') return factIn(fields, name)
  if ('orNull' in shape) {
    return fields[name] === undefined ? null : nullOr(fields, name, () => readShape(shape.orNull, fields, name))
  }
  if ('list' in shape) return listOf(shape.list, fields[name], name)
  const value = fieldsIn(fields, name)
  if ('map' in shape) return mapOf(Object.keys(value), value, () => shape.map)
  const named = mapOf(Object.keys(shape.fields), value, (field) => shape.fields[field] ?? 'any')
  return shape.open ? { ...value, ...named } : named
}

function listOf(shape: Shape, value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw new WrongField(name, 'a list')
  const isOfObjects = typeof shape === 'object' && 'fields' in shape
  if (isOfObjects && !value.every(isObject)) throw new WrongField(name, 'a list of objects')
  return value.map((item: unknown) => readShape(shape, { [name]: item }, name))
}

function mapOf(names: readonly string[], value: Fields, shapeOf: (name: string) => Shape): Fields {
  return Object.fromEntries(names.map((name) => [name, readShape(shapeOf(name), value, name)]))
}

function factIn(fields: Fields, name: string): unknown {
  const value = fields[name]
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new WrongField(name, 'a fact')
}

/** The fields of an entry to read. `or null`: an older server may leave it out. A table of its own: those of each entry of its list. */
export interface Only {
  readonly [name: string]: true | 'or null' | Only
}

/** The shape with only these fields of its entries, or of itself where it is no list. */
export function narrowed(shape: Shape, only: Only): Shape {
  if (typeof shape !== 'object') return shape
  if ('list' in shape) return { list: narrowed(shape.list, only) }
  if (!('fields' in shape)) return shape
  const { fields } = shape
  const { items } = fields
  if (items !== undefined) return { fields: { ...fields, items: narrowed(items, only) } }
  // In the order of `only`, which is that of the JSON that the tool prints.
  const kept = Object.entries(only).flatMap(([name, how]): [string, Shape][] => {
    const field = fields[name]
    if (how === 'or null') return [[name, { orNull: field ?? 'any' }]]
    if (field === undefined) return []
    return [[name, how === true ? field : narrowed(field, how)]]
  })
  return { fields: Object.fromEntries(kept) }
}
