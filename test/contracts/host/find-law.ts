import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createCollections } from '../../../src/host/documents/collections.js'
import { compileFilter } from '../../../src/host/documents/filter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { isStoreError, StoreError } from '../../../src/host/documents/store-error.js'
import { type Document, encode } from '../../../src/host/documents/values.js'
import { field, indexedField, pair, sort } from '../../support/arbitrary-queries.js'
import { makeIndex } from '../../support/index-scans.js'
import type { RecordedStore } from '../../support/recorded-store.js'

export interface LawBed {
  store: RecordedStore
  /** Deletes what was dropped. */
  tidy(): Promise<void>
  close(): Promise<void>
}

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'))

/** How a find goes on, and which documents change before the second one. */
const choices = fc.record({
  limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
  offset: fc.integer({ min: 0, max: 2 }),
  useIndex: fc.option(field, { nil: null, freq: 4 }),
  early: fc.boolean(),
  pageRows: fc.constantFrom(1, 2, 1_000),
  removed: fc.nat(5),
  changed: fc.nat(5),
})
const query = pair.chain(([documents, filter]) =>
  fc.record({
    documents: fc.constant(documents),
    filter: fc.constant(filter),
    fields: fc.uniqueArray(indexedField(filter), { minLength: 1, maxLength: 3 }),
    order: fc.oneof(
      sort,
      indexedField(filter).map((by): Record<string, 1 | -1> => ({ [by]: 1 })),
    ),
    chosen: choices,
  }),
)
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

/** null when mingo refuses the filter, or fails on a document. Which documents it meets depends on the index. */
async function answersOf(find: () => Promise<string[]> | string[]): Promise<string[] | null> {
  try {
    return await find()
  } catch (error) {
    // mingo throws errors of its own.
    if (isStoreError(error, 'query_invalid') || !(error instanceof StoreError)) return null
    throw error
  }
}

function expectedOf(documents: readonly Document[], { filter, order, chosen }: Query): string[] {
  const { criteria } = compileFilter(mingo, filter)
  const found = mingo.find<Document>([...documents], criteria, {}, { scriptEnabled: false })
  const sorted = order === null ? found : found.sort({ ...order })
  const ids = sorted.all().map(({ _id }) => _id)
  return ids.slice(chosen.offset, chosen.limit === null ? undefined : chosen.offset + chosen.limit)
}

async function judge(store: RecordedStore, name: string, asked: Query, seen: { found: number; indexed: number }) {
  const { documents, filter, fields, order, chosen } = asked
  const log = { report: () => {}, onFault: () => {} }
  const make = () =>
    createCollections({
      ...store,
      mingo,
      ...log,
      newId: () => 'x',
      pause: async () => {},
      nowMs: () => 0,
      literalDots: false,
    })
  const rows = (all: readonly Document[]) => all.map((each) => ({ id: each._id, body: encode(each) }))
  const build = async () => {
    for (const each of fields) await makeIndex(store.indexes, name, each)
  }
  const compare = async (current: readonly Document[]) => {
    const options = { sort: order, limit: chosen.limit, offset: chosen.offset, useIndex: chosen.useIndex }
    const before = store.calls.length
    const found = await answersOf(async () => {
      const ids: string[] = []
      for await (const { _id } of make().find(name, filter, options)) ids.push(_id)
      return ids
    })
    const expected = await answersOf(() => expectedOf(current, asked))
    if (found === null || expected === null) return
    seen.found += 1
    if (store.calls.slice(before).includes('indexes/scan')) seen.indexed += 1
    expect(found).toEqual(expected)
  }
  store.pageRows = chosen.pageRows
  if (chosen.early) await build()
  await store.documents.putMany(name, rows(documents), 'absent')
  if (!chosen.early) await build()
  await compare(documents)
  const removed = documents[chosen.removed]?._id
  const [source, target] = [documents[0], documents[chosen.changed]]
  if (removed !== undefined) await store.documents.remove(name, removed, 'any')
  const changed = documents
    .filter(({ _id }) => _id !== removed)
    .map((each) => (each === target && source ? { ...source, _id: each._id } : each))
  await store.documents.putMany(name, rows(changed), 'any')
  await compare(changed)
  await store.documents.drop(name)
}

/** What every store promises of finds, over this many random documents, filters and indexes. */
export function findLaw(name: string, cases: number, open: () => Promise<LawBed>): void {
  test(`on ${name} a find through any set of indexes equals a find of mingo over all documents, before and after changes`, async () => {
    const { store, tidy, close } = await open()
    onTestFinished(close)
    const seen = { found: 0, indexed: 0 }
    let collections = 0
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        collections += 1
        store.calls.length = 0
        await judge(store, `c${collections}`, asked, seen)
        await tidy()
      }),
      { numRuns: cases },
    )
    expect(seen.found).toBeGreaterThan(cases)
    expect(seen.indexed).toBeGreaterThan(cases / 2)
  })
}
