import { createRequire } from 'node:module'
import fc from 'fast-check'
import { find } from 'mingo'
import { expect, onTestFinished, test } from 'vitest'
import { createCollections } from '../../../src/host/documents/collections.js'
import { compileFilter } from '../../../src/host/documents/filter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { isStoreError, StoreError } from '../../../src/host/documents/store-error.js'
import { type Document, decode, encode } from '../../../src/host/documents/values.js'
import { documentsAndFilters, field, indexedField, sort } from '../../support/arbitrary-queries.js'
import { makeIndex } from '../../support/index-scans.js'
import type { RecordedStore } from '../../support/recorded-store.js'

export interface LawBed {
  store: RecordedStore
  /** Deletes what was dropped. */
  tidy(): Promise<void>
  close(): Promise<void>
}

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())

/** One find: its filter, its order and how it goes on. */
const questionOf = (filter: unknown) =>
  fc.record({
    filter: fc.constant(filter),
    sort: fc.oneof(
      sort,
      indexedField(filter).map((by): Record<string, 1 | -1> => ({ [by]: 1 })),
    ),
    limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
    offset: fc.integer({ min: 0, max: 2 }),
    useIndex: fc.option(field, { nil: null, freq: 4 }),
    pageRows: fc.constantFrom(1, 2, 1_000),
  })

/** A set of documents, its indexes, which of the documents change, and the questions asked before and after. */
const askedOf = (questions: number) =>
  documentsAndFilters(questions).chain(([documents, filters]) =>
    fc.record({
      documents: fc.constant(documents),
      questions: fc.tuple(...filters.map(questionOf)),
      // Of the first filters, so that most of the finds are narrowed.
      fields: fc.uniqueArray(fc.oneof(...filters.slice(0, 4).map(indexedField), field), { minLength: 1, maxLength: 4 }),
      early: fc.boolean(),
      removed: fc.nat(5),
      changed: fc.nat(5),
    }),
  )
type Asked = ReturnType<typeof askedOf> extends fc.Arbitrary<infer T> ? T : never
type Question = Asked['questions'][number]

/** What the finds of all sets came to. */
interface Seen {
  /** Finds that had an answer, and were compared. */
  compared: number
  /** Those of them that read an index. */
  narrowed: number
}

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

/** The documents are decoded copies: mingo orders values that two documents share otherwise than equal ones. */
function expectedOf(bodies: readonly Body[], { filter, sort, limit, offset }: Question): string[] {
  const { criteria } = compileFilter(mingo, filter)
  const documents = bodies.map(({ id, body }) => decode(id, body))
  const found = find<Document>(documents, criteria, {}, { scriptEnabled: false })
  const ids = (sort === null ? found : found.sort({ ...sort })).all().map(({ _id }) => _id)
  return ids.slice(offset, limit === null ? undefined : offset + limit)
}

type Body = { id: string; body: string }
const bodiesOf = (documents: readonly Document[]): Body[] =>
  documents.map((each) => ({ id: each._id, body: encode(each) }))

function changedOf({ documents, removed, changed }: Asked): Document[] {
  const [source, target, gone] = [documents[0], documents[changed], documents[removed]]
  return documents
    .filter((each) => each !== gone)
    .map((each) => (each === target && source ? { ...source, _id: each._id } : each))
}

async function judge(store: RecordedStore, name: string, asked: Asked, seen: Seen): Promise<void> {
  const { documents, questions, fields, early, removed } = asked
  const collections = createCollections({
    ...store,
    mingo,
    report: () => {},
    onFault: () => {},
    newId: () => 'x',
    pause: async () => {},
    nowMs: () => 0,
    literalDots: false,
  })
  const build = async () => {
    for (const each of fields) await makeIndex(store.indexes, name, each)
  }
  const compare = async (bodies: readonly Body[], question: Question) => {
    const { filter, pageRows, ...options } = question
    store.pageRows = pageRows
    store.calls.length = 0
    const found = await answersOf(async () => {
      const ids: string[] = []
      for await (const { _id } of collections.find(name, filter, options)) ids.push(_id)
      return ids
    })
    const expected = await answersOf(() => expectedOf(bodies, question))
    if (found === null || expected === null) return
    seen.compared += 1
    if (store.calls.includes('indexes/scan')) seen.narrowed += 1
    expect(found, JSON.stringify(question)).toEqual(expected)
  }

  if (early) await build()
  const before = bodiesOf(documents)
  await store.documents.putMany(name, before, 'absent')
  if (!early) await build()
  for (const question of questions) await compare(before, question)

  const gone = documents[removed]?._id
  if (gone !== undefined) await store.documents.remove(name, gone, 'any')
  const after = bodiesOf(changedOf(asked))
  await store.documents.putMany(name, after, 'any')
  for (const question of questions) await compare(after, question)
  await store.documents.drop(name)
}

/** What every store promises of finds, over at least this many random ones that have an answer. */
export function findLaw(name: string, finds: number, open: () => Promise<LawBed>): void {
  test(`on ${name} a find through any set of indexes equals a find of mingo over all documents, before and after changes`, async () => {
    const { store, tidy, close } = await open()
    onTestFinished(close)
    const seen: Seen = { compared: 0, narrowed: 0 }
    let sets = 0
    // A long run spends its time on finds, and not on making and dropping tables.
    const questions = finds < 100_000 ? 10 : 50
    // Until enough finds were compared: mingo refuses some.
    while (seen.compared < finds) {
      await fc.assert(
        fc.asyncProperty(askedOf(questions), async (each) => {
          sets += 1
          await judge(store, `c${sets}`, each, seen)
          await tidy()
        }),
        { numRuns: Math.ceil((finds - seen.compared) / (2 * questions)) },
      )
    }
    expect(seen.narrowed).toBeGreaterThan(finds / 3)
  })
}
