import { AuthError, storeUnavailable } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import type { SpaceRecord } from '../../store/spaces.js'
import type { Job } from '../../workers/job.js'
import type { QueryTask } from '../../workers/tasks.js'
import { visitorIn } from '../spaces/find-space.js'
import { requireDisk, toFault } from '../spaces/store-faults.js'
import { findCollection, type NamedCollection } from './find-collection.js'
import type { CollectionPorts } from './ports.js'
import { fieldsOf, readQuery, type SentQuery } from './read-query.js'

/** Rows of JSON, each with its line end, or how many documents there were. */
export type QueryPart = string | { end: { count: number } }

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
