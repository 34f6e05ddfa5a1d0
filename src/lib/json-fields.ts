import { isObject, parseJsonObject } from './json-object.js'

/** The fields of a JSON object, of unknown types. */
export type Fields = Readonly<Record<string, unknown>>

/** A field is missing or has another type. The message names the field and never shows its value. */
export class WrongField extends Error {
  constructor(name: string, expected: string) {
    super(`"${name}" is not ${expected}`)
  }
}

/**
 * Reads a JSON text that we wrote ourselves, but that may come from another version or a changed row. Null when it holds no
 * object, or when a field that `read` asks for is missing or has another type.
 *
 * @example
 * const names = readFields(text, (fields) => textsIn(fields, 'names'))
 */
export function readFields<T>(text: string | null, read: (fields: Fields) => T): T | null {
  const fields = text === null ? null : parseJsonObject(text)
  if (!fields) return null
  try {
    return read(fields)
  } catch (error) {
    if (error instanceof WrongField) return null
    throw error
  }
}

/** @throws {WrongField} */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new WrongField(name, 'a text')
  return value
}

/** @throws {WrongField} */
export function numberIn(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number') throw new WrongField(name, 'a number')
  return value
}

/** @throws {WrongField} */
export function flagIn(fields: Fields, name: string): boolean {
  const value = fields[name]
  if (typeof value !== 'boolean') throw new WrongField(name, 'true or false')
  return value
}

/** @throws {WrongField} */
export function choiceIn<Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === fields[name])
  if (found === undefined) throw new WrongField(name, `one of ${choices.join(', ')}`)
  return found
}

/** @throws {WrongField} */
export function fieldsIn(fields: Fields, name: string): Fields {
  const value = fields[name]
  if (!isObject(value)) throw new WrongField(name, 'an object')
  return value
}

/** @throws {WrongField} */
export function textsIn(fields: Fields, name: string): string[] {
  const value = fields[name]
  if (!Array.isArray(value) || !value.every(isText)) throw new WrongField(name, 'a list of texts')
  return value
}

/** A list of objects, each read by `read`. @throws {WrongField} */
export function listIn<T>(fields: Fields, name: string, read: (item: Fields) => T): T[] {
  const value = fields[name]
  if (!Array.isArray(value) || !value.every(isObject)) throw new WrongField(name, 'a list of objects')
  return value.map(read)
}

/** The field as `read` reads it, or null if its value is null. A missing field is an error. */
export function nullOr<T>(fields: Fields, name: string, read: (fields: Fields, name: string) => T): T | null {
  return fields[name] === null ? null : read(fields, name)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
