import type { Documents, Indexes, IndexScan, IndexState, ScanPage, StoredDocument } from '../../ports.js'
import { type Plan, plan, type Wanted } from '../plan.js'
import { pointsOf, type Range } from '../ranges.js'
import { isStoreError, StoreError } from '../store-error.js'
import type { IndexLists } from './index-builder.js'

export interface ReadPorts {
  documents: Pick<Documents, 'scan'>
  indexes: Pick<Indexes, 'scan'>
  indexLists: IndexLists
}

export interface WantedRows extends Wanted {
  collection: string
  /** Descending `_id` order; counts only without `sort`. */
  reverse: boolean
  /** About how many documents the caller takes; null for all. */
  expected: number | null
}

/** A superset of the documents that are wanted. */
export interface Reading {
  rows: AsyncGenerator<StoredDocument, void, undefined>
  /** The rows come in the order that is wanted. Otherwise the caller sorts them, and takes each of them once. */
  isSorted: boolean
  /** No index was of use. */
  isWhole: boolean
}

const maxPlans = 3
/** Equal keys of a few values are read side by side, in order of `_id`. */
const maxMerged = 8
/** The store takes 2,500 ranges in a scan. */
const maxRanges = 2_500
const fewestRows = 16

/** Opens the cheapest reading: through an index, else of all documents. */
export async function openReading(ports: ReadPorts, wanted: WantedRows): Promise<Reading> {
  const { indexLists, indexes } = ports
  const { collection } = wanted
  const mayPlan = wanted.sort !== null || wanted.useIndex !== null || Object.keys(wanted.criteria).length > 0
  for (let attempt = 0; mayPlan && attempt < maxPlans; attempt += 1) {
    const ready = (await indexLists.of(collection)).filter(({ state }) => state === 'ready')
    const found = plan(ready, wanted)
    const seen = ready.find(({ field }) => field === found?.field)
    if (!found || !seen) break
    const scan = scanOf(found, seen)
    const first = await firstPage(indexes, collection, { ...scan, after: null, limit: firstSize(wanted) })
    if (first) return readingOf(ports, wanted, { found, scan, first })
    indexLists.forget(collection)
  }
  return readWhole(ports, wanted)
}

/** All documents, in order of `_id`. */
export function readWhole({ documents }: Pick<ReadPorts, 'documents'>, wanted: WantedRows): Reading {
  return { rows: wholeRows(documents, wanted), isSorted: wanted.sort === null, isWhole: true }
}

async function* wholeRows(documents: Pick<Documents, 'scan'>, wanted: WantedRows): Reading['rows'] {
  const reverse = wanted.sort === null && wanted.reverse
  let after: string | null = null
  let limit = firstSize(wanted)
  do {
    const page: ScanPage = await documents.scan(wanted.collection, { after, reverse, limit })
    yield* page.documents
    after = page.next
    limit = pageSize
  } while (after !== null)
}

/** A sort in memory takes all rows. */
function firstSize({ expected, sort }: WantedRows): number {
  return expected === null || sort !== null ? pageSize : Math.min(pageSize, Math.max(expected, fewestRows))
}

/** null when the index is not what the list said. */
async function firstPage(
  indexes: Pick<Indexes, 'scan'>,
  ...input: Parameters<Indexes['scan']>
): Promise<ScanPage | null> {
  try {
    return await indexes.scan(...input)
  } catch (error) {
    if (isStoreError(error, 'plan_outdated')) return null
    throw error
  }
}

interface Opened {
  found: Plan
  scan: OpenScan
  first: ScanPage
}

function readingOf({ indexes }: ReadPorts, wanted: WantedRows, { found, scan, first }: Opened): Reading {
  const { collection, sort, reverse } = wanted
  const points = found.choices.length === 1 ? allPoints(found.choices[0] ?? []) : null
  if (sort === null && !reverse && first.next !== null && points !== null) {
    const scans = points.map((each) => ({ ...scan, choices: [hexOf([each])] }))
    return { rows: mergedRows(indexes, collection, scans), isSorted: true, isWhole: false }
  }
  const rows = indexRows(indexes, collection, { scan, first })
  return { rows, isSorted: sort !== null && found.order !== null, isWhole: false }
}

/** null when there are too many keys to read them side by side. */
function allPoints(choice: readonly Range[]): Range[] | null {
  const points = choice.map(pointsOf)
  const known = points.filter((each) => each !== null).flat()
  return points.includes(null) || known.length > maxMerged ? null : known
}

function scanOf({ field, choices, order }: Plan, { isMultikey, isOrdered }: IndexState): OpenScan {
  const taken: OpenScan['choices'][number][] = []
  let count = 0
  for (const choice of choices) {
    count += choice.length
    if (taken.length === 0 || count <= maxRanges) taken.push(hexOf(choice))
  }
  return { field, choices: taken, order, seen: { isMultikey, isOrdered } }
}

function hexOf(ranges: readonly Range[]): OpenScan['choices'][number] {
  return ranges.map(({ from, to }) => ({ from: from.toString('hex'), to: to.toString('hex') }))
}

/** A scan without its place and length. */
type OpenScan = Omit<IndexScan, 'after' | 'limit'>

type Rows = AsyncGenerator<StoredDocument, void, undefined>

/** How many documents a page holds at most. */
const pageSize = 1_000

/** The documents that an index leads to, from a page on that was read already. */
async function* indexRows(
  indexes: Pick<Indexes, 'scan'>,
  collection: string,
  { scan, first }: { scan: OpenScan; first: ScanPage },
): Rows {
  let page = first
  for (;;) {
    yield* page.documents
    if (page.next === null) return
    page = await laterPage(indexes, collection, { ...scan, after: page.next, limit: pageSize })
  }
}

/** The documents of several scans, each of which is in order of `_id`, in that order and each of them once. */
async function* mergedRows(indexes: Pick<Indexes, 'scan'>, collection: string, scans: readonly OpenScan[]): Rows {
  const opened = scans.map((scan) => pagesOf(indexes, collection, scan))
  const heads = await Promise.all(opened.map(async (rows) => ({ rows, head: await rows.next() })))
  let last: Buffer | null = null
  for (;;) {
    const living = heads.flatMap((each) => (each.head.done ? [] : [{ each, row: each.head.value }]))
    const [least] = living.sort((one, other) => Buffer.compare(idOf(one.row), idOf(other.row)))
    if (!least) return
    if (last === null || Buffer.compare(idOf(least.row), last) > 0) yield least.row
    last = idOf(least.row)
    least.each.head = await least.each.rows.next()
  }
}

async function* pagesOf(indexes: Pick<Indexes, 'scan'>, collection: string, scan: OpenScan): Rows {
  const first = await laterPage(indexes, collection, { ...scan, after: null, limit: pageSize })
  yield* indexRows(indexes, collection, { scan, first })
}

function idOf({ id }: StoredDocument): Buffer {
  return Buffer.from(id)
}

/** The caller may have used earlier rows, so it is too late for another plan. */
async function laterPage(indexes: Pick<Indexes, 'scan'>, collection: string, scan: IndexScan): Promise<ScanPage> {
  try {
    return await indexes.scan(collection, scan)
  } catch (error) {
    if (!isStoreError(error, 'plan_outdated')) throw error
    throw new StoreError('store_unavailable', 'An index changed while this query was reading it. Try again.', error)
  }
}
