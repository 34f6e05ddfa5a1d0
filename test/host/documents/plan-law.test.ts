import { createRequire } from 'node:module'
import fc from 'fast-check'
import { find } from 'mingo'
import { expect, test, vi } from 'vitest'
import { compileFilter, type Filter } from '../../../src/host/documents/filter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { plan } from '../../../src/host/documents/plan.js'
import { isStoreError } from '../../../src/host/documents/store-error.js'
import type { Document } from '../../../src/host/documents/values.js'
import { indexedPair, sort } from '../../support/arbitrary-queries.js'
import { createMemoryIndex, type MemoryIndex, reached } from '../../support/memory-index.js'

/** `LATCHKEY_LAW_CASES=1000000 npx vitest run --config test/vitest.config.ts test/host/documents/plan-law.test.ts` for more. */
const cases = Number(process.env.LATCHKEY_LAW_CASES ?? 10_000)
vi.setConfig({ testTimeout: 60_000 + cases })

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())
/** null when mingo refuses the filter, or fails on one of the documents, as it does without an index. */
function matchesOf(asked: unknown, documents: readonly Document[]): { filter: Filter; ids: string[] } | null {
  try {
    const filter = compileFilter(mingo, asked)
    return { filter, ids: documents.filter((each) => filter.matches(each)).map(({ _id }) => _id) }
  } catch (error) {
    if (isStoreError(error, 'query_invalid')) return null
    throw error
  }
}

/** What the cases reached, so that a law over nothing fails. */
interface Seen {
  planned: number
  narrowed: number
  sorted: number
}

function judge(
  documents: readonly Document[],
  index: MemoryIndex,
  asked: unknown,
  order: Record<string, 1 | -1> | null,
  seen: Seen,
) {
  const matches = matchesOf(asked, documents)
  const found = matches && plan([index], { criteria: matches.filter.criteria, sort: order, useIndex: null })
  if (!found) return
  seen.planned += 1
  const expected = new Set(matches.ids)
  for (const choice of found.choices) {
    const rows = reached(index, choice, found.order)
    if (rows.length < documents.length) seen.narrowed += 1
    const read = new Set(rows)
    expect(matches.ids.filter((id) => !read.has(id))).toEqual([])
    if (found.order === null || order === null) continue
    seen.sorted += 1
    const sorted = find<Document>([...documents], {})
      .sort({ ...order })
      .all()
    expect(rows.filter((id) => expected.has(id))).toEqual(sorted.map(({ _id }) => _id).filter((id) => expected.has(id)))
  }
}

test('a plan reaches every document that the filter matches, and sorts as mingo does', () => {
  const seen: Seen = { planned: 0, narrowed: 0, sorted: 0 }
  fc.assert(
    fc.property(indexedPair, sort, ([documents, asked, indexed], order) => {
      judge(documents, createMemoryIndex(indexed, documents), asked, order, seen)
    }),
    { numRuns: cases },
  )
  expect(seen.planned).toBeGreaterThan(cases / 4)
  expect(seen.narrowed).toBeGreaterThan(cases / 10)
  expect(seen.sorted).toBeGreaterThan(cases / 100)
})
