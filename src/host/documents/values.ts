import { queryInvalid } from './store-error.js'

/** A document as application code sees it. */
export type Document = Record<string, unknown> & { _id: string }

/** A plain object: no array, no date, no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** How deep documents, filters and updates may nest. */
export const maxDepth = 32

/** @throws {StoreError} `query_invalid` when it nests deeper than 32 levels, or a field is `__proto__` or has NUL in its name */
export function requireShallow(value: unknown, what: string, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw queryInvalid(`${what} nests deeper than ${maxDepth} levels.`)
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw queryInvalid(`${what} names __proto__, which is not a field.`)
    if (name.includes('\0')) throw queryInvalid(`${what} has a field with NUL in its name.`)
    requireShallow(Reflect.get(value, name), what, depth + 1)
  }
}

/**
 * A document as text. Dates are `{"$date": "…"}`, so that they come back as dates.
 *
 * @throws {StoreError} `query_invalid` when JSON cannot hold it
 */
export function encode(document: Readonly<Record<string, unknown>>): string {
  requireShallow(document, 'The document')
  try {
    return JSON.stringify(toStored(document))
  } catch (error) {
    throw queryInvalid('The document holds a value that JSON cannot hold.', error)
  }
}

/** As `encode`, for a document from `JSON.parse`, which holds no dates. @throws {StoreError} `query_invalid` */
export function encodeParsed(document: Readonly<Record<string, unknown>>): string {
  requireShallow(document, 'The document')
  return JSON.stringify(document)
}

/** `JSON.stringify` turns dates to text before a replacer sees them, so they are replaced first. */
function toStored(value: unknown): unknown {
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (Array.isArray(value)) return value.map(toStored)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toStored(each)]))
}

/** @throws {StoreError} `query_invalid` when the text is no object, which the store never holds */
export function decode(id: string, body: string): Document {
  // A reviver makes parsing several times slower, so only the texts that need it get one.
  const value: unknown = body.includes('"$date"') ? JSON.parse(body, (_, each) => reviveDate(each)) : JSON.parse(body)
  if (!isPlain(value)) throw queryInvalid('A stored document is no object.')
  return { ...value, _id: id }
}

/** The date of `{ "$date": text or milliseconds }`, else the value itself. */
export function reviveDate(value: unknown): unknown {
  if (!isPlain(value) || !Object.hasOwn(value, '$date') || Object.keys(value).length !== 1) return value
  const { $date: sent } = value
  if (typeof sent !== 'string' && typeof sent !== 'number') return value
  const date = new Date(sent)
  return Number.isNaN(date.getTime()) ? value : date
}
