import { requirePath, weightOf } from './expressions.js'
import { type Effort, unwatched } from './meter.js'
import type { Mingo } from './mingo.js'
import { requirePattern } from './patterns.js'
import { queryInvalid, StoreError } from './store-error.js'
import { isPlain, maxDepth, reviveDate } from './values.js'

/** A filter that was checked and compiled. */
export interface Filter {
  /** Runs within `effort`. */
  matches(document: Readonly<Record<string, unknown>>): boolean
  /** About how many steps that takes, for a document of this many characters. */
  steps(length: number): number
  /** What the call with this filter may do. */
  effort: Effort
  /** The checked filter as mingo reads it. */
  criteria: Readonly<Record<string, unknown>>
  /** The one `_id` that can match; null when the filter does not name it. */
  id: string | null
}

/** Operators that run code of the query. */
const refused = new Set(['$where', '$function', '$accumulator'])

/**
 * @param sent what the application or crudlify passes; `undefined` and null match everything
 * @throws {StoreError} `query_invalid`
 */
export function compileFilter(mingo: Mingo, sent: unknown): Filter {
  const criteria = toCriteria(sent ?? {})
  const query = asQueryFault(() => mingo.query(criteria))
  const weight = weightOf(criteria) + expressionWeight(criteria) * expressionFactor
  const { _id: id } = criteria
  return {
    matches(document) {
      mingo.meter.begin()
      return asQueryFault(() => query.test(document))
    },
    steps: (length) => weight * length,
    effort: mingo.newEffort(),
    criteria,
    id: typeof id === 'string' ? id : null,
  }
}

/** An expression visits a document more often than other conditions. */
const expressionFactor = 16

function expressionWeight(criteria: unknown): number {
  if (typeof criteria !== 'object' || criteria === null) return 0
  return Object.entries(criteria).reduce(
    (sum, [name, each]) => sum + (name === '$expr' ? weightOf(each) : expressionWeight(each)),
    0,
  )
}

/** Faults of mingo are faults of the query. */
export function asQueryFault<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof StoreError || error === unwatched) throw error
    throw queryInvalid(error instanceof Error ? error.message : 'The query cannot be read.', error)
  }
}

/** Conditions of a filter, or of `$pull`: a copy with dates and ids read, and with the two operators that mingo does not know. */
export function readConditions(conditions: unknown): unknown {
  return read(conditions, 0)
}

function toCriteria(sent: unknown): Record<string, unknown> {
  const criteria = readConditions(sent)
  if (!isPlain(criteria)) throw queryInvalid('A filter must be an object.')
  return criteria
}

function read(value: unknown, depth: number): unknown {
  if (depth > maxDepth) throw queryInvalid(`The filter nests deeper than ${maxDepth} levels.`)
  if (Array.isArray(value)) return value.map((each) => read(each, depth + 1))
  if (value instanceof RegExp) return asQueryFault(() => requirePattern(value, withoutState(value.flags)))
  if (!isPlain(value)) return value
  const only = Object.keys(value).length === 1
  if (only && typeof value.$oid === 'string') return value.$oid
  if (only && Object.hasOwn(value, '$date')) return readDate(value)
  const entries = Object.entries(value).filter(([name]) => name !== '$startsWith' && name !== '$endsWith')
  const copy = entries.map(([name, each]): [string, unknown] => [requireName(name), read(each, depth + 1)])
  const { $options: flags } = value
  const stateless = typeof flags === 'string' ? { $options: withoutState(flags) } : {}
  const { $regex: pattern } = value
  // Before anything else compiles it.
  if (typeof pattern === 'string') asQueryFault(() => requirePattern(pattern, stateless.$options))
  else if (pattern instanceof RegExp)
    asQueryFault(() => requirePattern(pattern, stateless.$options ?? withoutState(pattern.flags)))
  return { ...Object.fromEntries(copy), ...stateless, ...textEnds(value) }
}

/** With these flags a match depends on the text that was matched before. MongoDB has neither. */
function withoutState(flags: string): string {
  return flags.replaceAll(/[gy]/g, '')
}

function requireName(name: string): string {
  if (refused.has(name)) throw queryInvalid(`${name} is not supported: queries run no code.`)
  requirePath(name)
  if (name.split('.').includes('__proto__')) throw queryInvalid('A filter cannot name __proto__.')
  return name
}

function readDate(value: Record<string, unknown>): unknown {
  const date = reviveDate(value)
  if (!(date instanceof Date)) throw queryInvalid('$date needs a date and time, such as 2026-01-31T12:00:00Z.')
  return date
}

/** `$startsWith` and `$endsWith` as one regular expression, since a field has one `$regex`. */
function textEnds(value: Record<string, unknown>): Record<string, unknown> {
  const { $startsWith: start, $endsWith: end } = value
  if (start === undefined && end === undefined) return {}
  if (Object.hasOwn(value, '$regex')) throw queryInvalid('$regex cannot stand beside $startsWith or $endsWith.')
  for (const text of [start, end]) {
    if (text !== undefined && typeof text !== 'string') throw queryInvalid('$startsWith and $endsWith take a text.')
  }
  return { $regex: new RegExp(`^${ahead('', start)}${ahead('[^]*', end, '$')}`) }
}

function ahead(before: string, text: unknown, after = ''): string {
  if (text === undefined) return ''
  return `(?=${before}${String(text).replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}${after})`
}
