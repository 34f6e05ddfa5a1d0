import type { Collections } from '../../documents/collections.js'
import { compileFilter } from '../../documents/filter.js'
import { requireDocument } from '../../documents/insert.js'
import type { Mingo } from '../../documents/mingo.js'
import { queryInvalid, StoreError } from '../../documents/store-error.js'
import { applyUpdate, updateSteps } from '../../documents/update.js'
import { type Document, decode, encode } from '../../documents/values.js'
import type { Documents } from '../../ports.js'
import { readFindOptions } from '../../runner/datastore/query-options.js'
import type { Change, QueryTask } from '../tasks.js'

export interface QueryPorts {
  collections: Collections
  documents: Documents
  mingo: Mingo
  literalDots: boolean
  /** Takes rows, each with its line end, when they are wanted. */
  report(text: string): Promise<void>
}

/** Rows wait for each other until they are this much, so that few messages carry them. */
const batch = { characters: 64 * 1024, rows: 500 }

/**
 * Runs a query, and returns how many documents it found or changed.
 *
 * @throws {StoreError} `query_invalid`, `not_current`, and what the ports throw
 */
export async function runQuery(ports: QueryPorts, task: QueryTask): Promise<number> {
  const { collections } = ports
  const { collection, filter, change, ifVersion } = task
  if (ifVersion !== null) return changeVersion(ports, task, ifVersion)
  const options = readFindOptions(task.options)
  if (change?.kind === 'update') return collections.updateMany(collection, filter, change.operations, options)
  if (change?.kind === 'replace') return collections.replaceMany(collection, filter, change.document, options)
  if (change?.kind === 'delete') return collections.removeMany(collection, filter, options)
  return task.countOnly ? count(ports, task) : giveRows(ports, task)
}

async function count({ collections }: QueryPorts, { collection, filter, options }: QueryTask): Promise<number> {
  let found = 0
  for await (const _ of collections.find(collection, filter, { ...readFindOptions(options), projection: null })) {
    found += 1
  }
  return found
}

async function giveRows(ports: QueryPorts, { collection, filter, options, versions }: QueryTask): Promise<number> {
  const chosen = readFindOptions(options)
  if (versions && chosen.projection) throw queryInvalid('versions gives whole documents, so it takes no fields.')
  let waiting: string[] = []
  let characters = 0
  let given = 0
  const flush = async () => {
    const text = waiting.join('')
    waiting = []
    characters = 0
    if (text !== '') await ports.report(text)
  }
  const rows = versions
    ? versionRows(ports.collections.findVersions(collection, filter, chosen))
    : textsOf(ports.collections.find(collection, filter, chosen))
  for await (const row of rows) {
    waiting.push(`${row}\n`)
    characters += row.length
    given += 1
    if (characters >= batch.characters || waiting.length >= batch.rows) await flush()
  }
  await flush()
  return given
}

async function* textsOf(found: AsyncIterable<Document>): AsyncGenerator<string> {
  for await (const document of found) yield encode(document)
}

async function* versionRows(found: AsyncIterable<{ document: Document; version: number }>): AsyncGenerator<string> {
  for await (const { document, version } of found) yield `{"version":${version},"document":${encode(document)}}`
}

/** Changes one document if it still has the version that the caller has read. */
async function changeVersion(ports: QueryPorts, task: QueryTask, version: number): Promise<number> {
  const { collection, change } = task
  const { id, criteria, effort } = compileFilter(ports.mingo, task.filter)
  if (id === null || Object.keys(criteria).length !== 1 || change === null) {
    throw queryInvalid('ifVersion goes with a change of one document. Name its _id in the filter, and nothing else.')
  }
  const { documents } = ports
  const stored = await documents.get(collection, id)
  if (stored?.version !== version) throw new StoreError('not_current', 'The document changed since it was read.')
  if (change.kind === 'delete') await documents.remove(collection, id, version)
  else {
    const document = decode(id, stored.body)
    const steps = change.kind === 'replace' ? 0 : updateSteps(change.operations, document)
    const body = encode(await effort.perform(() => changed(ports, document, change), steps))
    await documents.put(collection, id, body, version)
  }
  return 1
}

function changed(
  { mingo, literalDots }: QueryPorts,
  document: Document,
  change: Exclude<Change, { kind: 'delete' }>,
): Document {
  if (change.kind === 'replace') return { ...requireDocument(change.document), _id: document._id }
  return applyUpdate({ mingo, literalDots }, document, { operations: change.operations, inserted: false })
}
