import { AuthError } from '../../../errors.js'
import { parseJson } from '../../../lib/json-object.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { isPlain, maxDepth } from '../../documents/values.js'
import type { Change, QueryTask } from '../../workers/tasks.js'

/** A query as it was sent. Filter, update, document, sort and fields are JSON, or a text of it. */
export interface SentQuery {
  filter?: unknown
  update?: unknown
  replace?: unknown
  delete?: boolean | undefined
  ifVersion?: number | undefined
  sort?: unknown
  fields?: unknown
  limit?: number | undefined
  offset?: number | undefined
  count?: boolean | undefined
  useIndex?: string | undefined
  start?: unknown
  end?: unknown
  reverse?: boolean | undefined
  versions?: boolean | undefined
}

/** Whether the query changes documents. */
export function changesDocuments(sent: SentQuery): boolean {
  return sent.update !== undefined || sent.replace !== undefined || sent.delete === true
}

/** @throws {AuthError} `query_invalid` for parts that do not go together */
export function readQuery(collection: string, sent: SentQuery): QueryTask {
  const change = readChange(sent)
  const { limit, offset, reverse, useIndex, start, end, ifVersion = null } = sent
  const filter = readJson(sent.filter, 'filter')
  if (change !== null && !isPlain(filter)) throw refused('A change needs a filter. {} is every document.')
  if (change !== null && (sent.count || sent.versions)) throw refused('count and versions go with no change.')
  const hasRange = start !== undefined || end !== undefined
  if (hasRange && useIndex === undefined) throw refused('start and end go with useIndex.')
  if (change === null && ifVersion !== null) throw refused('ifVersion goes with a change.')
  return {
    kind: 'query',
    collection,
    filter,
    change,
    ifVersion,
    countOnly: sent.count === true,
    versions: sent.versions === true,
    options: {
      ...{ limit, offset, reverse, useIndex, start, end },
      sort: readJson(sent.sort, 'sort'),
      fields: readFields(sent.fields),
    },
  }
}

function readChange(sent: SentQuery): Change | null {
  const changes: Change[] = [
    ...(sent.update === undefined ? [] : [{ kind: 'update', operations: readJson(sent.update, 'update') } as const]),
    ...(sent.replace === undefined ? [] : [{ kind: 'replace', document: readJson(sent.replace, 'replace') } as const]),
    ...(sent.delete === true ? [{ kind: 'delete' } as const] : []),
  ]
  if (changes.length > 1) throw refused('A query has one of update, replace and delete.')
  return changes[0] ?? null
}

/**
 * A text is JSON, of which nothing is built beyond the bounds.
 *
 * @param name what the message calls it
 * @throws {AuthError} `query_invalid`
 */
export function readJson(value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value
  const isBounded = isWithinBounds(value, { depth: maxDepth + 1, parts: Number.POSITIVE_INFINITY })
  if (!isBounded) throw refused(`${name} nests deeper than ${maxDepth} levels.`)
  const parsed = parseJson(value)
  if (parsed === undefined) throw refused(`${name} is no JSON.`)
  return parsed
}

/** A list of names may be separated by commas. */
function readFields(value: unknown): unknown {
  return typeof value === 'string' && value.trimStart().startsWith('{') ? readJson(value, 'fields') : value
}

const mostNames = 20
const mostCharacters = 60

/** The fields that a filter names, for the audit log. Never a value. */
export function fieldsOf(filter: unknown): string {
  const names = new Set<string>()
  collectFields(filter, names)
  return [...names]
    .slice(0, mostNames)
    .map((name) => name.slice(0, mostCharacters))
    .join(', ')
}

/** The filter nests no deeper than a body or its text may. */
function collectFields(filter: unknown, names: Set<string>): void {
  if (!isPlain(filter)) return
  for (const [name, value] of Object.entries(filter)) {
    if (!name.startsWith('$')) names.add(name)
    else if (Array.isArray(value)) for (const each of value) collectFields(each, names)
  }
}

function refused(detail: string): AuthError {
  return new AuthError('query_invalid', { detail })
}
