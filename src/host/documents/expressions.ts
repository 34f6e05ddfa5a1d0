import { deepSizeOf, sizeOf } from './deep-size.js'
import { bounds, charactersOfUnit, type Meter } from './meter.js'
import { requirePattern, stepsOf } from './patterns.js'
import { queryInvalid } from './store-error.js'
import { isPlain } from './values.js'

/** An operator of mingo: of an expression, or an accumulator, whose value is a list. */
export type Operator = (value: unknown, expression: unknown, options: unknown) => unknown
export type Operators = Readonly<Record<string, Operator>>

export interface Expressions {
  meter: Meter
  /** mingo's own. */
  evaluate: Operator
}

/** Makes a list of a field in each element. Each such path of an expression becomes one, so that it is counted. */
const pathOperator = '$latchkeyPath'
/** The part of an expression that runs for each element of a list. */
const eachOperator = '$latchkeyEach'

/** They give a value that is there already. */
const passing = new Set(
  '$literal $let $cond $switch $ifNull $arrayElemAt $first $last $getField $max $min $reduce'.split(' '),
)
/** What they make is as large as all that they get. */
const joining = new Set(
  '$concat $concatArrays $setUnion $setIntersection $setDifference $setEquals $setIsSubset $mergeObjects'.split(' '),
)
/** They walk all that their arguments hold. */
const comparing = new Set('$eq $ne $gt $gte $lt $lte $cmp $in $indexOfArray $toHashedIndexKey'.split(' '))
/** Accumulators that do so. */
const sorting = new Set('$max $min $maxN $minN $top $topN $bottom $bottomN $addToSet $median $percentile'.split(' '))
/** The argument that runs for each element. */
const iterating: Readonly<Record<string, string>> = { $map: 'in', $filter: 'cond', $reduce: 'in' }
/** They look for each character of one text in another. */
const trims = new Set(['$trim', '$ltrim', '$rtrim'])
/** They run code of the query. */
const refused = new Set(['$function', '$accumulator', '$where'])

/** The operators of expressions, each of which counts its work and the size of what it makes. */
export function boundedExpressions(expressions: Expressions, all: Operators, accumulators: Operators): Operators {
  const { meter } = expressions
  const bounded = Object.entries(all).flatMap(([name, operator]): [string, Operator][] => {
    if (refused.has(name)) return []
    const run = boundedBefore(expressions, name, operator)
    const isAccumulator = Object.hasOwn(accumulators, name)
    const isPassing = passing.has(name) || joining.has(name)
    const counted: Operator = (value, expression, options) => {
      meter.spend(isAccumulator && Array.isArray(value) ? 1 + value.length * weightOf(expression) : 1)
      const made = run(value, expression, options)
      if (!isPassing) meter.spend(sizeOf(made))
      meter.hold(deepSizeOf(made, meter.sizes))
      return made
    }
    return [[name, counted]]
  })
  return { ...Object.fromEntries(bounded), ...ownOperators(expressions) }
}

/** An accumulator runs its expression for each element of a list. */
export function boundedAccumulators(meter: Meter, all: Operators): Operators {
  const bounded = Object.entries(all).flatMap(([name, operator]): [string, Operator][] => {
    if (refused.has(name)) return []
    const counted: Operator = (value, expression, options) => {
      meter.spend(1 + sizeOf(value) * weightOf(expression))
      if (sorting.has(name)) {
        requireComparable(meter, value)
        if (expression !== null) meter.expect(Number.POSITIVE_INFINITY)
      }
      const made = operator(value, expression, options)
      meter.spend(sizeOf(made))
      meter.hold(deepSizeOf(made, meter.sizes))
      return made
    }
    return [[name, counted]]
  })
  return Object.fromEntries(bounded)
}

/** An expression whose dotted paths are counted. The same object gives the same result. */
export function metered(expression: unknown): unknown {
  if (typeof expression === 'string') return isDottedPath(expression) ? { [pathOperator]: expression } : expression
  if (Array.isArray(expression)) return expression.map(metered)
  if (!isPlain(expression) || unread.some((name) => Object.hasOwn(expression, name))) return expression
  return Object.fromEntries(Object.entries(expression).map(([name, each]) => [name, metered(each)]))
}

/** What they hold is no expression. */
const unread = ['$literal', '$elemMatch', pathOperator]

function isDottedPath(text: string): boolean {
  if (!text.startsWith('$') || !text.includes('.')) return false
  requirePath(text)
  return true
}

/** @throws {StoreError} `query_invalid` for a path that no document can have */
export function requirePath(path: string): void {
  if (path.length > bounds.pathNames && path.split('.').length > bounds.pathNames) {
    throw queryInvalid(`A path has more than ${bounds.pathNames} names.`)
  }
}

function ownOperators({ meter, evaluate }: Expressions): Operators {
  return {
    [pathOperator](value, path, options) {
      const found = evaluate(value, path, options)
      if (Array.isArray(found)) meter.spend(found.length)
      return found
    },
    [eachOperator](value, body, options) {
      meter.spend(weightOf(body))
      const made = evaluate(value, body, options)
      meter.hold(deepSizeOf(made, meter.sizes))
      return made
    },
  }
}

/** What can make more than it gets is judged before it runs. */
function boundedBefore(expressions: Expressions, name: string, operator: Operator): Operator {
  const { meter, evaluate } = expressions
  if (joining.has(name)) {
    return (value, expression, options) => {
      const inputs = evaluate(value, expression, options)
      if (Array.isArray(inputs)) for (const each of inputs) meter.spend(sizeOf(each))
      requireComparable(meter, inputs)
      return operator(value, Array.isArray(expression) ? literals(inputs) : literal(inputs), options)
    }
  }
  const walking = walkingAll(expressions, name, operator)
  if (walking) return walking
  const body = iterating[name]
  if (body !== undefined) {
    const counted = createCache((expression) => withCountedBody(expression, body))
    return (value, expression, options) => operator(value, counted(expression), options)
  }
  if (name === '$range') {
    return (value, expression, options) => {
      const inputs = evaluate(value, expression, options)
      requireRange(meter, inputs)
      return operator(value, literals(inputs), options)
    }
  }
  if (name === '$zip' || name === '$replaceAll' || trims.has(name)) {
    return (value, expression, options) => {
      if (!isPlain(expression)) return operator(value, expression, options)
      const inputs = Object.entries(expression).map(([key, each]): [string, unknown] => [
        key,
        evaluate(value, each, options),
      ])
      judge(meter, name, Object.fromEntries(inputs))
      // mingo reads the flag of $zip as it was written.
      const given = inputs.map(([key, each]) => [key, key === 'useLongestLength' ? each : literal(each)])
      return operator(value, Object.fromEntries(given), options)
    }
  }
  const isSearch = name === '$regexMatch' || name === '$regexFind' || name === '$regexFindAll'
  return isSearch ? searching(expressions, name, operator) : operator
}

/** What walks all that a value holds, or gives it a name, so that it can be repeated. */
function walkingAll({ meter, evaluate }: Expressions, name: string, operator: Operator): Operator | null {
  if (comparing.has(name)) {
    return (value, expression, options) => {
      const inputs = evaluate(value, expression, options)
      requireComparable(meter, inputs)
      return operator(value, Array.isArray(expression) ? literals(inputs) : literal(inputs), options)
    }
  }
  if (name === '$sortArray') {
    return (value, expression, options) => {
      if (!isPlain(expression)) return operator(value, expression, options)
      const input = evaluate(value, expression.input, options)
      requireComparable(meter, input)
      return operator(value, { ...expression, input: literal(input) }, options)
    }
  }
  if (name === '$let') {
    return (value, expression, options) => {
      if (!isPlain(expression) || !isPlain(expression.vars)) return operator(value, expression, options)
      const vars = Object.entries(expression.vars).map(([key, each]) => {
        const bound = evaluate(value, each, options)
        meter.hold(deepSizeOf(bound, meter.sizes))
        return [key, literal(bound)]
      })
      return operator(value, { ...expression, vars: Object.fromEntries(vars) }, options)
    }
  }
  // mingo makes a regular expression of the format of a date.
  if (sorting.has(name) || name === '$dateFromString') {
    return (value, expression, options) => {
      meter.expect(Number.POSITIVE_INFINITY)
      return operator(value, expression, options)
    }
  }
  return null
}

/** A value that shares its parts is small until it is walked. */
function requireComparable(meter: Meter, value: unknown): void {
  const size = deepSizeOf(value, meter.sizes)
  meter.hold(size)
  meter.expect(size)
}

function withCountedBody(expression: unknown, body: string): unknown {
  if (!isPlain(expression) || !Object.hasOwn(expression, body)) return expression
  return { ...expression, [body]: { [eachOperator]: metered(expression[body]) } }
}

function requireRange(meter: Meter, inputs: unknown): void {
  const [start, end, step = 1] = Array.isArray(inputs) ? inputs : []
  if (![start, end, step].every((each) => Number.isSafeInteger(each))) {
    throw queryInvalid('$range takes two or three whole numbers, not beyond 2^53.')
  }
  meter.spend(Math.max(0, Math.ceil((end - start) / step)))
}

function judge(meter: Meter, name: string, inputs: Readonly<Record<string, unknown>>): void {
  if (name === '$zip') meter.spend(zippedSize(inputs.inputs))
  else if (name === '$replaceAll') meter.spend(replacedSize(inputs))
  else meter.expect(lengthOf(inputs.input) * lengthOf(inputs.chars))
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0
}

function zippedSize(inputs: unknown): number {
  if (!Array.isArray(inputs)) return 0
  return inputs.length * inputs.reduce((most: number, each) => Math.max(most, sizeOf(each)), 0)
}

function replacedSize({ input, find, replacement }: Readonly<Record<string, unknown>>): number {
  const times = lengthOf(input) / Math.max(1, lengthOf(find)) + 1
  return (lengthOf(input) + times * lengthOf(replacement)) / charactersOfUnit
}

/** mingo does not get on behind an empty match, and compiles any pattern. */
function searching({ meter, evaluate }: Expressions, name: string, operator: Operator): Operator {
  return (value, expression, options) => {
    const given = evaluate(value, expression, options)
    const { input, regex, options: flags } = isPlain(given) ? given : {}
    const isPattern = typeof regex === 'string' || regex instanceof RegExp
    const pattern = isPattern || typeof input === 'string' ? requirePattern(regex, flags) : null
    if (typeof input === 'string' && pattern !== null) {
      meter.expect(stepsOf(pattern)(input.length))
      meter.spend(input.length / charactersOfUnit)
      if (name === '$regexFindAll') return findAll(meter, pattern, input)
    }
    const fixed = { input: literal(input), regex: literal(regex), ...(flags === undefined ? {} : { options: flags }) }
    return operator(value, fixed, options)
  }
}

function findAll(meter: Meter, pattern: RegExp, input: string): unknown[] {
  const found: unknown[] = []
  for (const match of input.matchAll(new RegExp(pattern, `${pattern.flags.replaceAll(/[gy]/g, '')}g`))) {
    meter.spend(match.length)
    found.push({ match: match[0], idx: match.index, captures: match.slice(1).map((each) => each || null) })
  }
  return found
}

/** How many values an expression or a filter has. */
export function weightOf(expression: unknown): number {
  return typeof expression === 'object' && expression !== null ? weights(expression) : 1
}

const weights = createCache((expression) => {
  let weight = 1
  for (const each of Object.values(expression)) weight += weightOf(each)
  return weight
})

function createCache<T>(make: (expression: object) => T): (expression: unknown) => T {
  const known = new WeakMap<object, T>()
  return (expression) => {
    const key = Object(expression)
    const made = known.get(key) ?? make(key)
    known.set(key, made)
    return made
  }
}

/** An expression with this value. mingo reads numbers, booleans and texts that name no path faster as they are. */
function literal(value: unknown): unknown {
  const isOwn =
    typeof value === 'string' ? !value.startsWith('$') : typeof value === 'number' || typeof value === 'boolean'
  return isOwn ? value : { $literal: value }
}

function literals(values: unknown): unknown {
  return Array.isArray(values) ? values.map(literal) : literal(values)
}
