import type { Documents } from '../ports.js'
import { asQueryFault, type Filter } from './filter.js'
import { type Mingo, queryOptions } from './mingo.js'
import { openReading, type Reading, type ReadPorts, readWhole, type WantedRows } from './reading/read.js'
import type { SlowScans } from './reading/slow-scans.js'
import { type Candidate, inIdOrder, type Sort, sorted } from './reading/sort.js'
import { type Document, decode } from './values.js'

export interface FindOptions {
  /** null for the order of `_id`. */
  sort: Sort | null
  /** null for all of them. */
  limit: number | null
  offset: number
  /** Field → 1 or 0, as in MongoDB; null gives whole documents. */
  projection: Readonly<Record<string, unknown>> | null
  /** Descending `_id` order; counts only without `sort`. */
  reverse: boolean
  /** The field whose index is read, if there is one; null for the best one. */
  useIndex: string | null
}

export const everything: FindOptions = {
  sort: null,
  limit: null,
  offset: 0,
  projection: null,
  reverse: false,
  useIndex: null,
}

/** What is looked for: a checked collection, filter and options. */
export interface Selection {
  collection: string
  filter: Filter
  options: FindOptions
  /** Each document comes once, although the caller changes it meanwhile. Takes memory for each `_id`. */
  once?: true
}

export interface FindPorts extends ReadPorts {
  documents: Pick<Documents, 'get' | 'scan'>
  mingo: Mingo
  slowScans: SlowScans
}

type Candidates = AsyncGenerator<Candidate, void, undefined>

/**
 * The documents that match, in order, page by page.
 *
 * @throws {StoreError} `query_invalid` when an operator fails on a document, or a sort without a limit needs more than 64 MiB
 */
export async function* find(ports: FindPorts, selection: Selection): AsyncGenerator<Document, void, undefined> {
  const { projection } = selection.options
  for await (const { document } of findWhole(ports, selection)) yield project(ports.mingo, document, projection)
}

/** As `find`, with the version of each document, and without a projection. */
export async function* findWhole(ports: FindPorts, selection: Selection): Candidates {
  const { limit, offset } = selection.options
  if (limit === 0) return
  let skipped = 0
  let given = 0
  for await (const candidate of candidates(ports, selection)) {
    if (skipped < offset) skipped += 1
    else {
      yield candidate
      given += 1
      if (limit !== null && given >= limit) return
    }
  }
}

/** The first document that matches, in order. null when none does. */
export async function findFirst(ports: FindPorts, selection: Selection): Promise<Document | null> {
  const { value } = await find(ports, { ...selection, options: { ...selection.options, limit: 1 } }).next()
  return value ?? null
}

/** In the order that is wanted. */
async function* candidates(ports: FindPorts, selection: Selection): Candidates {
  const { collection, filter, options } = selection
  if (filter.id !== null) return yield* named(ports, collection, filter, filter.id)
  const wanted = wantedRows(selection)
  const reading = await openReading(ports, wanted)
  const found = matching(ports, selection, reading)
  if (reading.isSorted) yield* found
  else if (options.sort !== null) yield* await sorted(ports.mingo, found, options, options.sort)
  else {
    // The order of `_id`s, which need no index. What is too large for the memory is read in that order.
    const kept = await inIdOrder(found, options)
    yield* kept ?? matching(ports, selection, readWhole(ports, wanted))
  }
}

function wantedRows({ collection, filter, options }: Selection): WantedRows {
  const { sort, useIndex, reverse, limit, offset } = options
  const expected = limit === null ? null : limit + offset
  return { collection, criteria: filter.criteria, sort, useIndex, reverse, expected }
}

async function* named({ documents }: FindPorts, collection: string, filter: Filter, id: string): Candidates {
  const stored = await documents.get(collection, id)
  const document = stored && decode(stored.id, stored.body)
  if (document && filter.matches(document)) yield { document, version: stored.version, bytes: stored.body.length }
}

/** Each document once, also when it changes while it is being read, where the index or a write needs that. */
async function* matching(
  { slowScans }: FindPorts,
  { collection, filter, once }: Selection,
  reading: Reading,
): Candidates {
  const seen = new Set<string>()
  let [rows, matches] = [0, 0]
  try {
    for await (const { id, version, body } of reading.rows) {
      rows += 1
      if (!reading.isWhole && (once || !reading.isSorted)) {
        if (seen.has(id)) continue
        seen.add(id)
      }
      const document = decode(id, body)
      if (!filter.matches(document)) continue
      matches += 1
      yield { document, version, bytes: body.length }
    }
  } finally {
    if (reading.isWhole) slowScans.note({ collection, criteria: filter.criteria, rows, matches })
  }
}

function project(mingo: Mingo, document: Document, projection: FindOptions['projection']): Document {
  if (projection === null || Object.keys(projection).length === 0) return document
  const [projected] = asQueryFault(() => mingo.find<Document>([document], {}, { ...projection }, queryOptions).all())
  return projected ?? document
}
