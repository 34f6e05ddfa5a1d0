import { asQueryFault, readConditions } from './filter.js'
import { type Mingo, queryOptions } from './mingo.js'
import { queryInvalid } from './store-error.js'
import { type Document, isPlain, requireShallow } from './values.js'

export interface UpdatePorts {
  mingo: Mingo
  /** Whether a dot in a field's name is part of the name, as on the platform. Otherwise `a.b` is the field b of a. */
  literalDots: boolean
}

/**
 * Applies update operators to a copy of a document. Fields beside the operators are set, as on the platform.
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
  if (paths.some((path) => path.includes(dot))) throw queryInvalid('The update names a field with NUL in its name.')
  const copy = structuredClone(document)
  if (literalDots) return unescapeDots(updated(mingo, escapeDots(copy), escapePaths(modifier)))
  for (const path of paths) requireOwnPath(copy, path.split('.'))
  return updated(mingo, copy, modifier)
}

type Modifier = Readonly<Record<string, Record<string, unknown>>>

function updated(mingo: Mingo, document: Document, modifier: Modifier): Document {
  const { _id: id } = document
  asQueryFault(() => mingo.update(document, modifier, [], {}, { cloneMode: 'deep', queryOptions }))
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
 * all values of the process share. Where a value is missing, mingo makes an object; of a list it takes every element.
 */
function requireOwnPath(at: unknown, [name, ...rest]: readonly string[]): void {
  // mingo writes the last name only into an object or a list, and always as a member of its own.
  if (name === undefined || rest.length === 0) return
  const holder: unknown = Object(at ?? {})
  if (typeof holder !== 'object' || holder === null) return
  const isOwn = Object.hasOwn(holder, name)
  if (!isOwn && name in holder) throw queryInvalid(`The path of an update cannot pass through ${name}.`)
  if (Array.isArray(holder) && !isOwn) {
    for (const element of holder) requireOwnPath(element, name.startsWith('$') ? rest : [name, ...rest])
  }
  requireOwnPath(isOwn ? Reflect.get(holder, name) : {}, rest)
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
