import { usage } from '../tool-error.js'
import { typedText } from './typed-text.js'

/** What one parameter of a query says of a field: `age>23` is `{ field: 'age', operator: '$gt', value: 23 }`. */
export interface Condition {
  field: string
  /** Of MongoDB, `$eq` for equality; or the name of a field within this one. */
  operator: string
  value: unknown
}

const maxDepth = 32
const form = /^(!?)([^><!=:]+)(?:(:[^=&]+=|[><]=?|!=|=)(.*))?$/s
const comparisons: Readonly<Record<string, string>> = { '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte' }

/** @throws {ToolError} usage, for a parameter that is no condition */
export function conditionIn(part: string): Condition {
  const [, negation, name, sign, text = ''] = form.exec(part) ?? []
  if (name === undefined) throw unreadable(part)
  const { field, within } = fieldsIn(decoded(name), part)
  const condition =
    negation === '!' || sign === undefined ? existence(field, part, sign) : compared(field, sign, text, part)
  return within.length === 0 ? condition : nested(condition, within)
}

/** Values with commas between, outside of quotes. Empty ones are left out. */
export function splitList(text: string): string[] {
  const items = ['']
  let quote: string | null = null
  for (const character of text) {
    const item = items.at(-1) ?? ''
    if (quote === null && character === ',') items.push('')
    else items[items.length - 1] = item + character
    if (character === quote) quote = null
    else if (quote === null && item === '' && (character === '"' || character === "'")) quote = character
  }
  return items.filter((item) => item !== '')
}

/** @throws {ToolError} usage, for a `%` that begins no escape */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw usage(`The query has a % that begins no escape: ${text.slice(0, 80)}`, 'Write % as %25.')
  }
}

function existence(field: string, part: string, sign: string | undefined): Condition {
  // `!age>23` says nothing that could be meant.
  if (sign !== undefined) throw unreadable(part)
  return { field, operator: '$exists', value: !part.startsWith('!') }
}

function compared(field: string, sign: string, text: string, part: string): Condition {
  const isNegated = sign === '!=' || (sign === '=' && text.startsWith('!'))
  const value = sign === '=' && isNegated ? text.slice(1) : text
  if (value === '' && (sign === '=' || sign === '!=')) return { field, operator: '$exists', value: !isNegated }
  if (value === '') throw unreadable(part)
  if (sign.startsWith(':')) return { field, operator: `$${decoded(sign.slice(1, -1))}`, value: typedValues(value) }
  const comparison = comparisons[sign]
  if (comparison !== undefined) return { field, operator: comparison, value: typedValue(value) }
  return equality(field, value, isNegated)
}

function equality(field: string, text: string, isNegated: boolean): Condition {
  const pattern = patternIn(decoded(text))
  if (pattern !== null) {
    return isNegated ? { field, operator: '$not', value: pattern } : { field, operator: '$regex', value: pattern }
  }
  const values = listOf(text)
  if (values.length === 1) return { field, operator: isNegated ? '$ne' : '$eq', value: values[0] }
  return { field, operator: isNegated ? '$nin' : '$in', value: values }
}

/** `/^po/i` as MongoDB writes it. Null: no pattern. @throws {ToolError} usage */
function patternIn(text: string): Readonly<Record<string, string>> | null {
  const [, source, flags = ''] = /^\/(.*)\/(i?)$/s.exec(text) ?? []
  if (source === undefined) return null
  try {
    new RegExp(source, flags)
  } catch {
    throw usage(`The query has a pattern that is no regular expression: ${text.slice(0, 80)}`)
  }
  return { $regex: source, ...(flags !== '' && { $options: flags }) }
}

function typedValues(text: string): unknown {
  const values = listOf(text)
  return values.length === 1 ? values[0] : values
}

function listOf(text: string): unknown[] {
  return splitList(text).map(typedValue)
}

/** A text in quotes stays text. */
function typedValue(text: string): unknown {
  const value = decoded(text)
  const [, quote, inner] = /^(["'])(.*)\1$/s.exec(value) ?? []
  if (quote === undefined || inner === undefined) return typedText(value)
  return inner.replaceAll(`\\${quote}`, quote)
}

/** `addr[city]` is the field `addr` with `city` within; `tag[]` is `tag`. */
function fieldsIn(name: string, part: string): { field: string; within: string[] } {
  const [, field = name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/s.exec(name) ?? []
  const within = [...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, inner = '']) => inner).filter((inner) => inner !== '')
  if (within.length > maxDepth || [field, ...within].includes('__proto__')) throw unreadable(part)
  return { field, within }
}

function nested({ field, operator, value }: Condition, [first = '', ...rest]: readonly string[]): Condition {
  const innermost = operator === '$eq' ? value : { [operator]: value }
  return { field, operator: first, value: rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), innermost) }
}

function unreadable(part: string) {
  return usage(
    `The query cannot be read at: ${part.slice(0, 80)}`,
    'Write it as name=Ally&age>23, or as a filter in JSON.',
  )
}
