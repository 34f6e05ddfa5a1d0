import {
  comparedWith,
  comparisons,
  equalTo,
  intersection,
  present,
  type Range,
  startingWith,
  united,
  unmodelled,
  whole,
} from './ranges.js'
import { isPlain } from './values.js'

/** An index on one field, and what its documents have in common. */
export interface Index {
  field: string
  /** A document has an array in this field. */
  isMultikey: boolean
  /** The entries of all documents are ordered, as `Keys` says. */
  isOrdered: boolean
}

/** A find that is to be planned. */
export interface Wanted {
  /** Of a checked filter. */
  criteria: Readonly<Record<string, unknown>>
  sort: Readonly<Record<string, 1 | -1>> | null
  /** The field whose index the caller wants; null for the best one. It counts only when there is such an index. */
  useIndex: string | null
}

/** How to read an index instead of all documents. A document may have several entries in the ranges. */
export interface Plan {
  field: string
  /** Each of them reaches every document that matches, so the reader takes the one with the fewest entries. They ascend. */
  choices: readonly (readonly Range[])[]
  /** The index sorts, as 1 or -1: by key, with equal keys in ascending order of `_id`. null when the reader has to sort. */
  order: 1 | -1 | null
}

/** How much of an index a condition leaves, from little to much. */
const widths = { points: 0, between: 1, oneSided: 2, sorted: 3, present: 4, whole: 5 } as const

interface Condition {
  ranges: readonly Range[]
  width: number
}

interface Candidate {
  plan: Plan
  width: number
}

/** More values of `$in` make no range. */
const maxRanges = 1_000

/** The index to read for a find. null when reading all documents is better. A plan may reach too much, never too little. */
export function plan(indexes: readonly Index[], wanted: Wanted): Plan | null {
  const named = indexes.find(({ field }) => field === wanted.useIndex)
  if (named) return candidateOf(named, wanted).plan
  const [best] = indexes
    .map((index) => candidateOf(index, wanted))
    .filter(({ width }) => width < widths.whole)
    .sort(
      (one, other) => one.width - other.width || Number(other.plan.order !== null) - Number(one.plan.order !== null),
    )
  return best?.plan ?? null
}

function candidateOf(index: Index, { criteria, sort }: Wanted): Candidate {
  const conditions = conditionsOn(criteria, index.field)
  const order = index.isOrdered && !index.isMultikey ? directionOf(sort, index.field) : null
  const width = Math.min(widthOf(conditions, index.isMultikey), order === null ? widths.whole : widths.sorted)
  return { plan: { field: index.field, choices: choicesOf(conditions, index.isMultikey), order }, width }
}

/** Different elements of an array may fulfil different conditions, so a multikey index reads by one of them only. */
function choicesOf(conditions: readonly Condition[], isMultikey: boolean): Range[][] {
  const lists = conditions.map(({ ranges }) => ranges)
  const [first, ...others] = lists
  if (!first) return [[whole]]
  const choices = isMultikey ? lists : [others.reduce((shared, each) => intersection(shared, each), first)]
  return choices.map((each) => [...each, unmodelled])
}

function widthOf(conditions: readonly Condition[], isMultikey: boolean): number {
  const least = Math.min(widths.whole, ...conditions.map(({ width }) => width))
  const oneSided = conditions.filter(({ width }) => width === widths.oneSided)
  return least === widths.oneSided && oneSided.length > 1 && !isMultikey ? widths.between : least
}

/** null when something else than this field sorts. */
function directionOf(sort: Wanted['sort'], field: string): 1 | -1 | null {
  const [first, ...others] = Object.entries(sort ?? {})
  return first && others.length === 0 && first[0] === field ? first[1] : null
}

/** Conditions that every match fulfils. */
function conditionsOn(criteria: Readonly<Record<string, unknown>>, field: string): Condition[] {
  return Object.entries(criteria).flatMap(([name, value]) => {
    if (name === field) return conditionsOf(value)
    if (name !== '$and' || !Array.isArray(value)) return []
    return value.filter(isPlain).flatMap((each) => conditionsOn(each, field))
  })
}

function conditionsOf(value: unknown): Condition[] {
  if (value instanceof RegExp) return operatorCondition('$regex', value, undefined)
  // As mingo tells operators from an object to equal.
  const isOperators = isPlain(value) && Object.keys(value).some((name) => /^\$\w+$/.test(name))
  if (!isOperators) return operatorCondition('$eq', value, undefined)
  return Object.entries(value).flatMap(([name, operand]) => operatorCondition(name, operand, value.$options))
}

/** None for an operator that makes no range. */
function operatorCondition(name: string, operand: unknown, flags: unknown): Condition[] {
  if (name === '$eq') return conditionOf([equalTo(operand)], widths.points)
  if (name === '$in') return Array.isArray(operand) ? inCondition(operand) : []
  if (name === '$exists') return operand === true ? conditionOf([present], widths.present) : []
  if (name === '$regex') {
    const text = anchoredText(operand, flags)
    return text === '' ? [] : conditionOf([startingWith(text)], widths.between)
  }
  const comparison = comparisons.find((each) => each === name)
  return comparison ? conditionOf([comparedWith(comparison, operand)], widths.oneSided) : []
}

/** mingo lets `undefined` in a list match objects, so such a list makes no range. */
function inCondition(values: readonly unknown[]): Condition[] {
  if (values.length > maxRanges || values.includes(undefined)) return []
  return conditionOf(values.map(equalTo), widths.points)
}

/** None when one of the ranges cannot be told. */
function conditionOf(ranges: readonly (Range | null)[], width: number): Condition[] {
  const known = ranges.filter((each) => each !== null)
  return known.length === ranges.length ? [{ ranges: united(known), width }] : []
}

/**
 * The text that every match of a regular expression begins with, as far as it can be read without understanding the whole:
 * `^text`, or `^(?=text)`, into which `$startsWith` is translated. Empty when the expression has no such beginning.
 */
function anchoredText(pattern: unknown, flags: unknown): string {
  const expression = compiled(pattern, flags)
  if (expression === null || expression.ignoreCase || expression.multiline) return ''
  const { source } = expression
  // An alternative may begin with another text.
  if (source.replaceAll(/\\./gs, '').includes('|')) return ''
  const [start = '', literal = ''] =
    /^\^(?:\(\?=)?((?:[^\\^$.*+?()[\]{}|\ud800-\uffff]|\\[^\w\s\u0080-\uffff])*)/.exec(source) ?? []
  const rest = source.slice(start.length)
  // A look-ahead counts only when it is all literal and not repeated.
  if (start.startsWith('^(?=') && !/^\)(?![*+?{])/.test(rest)) return ''
  const text = literal.replaceAll(/\\(.)/gs, '$1')
  return /^[*+?{]/.test(rest) ? text.slice(0, -1) : text
}

function compiled(pattern: unknown, flags: unknown): RegExp | null {
  if (flags !== undefined && typeof flags !== 'string') return null
  return typeof pattern === 'string' || pattern instanceof RegExp ? new RegExp(pattern, flags) : null
}
