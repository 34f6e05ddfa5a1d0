import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Context } from 'mingo'
import { deepSizeOf } from './deep-size.js'
import { boundedAccumulators, boundedExpressions, metered, type Operator, type Operators } from './expressions.js'
import { createRounds, Effort, Meter } from './meter.js'
import { requirePattern, stepsOf } from './patterns.js'
import { StoreError } from './store-error.js'

type Fields = Readonly<Record<string, unknown>>

/** The part of mingo that decides filters, updates, sorting and projections, with operators that count their work. */
export interface Mingo {
  /** A filter. Its tests run within an `Effort`. */
  query(criteria: Fields): { test(document: Fields): boolean }
  /** The documents, sorted or projected. */
  sorted<T extends Fields>(documents: readonly T[], sort: Readonly<Record<string, 1 | -1>>): T[]
  projected<T extends Fields>(document: T, projection: Fields): T
  /** Changes the document. */
  update(document: Fields, modifier: Fields): void
  meter: Meter
  /** What one call may do. */
  newEffort(): Effort
}

/**
 * Loads mingo.
 *
 * @param file its CommonJS build; Node cannot resolve the ES build under the permission model
 * @param nowMs milliseconds of a clock that is never set back
 */
export async function loadMingo(file: string, nowMs: () => number): Promise<Mingo> {
  const load = async (path: string): Promise<unknown> => {
    const { default: loaded }: { default: unknown } = await import(pathToFileURL(join(dirname(file), path)).href)
    return loaded
  }
  const parts = {
    core: await load('core/index.js'),
    query: await load('query.js'),
    updater: await load('updater.js'),
    util: await load('util/index.js'),
    accumulator: operatorsOf(await load('operators/accumulator/index.js')),
    expression: operatorsOf(await load('operators/expression/index.js')),
    projection: operatorsOf(await load('operators/projection/index.js')),
    conditions: operatorsOf(await load('operators/query/index.js')),
  }
  if (!isMingo(parts)) throw new StoreError('store_unavailable', 'The file is not mingo 7.')
  return withBounds(parts, nowMs)
}

/** A condition of a filter, made once for many documents. */
type Condition = (field: string, value: unknown, options: unknown) => (document: unknown) => boolean

interface Query {
  test(document: Fields): boolean
  find<T>(documents: readonly T[], projection?: Fields): Cursor<T>
}

interface Cursor<T> {
  sort(by: Fields): Cursor<T>
  all(): T[]
}

interface Parts {
  core: { Context: typeof Context; evalExpr: Operator }
  query: { Query: new (criteria: Fields, options: object) => Query }
  updater: { update(document: unknown, modifier: unknown, filters: [], condition: object, options: object): unknown }
  util: { resolve(document: unknown, path: string, options: object): unknown }
  accumulator: Operators
  expression: Operators
  projection: Operators
  conditions: Readonly<Record<string, Condition>>
}

function withBounds({ core, query, updater, util, ...operators }: Parts, nowMs: () => number): Mingo {
  const meter = new Meter()
  const rounds = createRounds()
  const contents = {
    accumulator: boundedAccumulators(meter, operators.accumulator),
    expression: boundedExpressions({ meter, evaluate: core.evalExpr }, operators.expression, operators.accumulator),
    projection: operators.projection,
    query: boundedConditions(meter, util, operators.conditions),
  }
  const context: Context = Reflect.apply(core.Context.init, core.Context, [contents])
  // mingo runs no function of a query. Filters with `$where`, `$function` or `$accumulator` never reach it.
  const options = { scriptEnabled: false, context }
  return {
    query: (criteria) => new query.Query(criteria, options),
    sorted: (documents, sort) =>
      new query.Query({}, options)
        .find(documents)
        .sort({ ...sort })
        .all(),
    projected(document, projection) {
      const [projected] = new query.Query({}, options).find([document], meteredFields(projection)).all()
      if (projected !== undefined && isComputed(projection)) meter.hold(deepSizeOf(projected, meter.sizes))
      return projected ?? document
    },
    update(document, modifier) {
      updater.update(document, modifier, [], {}, { cloneMode: 'deep', queryOptions: options })
    },
    meter,
    newEffort: () => new Effort({ meter, rounds, nowMs }),
  }
}

/** Whether a field is more than taken or left out. */
export function isComputed(projection: Fields): boolean {
  return Object.values(projection).some((each) => typeof each === 'string' || typeof each === 'object')
}

function meteredFields(projection: Fields): Fields {
  return Object.fromEntries(Object.entries(projection).map(([name, each]) => [name, metered(each)]))
}

/** Conditions with regular expressions say how long these may take, and `$expr` counts what it does. */
function boundedConditions(meter: Meter, { resolve }: Parts['util'], all: Parts['conditions']): Parts['conditions'] {
  const { $where, $expr, ...others } = all
  const listed = (name: '$in' | '$nin' | '$all'): Condition => {
    return (field, value, options) => {
      const condition = others[name]?.(field, value, options)
      if (!condition) throw new TypeError(`mingo has no ${name}.`)
      const patterns = (Array.isArray(value) ? value : []).filter((each) => each instanceof RegExp)
      if (patterns.length === 0) return condition
      const steps = patterns.map((each) => stepsOf(requirePattern(each)))
      return (document) => {
        const texts = textsOf(resolve(document, field, { unwrapArray: true }))
        for (const { length } of texts) for (const each of steps) meter.expect(each(length))
        return condition(document)
      }
    }
  }
  return {
    ...others,
    $expr: (field, value, options) => $expr?.(field, metered(value), options) ?? (() => false),
    $in: listed('$in'),
    $nin: listed('$nin'),
    $all: listed('$all'),
    $regex(field, value) {
      const pattern = requirePattern(value)
      const steps = stepsOf(pattern)
      return (document) =>
        textsOf(resolve(document, field, { unwrapArray: true })).some((text) => {
          meter.expect(steps(text.length))
          return pattern.test(text)
        })
    },
  }
}

/** The text itself, those of a list, and those of lists in it. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return []
  return value.flat().filter((each) => typeof each === 'string')
}

function operatorsOf(loaded: unknown): Record<string, unknown> {
  const entries = typeof loaded === 'object' && loaded !== null ? Object.entries(loaded) : []
  return Object.fromEntries(entries.filter(([name, each]) => name.startsWith('$') && typeof each === 'function'))
}

function isMingo(parts: Readonly<Record<keyof Parts, unknown>>): parts is Parts {
  const has = (part: unknown, name: string) => typeof part === 'object' && part !== null && name in part
  return (
    ['Context', 'evalExpr'].every((name) => has(parts.core, name)) &&
    has(parts.query, 'Query') &&
    has(parts.updater, 'update') &&
    has(parts.util, 'resolve') &&
    has(parts.conditions, '$expr') &&
    has(parts.expression, '$map')
  )
}
