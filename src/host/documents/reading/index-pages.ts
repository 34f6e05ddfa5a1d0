import type { Indexes, IndexScan, ScanPage, StoredDocument } from '../../ports.js'
import { isStoreError, StoreError } from '../store-error.js'

/** A scan without its place and length. */
export type OpenScan = Omit<IndexScan, 'after' | 'limit'>

type Rows = AsyncGenerator<StoredDocument, void, undefined>

/** How many documents a page holds at most. */
export const pageSize = 1_000

/** The documents that an index leads to, from a page on that was read already. */
export async function* indexRows(
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
export async function* mergedRows(
  indexes: Pick<Indexes, 'scan'>,
  collection: string,
  scans: readonly OpenScan[],
): Rows {
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
