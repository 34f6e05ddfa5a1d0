import type { ChosenOptions } from '../../documents/collections.js'
import type { FindOptions } from '../../documents/find.js'
import { requireField } from '../../documents/names.js'
import { queryInvalid } from '../../documents/store-error.js'
import { isPlain } from '../../documents/values.js'

/** The names of options. An object of these names alone is the form of codehooks-js 1.1 and before. */
const optionNames = new Set([
  'filter',
  'hints',
  'limit',
  'offset',
  'sort',
  'fields',
  'useIndex',
  'startIndex',
  'endIndex',
  'reverse',
])

/** Whether a value is `{ filter, hints, limit, … }` where a filter or update operators are expected. */
export function isOldForm(value: unknown): value is Record<string, unknown> {
  if (!isPlain(value) || !Object.keys(value).every((name) => optionNames.has(name))) return false
  return isPlain(value.filter) || isPlain(value.hints)
}

/** The options of `getMany`, of crudlify and of the URL's `h`, which name the same things differently. */
export function readFindOptions(options: unknown): ChosenOptions {
  const given = isPlain(options) ? options : {}
  const hints = isPlain(given.hints) ? given.hints : {}
  const limit = given.limit ?? hints.limit ?? hints.$limit
  const offset = given.offset ?? hints.offset ?? hints.skip ?? hints.$offset
  const sort = given.sort ?? hints.sort ?? hints.$sort
  const fields = given.fields ?? hints.fields ?? hints.$fields ?? hints.projection ?? given.projection
  return {
    limit: limit === undefined || limit === null ? null : countOf(limit, 'limit'),
    offset: offset === undefined || offset === null ? 0 : countOf(offset, 'offset'),
    projection: readFields(fields),
    ...readOrder(given, readSort(sort)),
  }
}

/** With `useIndex` alone, rows come in the order of that field, and `reverse` turns it. */
function readOrder(given: Record<string, unknown>, sort: FindOptions['sort']): ChosenOptions {
  const reverse = given.reverse === true || given.reverse === 'true'
  const { useIndex } = given
  if (useIndex === undefined || useIndex === null || useIndex === '_id') return { sort, reverse }
  const field = requireField(useIndex)
  const bounds = { start: given.startIndex ?? given.start, end: given.endIndex ?? given.end }
  return { useIndex: field, sort: sort ?? { [field]: reverse ? -1 : 1 }, reverse, ...bounds }
}

function countOf(value: unknown, name: string): number {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count
  throw queryInvalid(`${name} must be a whole number from 0 on.`)
}

function readSort(sort: unknown): FindOptions['sort'] {
  if (sort === undefined || sort === null) return null
  if (!isPlain(sort)) throw queryInvalid('sort must be an object of fields with 1 or -1.')
  const entries = Object.entries(sort).map(([name, direction]): [string, 1 | -1] => {
    if (Number(direction) === 1) return [name, 1]
    if (Number(direction) === -1) return [name, -1]
    throw queryInvalid('sort takes 1 or -1 for each field.')
  })
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

function readFields(fields: unknown): FindOptions['projection'] {
  if (fields === undefined || fields === null) return null
  if (isPlain(fields)) return fields
  if (typeof fields !== 'string') throw queryInvalid('fields must be an object or a list of names.')
  return Object.fromEntries(fields.split(',').map((name) => [name.trim(), 1]))
}
