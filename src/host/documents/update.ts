import { requirePath, weightOf } from './expressions.js'
import { asQueryFault, readConditions } from './filter.js'
import { bounds, type Meter } from './meter.js'
import type { Mingo } from './mingo.js'
import { requireId } from './names.js'
import { queryInvalid } from './store-error.js'
import { type Document, isPlain, requireShallow } from './values.js'

export interface UpdatePorts {
  mingo: Mingo
  /** Whether a dot in a field's name is part of the name, as on the platform. Otherwise `a.b` is the field b of a. */
  literalDots: boolean
}

/**
 * Applies update operators to a copy of a document. Runs within an `Effort`. Fields beside the operators are set, as on the platform.
 *
 * @param inserted whether the document is new, so that `$setOnInsert` counts
 * @throws {StoreError} `query_invalid` for unknown operators, bad values, and a change of `_id`
 */
export function applyUpdate(
  { mingo, literalDots }: UpdatePorts,
  document: Document,
  { operations, inserted }: { operations: unknown; inserted: boolean },
): Document {
  const modifier = toModifier(operations, document._id, inserted)
  const paths = pathsOf(modifier)
  paths.forEach(requirePath)
  if (paths.some((path) => path.includes(dot))) throw queryInvalid('The update names a field with NUL in its name.')
  const copy = structuredClone(document)
  if (literalDots) return unescapeDots(updated(mingo, escapeDots(copy), escapePaths(modifier)))
  for (const fields of Object.values(modifier)) {
    for (const [path, value] of Object.entries(fields)) {
      requireOwnPath(copy, path.split('.'), { meter: mingo.meter, weight: weightOf(value) })
    }
  }
  for (const path of paths) requireOwnPath(copy, path.split('.'), { meter: mingo.meter, weight: 1 })
  return updated(mingo, copy, modifier)
}

/** About how many steps an update takes. */
export function updateSteps(operations: unknown, document: Document): number {
  return weightOf(operations) * weightOf(document) * stepsOfValue
}

const stepsOfValue = 8

type Modifier = Readonly<Record<string, Record<string, unknown>>>

function updated(mingo: Mingo, document: Document, modifier: Modifier): Document {
  const { _id: id } = document
  asQueryFault(() => mingo.update(document, modifier))
  if (document._id !== id) throw queryInvalid('An update cannot change _id.')
  return document
}

/** The document itself as `$set`, unless all of it is operators. */
function toModifier(operations: unknown, id: string, inserted: boolean): Modifier {
  if (!isPlain(operations)) throw queryInvalid('An update must be an object.')
  requireShallow(operations, 'The update')
  const modifier: Record<string, Record<string, unknown>> = {}
  const set: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(operations)) {
    if (!name.startsWith('$')) set[name] = value
    else if (!isPlain(value)) throw queryInvalid(`${name} takes an object of fields.`)
    else if (name === '$set' || (name === '$setOnInsert' && inserted)) Object.assign(set, value)
    else if (name !== '$setOnInsert' && Object.keys(value).length > 0) modifier[name] = value
  }
  const { $pull: pulled } = modifier
  if (pulled)
    modifier.$pull = Object.fromEntries(Object.entries(pulled).map(([path, each]) => [path, readConditions(each)]))
  // A whole document may be sent back; mingo refuses even an unchanged _id.
  const { _id: sent = id, ...fields } = set
  if (sent !== id) throw queryInvalid('An update cannot change _id.')
  return Object.keys(fields).length === 0 ? modifier : { ...modifier, $set: fields }
}

function pathsOf(modifier: Modifier): string[] {
  return Object.entries(modifier).flatMap(([operator, fields]) => [
    ...Object.keys(fields),
    ...(operator === '$rename' ? Object.values(fields).map(String) : []),
  ])
}

/**
 * Refuses a path through an inherited member, such as `constructor`: mingo walks into it and would write into an object that
 * all values of the process share. Where a value is missing, mingo makes an object; of a list it takes every element. Refuses
 * a position far behind the end of a list, too, since all between would be null. Counts how often a value is copied.
 */
function requireOwnPath(at: unknown, [name, ...rest]: readonly string[], value: Written): void {
  if (name === undefined) return
  if (Array.isArray(at)) requirePosition(at, name, value.meter)
  // mingo writes the last name only into an object or a list, and always as a member of its own.
  if (rest.length === 0) {
    const copies = Array.isArray(at) && !/^\d+$/.test(name) ? at.length : 1
    value.meter.spend(copies * value.weight)
    return
  }
  const holder: unknown = Object(at ?? {})
  if (typeof holder !== 'object' || holder === null) return
  const isOwn = Object.hasOwn(holder, name)
  if (!isOwn && name in holder) throw queryInvalid(`The path of an update cannot pass through ${name}.`)
  if (Array.isArray(holder) && !isOwn) {
    for (const element of holder) requireOwnPath(element, name.startsWith('$') ? rest : [name, ...rest], value)
  }
  requireOwnPath(isOwn ? Reflect.get(holder, name) : {}, rest, value)
}

/** What an update writes under a path. */
interface Written {
  meter: Meter
  weight: number
}

function requirePosition(list: readonly unknown[], name: string, meter: Meter): void {
  if (!/^\d+$/.test(name)) return
  const added = Number(name) - list.length + 1
  if (added > bounds.newPositions) {
    throw queryInvalid(`An update adds at most ${bounds.newPositions} positions to a list. Use $push to append.`)
  }
  meter.spend(Math.max(0, added))
}

/** Stands for a dot that is part of a name. No field has NUL in its name. */
const dot = '\u0000'

function escapeDots(document: Document): Document {
  return { ...renamed(document, (name) => name.replaceAll('.', dot)), _id: document._id }
}

function unescapeDots(document: Document): Document {
  return { ...renamed(document, (name) => name.replaceAll(dot, '.')), _id: document._id }
}

function escapePaths(modifier: Modifier): Modifier {
  const escapeName = (name: string) => name.replaceAll('.', dot)
  return Object.fromEntries(
    Object.entries(modifier).map(([operator, fields]) => {
      const escaped = renamed(fields, escapeName)
      if (operator !== '$rename') return [operator, escaped]
      return [operator, Object.fromEntries(Object.entries(escaped).map(([name, to]) => [name, escapeName(String(to))]))]
    }),
  )
}

function renamed(record: Readonly<Record<string, unknown>>, rename: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [rename(name), value]))
}

/** The document that an upsert begins with: every field that the filter compares for equality. */
export function newDocument(criteria: Readonly<Record<string, unknown>>, newId: () => string): Document {
  const fields = equalities(criteria)
  const { _id: id, ...rest } = fields
  return { _id: id === undefined ? newId() : requireId(id), ...rest }
}

function equalities(criteria: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(criteria)) {
    if (name === '$and' && Array.isArray(value)) Object.assign(fields, ...value.filter(isPlain).map(equalities))
    else if (!name.startsWith('$')) put(fields, name, value)
  }
  return fields
}

function put(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value instanceof RegExp) return
  const isOperators = isPlain(value) && Object.keys(value).some((each) => each.startsWith('$'))
  if (isOperators && !Object.hasOwn(value, '$eq')) return
  setPath(fields, name.split('.'), isOperators ? value.$eq : value)
}

function setPath(at: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) at[name] = value
  else {
    const own = Object.hasOwn(at, name) ? at[name] : undefined
    const inner = isPlain(own) ? own : {}
    at[name] = inner
    setPath(inner, rest, value)
  }
}
