import type { Documents } from '../ports.js'
import { asQueryFault, type Filter } from './filter.js'
import { type Mingo, queryOptions } from './mingo.js'
import { queryInvalid } from './store-error.js'
import { type Document, decode } from './values.js'

/** Field → 1 or -1. */
export type Sort = Readonly<Record<string, 1 | -1>>

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
}

export const everything: FindOptions = { sort: null, limit: null, offset: 0, projection: null, reverse: false }

/** What is looked for: a checked collection, filter and options. */
export interface Selection {
  collection: string
  filter: Filter
  options: FindOptions
}

export interface FindPorts {
  documents: Pick<Documents, 'get' | 'scan'>
  mingo: Mingo
}

/** How many documents a page of a scan holds at most. */
const pageSize = 1_000
const maxSortBytes = 64 * 1024 * 1024

/** What a sort keeps: the document, and the length of its text. */
interface Candidate {
  document: Document
  bytes: number
}

/**
 * The documents that match, in order, page by page.
 *
 * @throws {StoreError} `query_invalid` when an operator fails on a document, or a sort without a limit needs more than 64 MiB
 */
export async function* find(ports: FindPorts, selection: Selection): AsyncGenerator<Document, void, undefined> {
  const { limit, offset, sort, projection } = selection.options
  if (limit === 0) return
  const found = sort === null ? matching(ports, selection) : sorted(ports, selection, sort)
  let skipped = 0
  let given = 0
  for await (const { document } of found) {
    if (skipped < offset) skipped += 1
    else {
      yield project(ports.mingo, document, projection)
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

async function* matching(
  { documents }: FindPorts,
  { collection, filter, options: { reverse } }: Selection,
): AsyncGenerator<Candidate, void, undefined> {
  if (filter.id !== null) {
    const stored = await documents.get(collection, filter.id)
    const document = stored && decode(stored.id, stored.body)
    if (document && filter.matches(document)) yield { document, bytes: stored.body.length }
    return
  }
  let after: string | null = null
  do {
    const page = await documents.scan(collection, { after, reverse, limit: pageSize })
    for (const { id, body } of page.documents) {
      const document = decode(id, body)
      if (filter.matches(document)) yield { document, bytes: body.length }
    }
    after = page.next
  } while (after !== null)
}

/** Keeps the top `limit + offset` of what was read so far, by sorting whenever twice as many are there. */
async function* sorted(ports: FindPorts, selection: Selection, sort: Sort): AsyncGenerator<Candidate, void, undefined> {
  const { limit, offset } = selection.options
  const most = limit === null ? Number.POSITIVE_INFINITY : limit + offset
  let kept: Candidate[] = []
  let bytes = 0
  for await (const candidate of matching(ports, { ...selection, options: { ...selection.options, reverse: false } })) {
    kept.push(candidate)
    bytes += candidate.bytes
    if (kept.length < 2 * most && bytes <= maxSortBytes) continue
    kept = inOrder(ports.mingo, kept, sort).slice(0, most)
    bytes = kept.reduce((sum, each) => sum + each.bytes, 0)
    if (bytes > maxSortBytes) throw queryInvalid('This sort needs more than 64 MiB. Set a smaller limit or a filter.')
  }
  yield* inOrder(ports.mingo, kept, sort)
}

/** Stable, so equal documents stay in `_id` order. */
function inOrder(mingo: Mingo, candidates: readonly Candidate[], sort: Sort): Candidate[] {
  const documents = candidates.map(({ document }) => document)
  const bytesOf = new Map(candidates.map(({ document, bytes }) => [document, bytes]))
  const ordered = asQueryFault(() =>
    mingo
      .find<Document>(documents, {}, {}, queryOptions)
      .sort({ ...sort })
      .all(),
  )
  return ordered.map((document) => ({ document, bytes: bytesOf.get(document) ?? 0 }))
}

function project(mingo: Mingo, document: Document, projection: FindOptions['projection']): Document {
  if (projection === null || Object.keys(projection).length === 0) return document
  const [projected] = asQueryFault(() => mingo.find<Document>([document], {}, { ...projection }, queryOptions).all())
  return projected ?? document
}
