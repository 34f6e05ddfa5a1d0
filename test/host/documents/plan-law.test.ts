import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { compileFilter, type Filter } from '../../../src/host/documents/filter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { plan } from '../../../src/host/documents/plan.js'
import { isStoreError } from '../../../src/host/documents/store-error.js'
import type { Document } from '../../../src/host/documents/values.js'
import { documentsOf, families, scalar, valuesOf } from '../../support/arbitrary-documents.js'
import { createMemoryIndex, type MemoryIndex, reached } from '../../support/memory-index.js'

/** `LATCHKEY_LAW_CASES=1000000 npx vitest run --config test/vitest.config.ts test/host/documents/plan-law.test.ts` for more. */
const cases = Number(process.env.LATCHKEY_LAW_CASES ?? 10_000)
vi.setConfig({ testTimeout: 60_000 + cases })

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'))
const fields = ['a', 'b', 'a.c', 'a.0', 'a.0.c', 'a.c.d', 'b.getTime', 'b.']
const field = fc.constantFrom('a', 'a', 'a', ...fields)

const patterns = [
  ...[
    /^a/,
    /^ab/,
    /^ab*/,
    /^a|b/,
    /^(?=a)b?/,
    /^(?=a)?b/,
    /^(?=ab)/,
    /^a/i,
    /^b/m,
    /^a/g,
    /^a\.b/,
    /^a\0/,
    /^a\nb/,
    /b$/,
  ],
  ...[
    /^é+/,
    /^x{3}/,
    /^😀*/,
    /^a\uffff/,
    /^(?:a)?b/,
    /^a.?/s,
    /^[ab]/,
    /^/,
    /^\u{61}b?/u,
    /^ab{0}/,
    /^a\|b/,
    /^(?=ab)?a/,
  ],
]
const comparison = fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq', '$ne')

function conditionsOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const value = valuesOf(scalars)
  const texts = fc.constantFrom('a', 'ab', 'a.b', 'a|b', 'é', 'x'.repeat(200), 'x'.repeat(201), 'a😀', '')
  return fc.oneof(
    { weight: 3, arbitrary: value },
    { weight: 6, arbitrary: fc.dictionary(comparison, scalars, { minKeys: 1, maxKeys: 3, noNullPrototype: true }) },
    { weight: 2, arbitrary: fc.record({ $gte: scalars, $lt: scalars }, { noNullPrototype: true }) },
    fc.tuple(comparison, value).map(([name, each]) => ({ [name]: each })),
    { weight: 2, arbitrary: fc.array(value, { maxLength: 4 }).map(($in) => ({ $in })) },
    fc.constantFrom({ $in: [undefined] }, { $in: [/^a/, 1] }, { $gte: Number.NaN }, { $lte: new Date(Number.NaN) }),
    fc.boolean().map(($exists) => ({ $exists })),
    { weight: 3, arbitrary: fc.constantFrom(...patterns) },
    fc.constantFrom(...patterns).map((pattern) => ({ $regex: pattern.source, $options: pattern.flags })),
    texts.map(($startsWith) => ({ $startsWith })),
    fc.constantFrom({ $startsWith: 'a', $endsWith: 'b' }, { $endsWith: 'b' }, { $size: 1 }, { $type: 'string' }),
    fc.array(scalars, { minLength: 1, maxLength: 2 }).map(($all) => ({ $all })),
    fc.tuple(comparison, scalars).map(([name, each]) => ({ $elemMatch: { [name]: each } })),
    fc.tuple(comparison, scalars).map(([name, each]) => ({ $not: { [name]: each } })),
  )
}

function filtersOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const conditions = fc.tuple(field, conditionsOf(scalars))
  const simple = fc.array(conditions, { minLength: 1, maxLength: 2 }).map((all) => Object.fromEntries(all))
  const joint = fc.tuple(
    fc.constantFrom('$and', '$and', '$or', '$nor'),
    fc.array(simple, { minLength: 1, maxLength: 3 }),
  )
  return fc.oneof(
    { weight: 6, arbitrary: simple },
    joint.map(([name, all]) => ({ [name]: all })),
  )
}

/** Documents and a filter whose scalars are from one source. */
function pairsOf(scalars: fc.Arbitrary<unknown>) {
  const content = fc.oneof(documentsOf(valuesOf(scalars), 6), documentsOf(scalars, 6))
  return fc.tuple(content, filtersOf(scalars))
}

const pair = fc.oneof(pairsOf(scalar), ...families.map((family) => pairsOf(fc.constantFrom(...family))))
const sort = fc.oneof(
  fc.constant(null),
  fc.tuple(field, fc.constantFrom<1 | -1>(1, -1)).map(([by, way]) => ({ [by]: way })),
)

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
    const sorted = mingo
      .find<Document>([...documents], {})
      .sort({ ...order })
      .all()
    expect(rows.filter((id) => expected.has(id))).toEqual(sorted.map(({ _id }) => _id).filter((id) => expected.has(id)))
  }
}

test('a plan reaches every document that the filter matches, and sorts as mingo does', () => {
  const seen: Seen = { planned: 0, narrowed: 0, sorted: 0 }
  fc.assert(
    fc.property(pair, field, sort, ([documents, asked], indexed, order) => {
      judge(documents, createMemoryIndex(indexed, documents), asked, order, seen)
    }),
    { numRuns: cases },
  )
  expect(seen.planned).toBeGreaterThan(cases / 10)
  expect(seen.narrowed).toBeGreaterThan(cases / 20)
  expect(seen.sorted).toBeGreaterThan(cases / 100)
})
