import type { Documents, StoredDocument } from '../ports.js'
import { deepSizeOf } from './deep-size.js'
import { weightOf } from './expressions.js'
import { asQueryFault, type Filter } from './filter.js'
import { unwatched } from './meter.js'
import { isComputed, type Mingo } from './mingo.js'
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
  const { filter, options } = selection
  const { projection } = options
  const isWhole = projection === null || Object.keys(projection).length === 0
  for await (const { document, bytes } of findWhole(ports, selection)) {
    if (isWhole) yield document
    else {
      const steps = weightOf(projection) * bytes
      const projected = filter.effort.perform(() => project(ports.mingo, document, projection), steps)
      const made = projected instanceof Promise ? await projected : projected
      if (isComputed(projection)) {
        const sizes = new WeakMap<object, number>()
        filter.effort.give(deepSizeOf(made, sizes) - deepSizeOf(document, sizes))
      }
      yield made
      if (filter.effort.isDue) await filter.effort.rest()
    }
  }
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
  else if (options.sort !== null)
    yield* await sorted(ports.mingo, filter.effort, found, { ...options, sort: options.sort })
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
  const found = stored && (await filter.effort.perform(() => judged(filter, stored), filter.steps(stored.body.length)))
  if (found) yield found
}

/** Each document once, also when it changes while it is being read, where the index or a write needs that. */
async function* matching(
  { slowScans }: FindPorts,
  { collection, filter, once }: Selection,
  reading: Reading,
): Candidates {
  const seen = new Set<string>()
  const { effort } = filter
  let [rows, matches] = [0, 0]
  let heavy: StoredDocument[] = []
  let [mostHeavy, length] = [1, 0]
  try {
    for await (const row of reading.rows) {
      rows += 1
      if (!reading.isWhole && (once || !reading.isSorted)) {
        if (seen.has(row.id)) continue
        seen.add(row.id)
      }
      const found = effort.attempt(() => judged(filter, row), filter.steps(row.body.length))
      if (found === unwatched) {
        heavy.push(row)
        length += row.body.length
        if (heavy.length < mostHeavy && length < heavyLength) continue
        for await (const each of heavyOnes(filter, heavy)) {
          matches += 1
          yield each
        }
        mostHeavy = Math.min(mostHeavy * 2, mostTogether)
        heavy = []
        length = 0
      } else if (found) {
        matches += 1
        yield found
      }
      if (effort.isDue) await effort.rest()
    }
    for await (const each of heavyOnes(filter, heavy)) {
      matches += 1
      yield each
    }
  } finally {
    if (reading.isWhole) slowScans.note({ collection, criteria: filter.criteria, rows, matches })
  }
}

/** null when it does not match. */
function judged(filter: Filter, { id, version, body }: StoredDocument): Candidate | null {
  const document = decode(id, body)
  return filter.matches(document) ? { document, version, bytes: body.length } : null
}

/** A time limit is dear to set, so there is one for several documents, and one for each when that is not enough. */
const mostTogether = 128
const heavyLength = 256 * 1024

async function* heavyOnes(filter: Filter, rows: readonly StoredDocument[]): Candidates {
  const { effort } = filter
  const all =
    rows.length > 1 ? await effort.watch(() => rows.map((row) => judged(filter, row))).catch(() => null) : null
  if (all !== null) yield* all.filter((each) => each !== null)
  else {
    for (const row of rows) {
      const found = await effort.watch(() => judged(filter, row))
      if (found) yield found
    }
  }
}

function project(mingo: Mingo, document: Document, projection: Readonly<Record<string, unknown>>): Document {
  return asQueryFault(() => mingo.projected(document, projection))
}
