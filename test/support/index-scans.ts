import { keyOf } from '../../src/host/documents/keys.js'
import type { Plan } from '../../src/host/documents/plan.js'
import { equalTo, whole } from '../../src/host/documents/ranges.js'
import type { Indexes, IndexScan, KeyRange, StoredDocument } from '../../src/host/ports.js'

/** All entries of an index that was seen as neither multikey nor unordered. */
export function scanOf(field: string, options: Partial<IndexScan> = {}): IndexScan {
  const seen = { isMultikey: false, isOrdered: true }
  return { field, choices: [hexRanges([whole])], order: null, seen, after: null, limit: 1_000, ...options }
}

function hexRanges(ranges: Plan['choices'][number]): KeyRange[] {
  return ranges.map(({ from, to }) => ({ from: from.toString('hex'), to: to.toString('hex') }))
}

/** Where documents stand that have one of the values, which ascend. */
export function equalRanges(...values: readonly unknown[]): KeyRange[] {
  return hexRanges(values.map((value) => equalTo(value)).filter((range) => range !== null))
}

/** From a value on, below another. */
export function rangeBetween(from: unknown, to: unknown): KeyRange[] {
  return [{ from: keyOf(from)?.toString('hex') ?? '', to: keyOf(to)?.toString('hex') ?? '' }]
}

/** All pages of a scan, and how many documents each of them has. */
export async function scanAll(
  indexes: Indexes,
  collection: string,
  scan: IndexScan,
): Promise<{ documents: StoredDocument[]; ids: string[]; sizes: number[] }> {
  const documents: StoredDocument[] = []
  const sizes: number[] = []
  let after: string | null = null
  do {
    const page = await indexes.scan(collection, { ...scan, after })
    documents.push(...page.documents)
    sizes.push(page.documents.length)
    after = page.next
  } while (after !== null)
  return { documents, ids: documents.map(({ id }) => id), sizes }
}

/** Makes an index and builds it to its end. */
export async function makeIndex(indexes: Indexes, collection: string, field: string, isUnique = false): Promise<void> {
  await indexes.create(collection, field, isUnique)
  while (!(await indexes.build(collection, field)).isReady);
}
