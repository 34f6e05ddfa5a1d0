import { requireId } from './names.js'
import { type Document, isPlain } from './values.js'

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
