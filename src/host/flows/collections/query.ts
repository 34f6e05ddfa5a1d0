import { AuthError, storeUnavailable } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { parseJson } from '../../../lib/json-object.js'
import type { Visitor } from '../../../model/visitor.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { isPlain, maxDepth } from '../../documents/values.js'
import type { SpaceRecord } from '../../store/spaces.js'
import type { Job } from '../../workers/job.js'
import type { Change, QueryTask } from '../../workers/tasks.js'
import { visitorIn } from '../spaces/find-space.js'
import { requireDisk, toFault } from '../spaces/store-faults.js'
import { findCollection, type NamedCollection } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

/** Rows of JSON, each with its line end, or how many documents there were. */
type QueryPart = string | { end: { count: number } }

/**
 * Runs a query. A fault before the first row rejects; a later one ends the rows.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `query_invalid`, `not_current`, `already_exists`, `quota_exceeded`,
 *   `space_busy`, `busy`, `store_unavailable`
 */
export async function queryCollection(
  ports: CollectionPorts,
  named: NamedCollection,
  sent: SentQuery,
): Promise<AsyncIterable<QueryPart>> {
  const { space, data } = await findCollection(ports, named)
  const task = readQuery(named.collection, sent)
  if (task.change !== null) requireDisk(ports.files)
  const job = await ports.workers.start({ id: space.id, data }, task)
  if (task.change !== null) return partsOf([await changed(ports, job, { space, task, visitor: named.visitor })])
  const first = await nextPart(job)
  return rowsFrom(job, first)
}

async function* partsOf(parts: readonly QueryPart[]): AsyncGenerator<QueryPart> {
  yield* parts
}

/** Runs to its end, and records what was changed even when it ends early. */
async function changed(
  ports: CollectionPorts,
  job: Job,
  of: { space: SpaceRecord; task: QueryTask; visitor: Visitor },
): Promise<QueryPart> {
  const end = await nextPart(job).catch(async (error: unknown) => {
    await record(ports, job, { ...of, outcome: 'failure' })
    throw withCount(error, job.written())
  })
  await record(ports, job, { ...of, outcome: 'success' })
  return end
}

/** What was changed before a fault stays changed. */
function withCount(error: unknown, count: number): unknown {
  if (!(error instanceof AuthError) || count === 0) return error
  const documents = count === 1 ? '1 document was' : `${count} documents were`
  const why = error.message.endsWith('.') ? error.message : `${error.message}.`
  return new AuthError(error.code, { ...error.details, detail: `${why} Before that, ${documents} changed.` })
}

async function record(
  ports: CollectionPorts,
  job: Job,
  of: { space: SpaceRecord; task: QueryTask; visitor: Visitor; outcome: 'success' | 'failure' },
): Promise<void> {
  const { space, task, visitor, outcome } = of
  const count = job.written()
  if (count === 0) return
  const change = task.change?.kind ?? 'none'
  const detail = { collection: task.collection, change, count, fields: fieldsOf(task.filter) }
  const event = auditEvent(ports, 'data_written', visitorIn(space, visitor), { outcome, detail })
  await ports.audit.record(event)
}

/** After the last part the worker has ended. @throws {AuthError} */
async function nextPart(job: Job): Promise<QueryPart> {
  try {
    const event = await job.next()
    if (event.kind === 'rows') return event.text
    await job.stop()
    if (event.kind === 'count') return { end: { count: event.count } }
    throw storeUnavailable()
  } catch (error) {
    await job.stop()
    throw toFault(error)
  }
}

/** A reader that leaves ends the worker at once, also while it waits for a row. */
function rowsFrom(job: Job, first: QueryPart): AsyncIterable<QueryPart> {
  let next: QueryPart | null = first
  let isOver = false
  const end = { done: true, value: undefined } as const
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (isOver) return end
        const value = next ?? (await nextPart(job))
        next = null
        isOver = typeof value !== 'string'
        return { done: false, value }
      },
      async return() {
        isOver = true
        await job.stop()
        return end
      },
    }),
  }
}

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
function readQuery(collection: string, sent: SentQuery): QueryTask {
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
function fieldsOf(filter: unknown): string {
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
