import { isObject, parseJson } from '../../lib/json-object.js'
import type { Query } from '../collection-calls.js'
import { usage } from '../tool-error.js'
import { conditionIn, decoded, splitList } from './condition.js'
import { joinConditions } from './join-conditions.js'

const optionNames = ['sort', 'fields', 'omit', 'limit', 'offset'] as const
type OptionName = (typeof optionNames)[number]
type OptionsIn = Partial<Record<OptionName, string>>

/**
 * Reads a query in the URL language of codehooks, or a filter in JSON.
 *
 * @throws {ToolError} usage, for every text that is neither
 * @example readQuery('age>23&sort=-age') // { filter: { age: { $gt: 23 } }, sort: { age: -1 } }
 * @example readQuery('{"name":"Ally"}') // { filter: { name: 'Ally' } }
 */
export function readQuery(text: string): Query {
  if (text.trimStart().startsWith('{')) return { filter: readJsonObject(text, 'The query') }
  const parts = text
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => part !== '')
  const options: OptionsIn = {}
  const conditions = parts.flatMap((part) => {
    const option = optionIn(part)
    if (option === null) return [conditionIn(part)]
    if (options[option.name] !== undefined) throw usage(`The query has ${option.name} twice.`)
    options[option.name] = option.value
    return []
  })
  return { filter: joinConditions(conditions), ...readOptions(options) }
}

/** @throws {ToolError} usage */
export function readJsonObject(text: string, what: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text)
  if (!isObject(value)) throw usage(`${what} is no JSON object: ${shortened(text)}`)
  return value
}

/**
 * Sort, fields, limit and offset as the URL language and the options of a command write them.
 *
 * @throws {ToolError} usage
 */
export function readOptions({ sort, fields, omit, limit, offset }: OptionsIn): Query {
  if (fields !== undefined && omit !== undefined) throw usage('fields and omit exclude each other.')
  const chosen = fields ?? omit
  return {
    ...(sort !== undefined && { sort: readSort(sort) }),
    ...(chosen !== undefined && { fields: readFields(chosen, fields === undefined ? 0 : 1) }),
    ...(limit !== undefined && { limit: readCount(limit, 'limit') }),
    ...(offset !== undefined && { offset: readCount(offset, 'offset') }),
  }
}

function optionIn(part: string): { name: OptionName; value: string } | null {
  const end = part.indexOf('=')
  const name = optionNames.find((each) => each === part.slice(0, end))
  return end === -1 || name === undefined ? null : { name, value: decoded(part.slice(end + 1)) }
}

function readSort(text: string): NonNullable<Query['sort']> {
  const entries = namesIn(text, 'sort').map((name): [string, 1 | -1] => {
    const [, sign = '', field = ''] = /^([-+]?)\s*(.*)$/s.exec(name) ?? []
    return [requireName(field, 'sort'), sign === '-' ? -1 : 1]
  })
  return Object.fromEntries(entries)
}

function readFields(text: string, value: 0 | 1): NonNullable<Query['fields']> {
  return Object.fromEntries(namesIn(text, 'fields').map((name) => [requireName(name, 'fields'), value]))
}

function namesIn(text: string, option: string): string[] {
  const names = splitList(text).map((name) => name.trim())
  if (names.length === 0) throw usage(`${option} names no field.`)
  return names
}

function requireName(name: string, option: string): string {
  if (name === '' || name === '__proto__') throw usage(`${option} names no field: "${name}"`)
  return name
}

function readCount(text: string, option: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw usage(`${option} takes a whole number from 0 on, not "${shortened(text)}".`)
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
