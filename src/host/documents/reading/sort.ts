import { asQueryFault } from '../filter.js'
import { valueAt } from '../keys.js'
import { bounds, type Effort } from '../meter.js'
import type { Mingo } from '../mingo.js'
import { queryInvalid } from '../store-error.js'
import type { Document } from '../values.js'

/** Field → 1 or -1. */
export type Sort = Readonly<Record<string, 1 | -1>>

/** How much of what is sorted is wanted. `limit` null: all of it. */
export interface Wanted {
  limit: number | null
  offset: number
}

/** A document that was found. */
export interface Candidate {
  document: Document
  version: number
  /** The length of its text. */
  bytes: number
}

/** About as long as sorting takes for each value. */
const stepsOfValue = 50
const maxSortBytes = 64 * 1024 * 1024

/**
 * The first `limit + offset` candidates in the order of a sort; documents with the same value in `_id` order.
 *
 * @throws {StoreError} `query_invalid` when they are larger than 64 MiB together
 */
export async function sorted(
  mingo: Mingo,
  effort: Effort,
  found: AsyncIterable<Candidate>,
  { sort, ...wanted }: Wanted & { sort: Sort },
): Promise<Candidate[]> {
  const fields = Object.keys(sort)
  const top = await topOf(found, wanted, {
    order(kept, mayDrop) {
      const job = () => inOrder(mingo, byId(kept, 1), sort)
      // Comparing lists of lists takes longer than their length says.
      const steps = mayDrop ? kept.length * fields.length * stepsOfValue : Number.POSITIVE_INFINITY
      return steps > bounds.unwatchedSteps ? effort.watch(job, bounds.sortMs) : job()
    },
    isExact: ({ document }) => fields.every((field) => isScalar(valueAt(document, field))),
  })
  if (top === null) throw queryInvalid('This sort needs more than 64 MiB. Set a smaller limit or a filter.')
  return top
}

/** The first `limit + offset` candidates in `_id` order. null when they are larger than 64 MiB together. */
export function inIdOrder(
  found: AsyncIterable<Candidate>,
  wanted: Wanted & { reverse: boolean },
): Promise<Candidate[] | null> {
  return topOf(found, wanted, { order: (kept) => byId(kept, wanted.reverse ? -1 : 1), isExact: () => true })
}

interface Order {
  /** `isExact`: so are all of these. */
  order(kept: Candidate[], isExact: boolean): Candidate[] | Promise<Candidate[]>
  /** Whether the order of two of these never depends on a third one. */
  isExact(candidate: Candidate): boolean
}

/**
 * Sorts whenever twice as many as wanted are there, and drops the rest. One value that is not exact ends that: then all are
 * kept, up to 64 MiB, so that a page of a result begins where the page before ended.
 */
async function topOf(
  found: AsyncIterable<Candidate>,
  { limit, offset }: Wanted,
  { order, isExact }: Order,
): Promise<Candidate[] | null> {
  const most = limit === null ? Number.POSITIVE_INFINITY : limit + offset
  let kept: Candidate[] = []
  let bytes = 0
  let mayDrop = true
  for await (const candidate of found) {
    kept.push(candidate)
    bytes += candidate.bytes
    mayDrop &&= isExact(candidate)
    if (bytes <= maxSortBytes && !(mayDrop && kept.length >= 2 * most)) continue
    kept = (await order(kept, mayDrop)).slice(0, most)
    bytes = kept.reduce((sum, each) => sum + each.bytes, 0)
    if (bytes > maxSortBytes) return null
  }
  return order(kept, mayDrop)
}

/** mingo finds an array equal to its least element, and then orders the two by which it met first. */
function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Date
}

function byId(candidates: readonly Candidate[], direction: 1 | -1): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, id: Buffer.from(candidate.document._id) }))
    .sort((one, other) => direction * Buffer.compare(one.id, other.id))
    .map(({ candidate }) => candidate)
}

/** mingo sorts documents with the same value in the order in which it gets them. */
function inOrder(mingo: Mingo, candidates: readonly Candidate[], sort: Sort): Candidate[] {
  const documents = candidates.map(({ document }) => document)
  const candidateOf = new Map(candidates.map((candidate) => [candidate.document, candidate]))
  const ordered = asQueryFault(() => mingo.sorted(documents, sort))
  return ordered.map((document) => {
    const candidate = candidateOf.get(document)
    if (!candidate) throw new Error('mingo has copied a document to sort it.')
    return candidate
  })
}
