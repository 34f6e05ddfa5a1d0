import { createRequire } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { type Collections, createCollections } from '../../../src/host/documents/collections.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import type { Document } from '../../../src/host/documents/values.js'
import { createDatastore } from '../../../src/host/runner/datastore/datastore.js'
import { makeIndex } from '../../support/index-scans.js'
import { openSqliteStore, type SqliteStore } from '../../support/sqlite-store.js'

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())

interface Bed {
  store: SqliteStore
  collections: Collections
  log: string[]
  faults: unknown[]
  clock: { nowMs: number }
}

async function bed(): Promise<Bed> {
  const store = await openSqliteStore()
  onTestFinished(store.file.close)
  const log: string[] = []
  const faults: unknown[] = []
  const clock = { nowMs: 0 }
  let ids = 0
  const newId = () => {
    ids += 1
    return `id${String(ids).padStart(5, '0')}`
  }
  const collections = createCollections({
    ...store,
    mingo,
    newId,
    pause: async () => {},
    nowMs: () => clock.nowMs,
    literalDots: false,
    report: (line) => void log.push(line),
    onFault: (error) => void faults.push(error),
  })
  return { store, collections, log, faults, clock }
}

async function all(collections: Collections, filter: unknown, options = {}): Promise<Document[]> {
  const found: Document[] = []
  for await (const each of collections.find('notes', filter, options)) found.push(each)
  return found
}

const rows = (count: number, fieldsOf: (n: number) => object) => Array.from({ length: count }, (_, n) => fieldsOf(n))
const since = (store: SqliteStore) => {
  store.calls.length = 0
  return () => store.calls.filter((call) => call !== 'indexes/list')
}

test('ATK-206 an update of many in a unique field ends as it would one by one, however many there are', async () => {
  for (const count of [3, 600]) {
    const { collections, store } = await bed()
    await makeIndex(store.indexes, 'notes', 'n', true)
    await collections.insertMany(
      'notes',
      rows(count, (n) => ({ n })),
    )
    expect(await collections.updateMany('notes', {}, { $inc: { n: -1 } })).toBe(count)
    await expect(collections.updateMany('notes', {}, { $inc: { n: 1 } })).rejects.toMatchObject({
      code: 'already_exists',
    })
    expect((await all(collections, { n: -1 })).length).toBe(1)
  }
})

test('a find reads the index, and its order without a sort stays that of _id', async () => {
  const { store, collections } = await bed()
  await collections.insertMany(
    'notes',
    rows(100, (n) => ({ n: (n * 37) % 100, tag: `t${n % 5}` })),
  )
  for (const field of ['n', 'tag']) await makeIndex(store.indexes, 'notes', field)
  const calls = since(store)
  const found = await all(collections, { n: { $gte: 10, $lt: 20 } })
  expect(found).toHaveLength(10)
  expect(found.map(({ _id }) => _id)).toEqual(found.map(({ _id }) => _id).sort())
  expect(await all(collections, { tag: { $in: ['t1', 't3'] }, n: 37 })).toMatchObject([{ n: 37 }])
  expect(await all(collections, { n: 5 }, { reverse: true })).toHaveLength(1)
  expect(calls()).toEqual(['indexes/scan', 'indexes/scan', 'indexes/scan'])
})

test('many documents of a few values are read in order of _id, page by page, no more than are wanted', async () => {
  const { store, collections } = await bed()
  await collections.insertMany(
    'notes',
    rows(3_000, (n) => ({ tag: ['a', 'b', null][n % 3], n })),
  )
  await makeIndex(store.indexes, 'notes', 'tag')
  await collections.insert('notes', { _id: 'id00000', tag: [['b']] })
  const calls = since(store)
  const found = await all(collections, { tag: { $in: ['a', 'b'] } }, { limit: 20, offset: 4 })
  expect(found.map(({ n }) => n)).toEqual(
    rows(36, (n) => ({ n }))
      .flatMap(({ n }: { n?: number }) => (Number(n) % 3 === 2 ? [] : [n]))
      .slice(4, 24),
  )
  expect(calls().length).toBeLessThan(6)
  expect(await all(collections, { tag: null })).toHaveLength(1_000)
  expect(await all(collections, { tag: 'b' })).toHaveLength(1_000)
})

test('an index sorts without reading the rest', async () => {
  const { store, collections } = await bed()
  await collections.insertMany(
    'notes',
    rows(3_000, (n) => ({ n: (n * 7) % 3_000 })),
  )
  await makeIndex(store.indexes, 'notes', 'n')
  const calls = since(store)
  expect(await all(collections, {}, { sort: { n: -1 }, limit: 3 })).toMatchObject([
    { n: 2_999 },
    { n: 2_998 },
    { n: 2_997 },
  ])
  expect(calls()).toEqual(['indexes/scan'])
})

test('the list of indexes is a second old at most, and read again when a plan is outdated', async () => {
  const { store, collections, clock } = await bed()
  await collections.insert('notes', { n: 1 })
  await collections.createIndex('notes', ['n'], false)
  store.calls.length = 0
  for (let n = 0; n < 3; n += 1) await all(collections, { n: 1 })
  clock.nowMs = 1_000
  await all(collections, { n: 1 })
  expect(store.calls.filter((call) => call === 'indexes/list')).toHaveLength(2)
  await store.documents.put('notes', 'b', '{"n":[0,1]}', 'absent')
  expect(await all(collections, { n: { $gt: 0, $lt: 1 } })).toMatchObject([{ _id: 'b' }])
  expect(store.calls.filter((call) => call === 'indexes/list')).toHaveLength(3)
  await store.indexes.remove('notes', 'n')
  expect(await all(collections, { n: 1 })).toHaveLength(2)
})

test('useIndex gives the order of the field, between start and end, with or without an index', async () => {
  const { collections, store } = await bed()
  const { keyValues } = store
  const db = await createDatastore({ collections, keyValues }).open()
  await collections.insertMany(
    'notes',
    rows(10, (n) => ({ _id: `n${n}`, n: 9 - n })),
  )
  const ids = async (options: object) => {
    const found: unknown[] = await db.getMany('notes', {}, options).toArray()
    return found.map((each) => Object(each).n)
  }
  for (const step of [async () => {}, () => db.createIndex('notes', 'n')]) {
    await step()
    expect(await ids({ useIndex: 'n', limit: 2 })).toEqual([0, 1])
    expect(await ids({ useIndex: 'n', reverse: true, limit: 2 })).toEqual([9, 8])
    expect(await ids({ useIndex: 'n', startIndex: 3, endIndex: 5 })).toEqual([3, 4, 5])
    expect(await ids({ useIndex: 'n', start: 3, end: 5, reverse: true })).toEqual([5, 4, 3])
  }
  expect(() => db.getMany('notes', {}, { useIndex: '$where' })).toThrow(/index/)
})

test('a change of the field that is being read through its index reaches each document once', async () => {
  const { collections } = await bed()
  await collections.insertMany(
    'notes',
    rows(2_500, (n) => ({ n })),
  )
  await collections.createIndex('notes', ['n'], false)
  const sort = { n: 1 } as const
  expect(await collections.updateMany('notes', { n: { $gte: 0 } }, { $inc: { n: 1_000 } }, { sort })).toBe(2_500)
  expect((await all(collections, {}, { sort, limit: 1 }))[0]).toMatchObject({ n: 1_000 })
  expect(await collections.removeMany('notes', { n: { $lt: 2_000 } })).toBe(1_000)
  expect(await collections.count('notes')).toBe(1_500)
})

test('ATK-206 parallel upserts by a unique field make one document and lose no change', async () => {
  const { collections } = await bed()
  await collections.createIndex('notes', ['email'], true)
  const upsert = () => collections.update('notes', { email: 'a' }, { $inc: { n: 1 } }, { upsert: true })
  await Promise.all(Array.from({ length: 20 }, upsert))
  expect(await all(collections, {})).toMatchObject([{ email: 'a', n: 20 }])
  const taken = { code: 'already_exists' }
  await expect(collections.update('notes', { name: 'x' }, { email: 'a' }, { upsert: true })).rejects.toMatchObject(
    taken,
  )
  const inserts = Array.from({ length: 20 }, () => collections.insert('notes', { email: 'b' }))
  const settled = await Promise.allSettled(inserts)
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('ATK-205 1,000 parallel $inc of one document are exact', async () => {
  const { collections } = await bed()
  await collections.createIndex('notes', ['key', 'n'], false)
  await collections.insert('notes', { key: 'k', n: 0 })
  const update = () => collections.update('notes', { key: 'k' }, { $inc: { n: 1 } }, { upsert: false })
  await Promise.all(Array.from({ length: 1_000 }, update))
  expect(await all(collections, { n: 1_000 })).toMatchObject([{ key: 'k' }])
})

test('a find that reads much for little is logged once, with the command that helps', async () => {
  const { collections, log } = await bed()
  for (let part = 0; part < 11; part += 1)
    await collections.insertMany(
      'notes',
      rows(1_000, (n) => ({ n: n + part * 1_000, s: 'x' })),
    )
  for (let n = 0; n < 2; n += 1) await all(collections, { n: 5, s: 'x' })
  expect(log).toEqual(['A find in notes read 11000 documents for 1. An index helps: latchkey createindex notes n'])
  await all(collections, { s: 'x' })
  await all(collections, { $or: [{ other: 5 }, { n: -1 }] })
  expect(log).toHaveLength(1)
  await collections.createIndex('notes', ['n'], false)
  await all(collections, { n: { $in: [7] }, other: 1 })
  expect(log).toHaveLength(1)
})

test('createIndex resolves after the first page, and the rest follows in the background', async () => {
  const { store, collections, faults } = await bed()
  for (let part = 0; part < 3; part += 1)
    await collections.insertMany(
      'notes',
      rows(1_000, (n) => ({ n: n % 900, u: n + part * 1_000 })),
    )
  await collections.createIndex('notes', ['n'], false)
  expect(await store.indexes.list('notes')).toMatchObject([{ state: 'building' }])
  await collections.createIndex('notes', ['n', '_id'], false)
  await collections.createIndex('notes', ['u'], true)
  await expect(collections.createIndex('notes', ['n'], true)).rejects.toMatchObject({ code: 'query_invalid' })
  await collections.createIndex('notes', ['missing'], true)
  while ((await store.indexes.list('notes')).some(({ state }) => state === 'building')) await all(collections, { n: 1 })
  expect(await all(collections, { n: 899 })).toHaveLength(3)
  await expect(collections.createIndex('notes', ['a', 'b'], true)).rejects.toMatchObject({ code: 'query_invalid' })
  await store.indexes.remove('notes', 'n')
  await expect(collections.createIndex('notes', ['n'], true)).rejects.toThrow(/No unique index on n/)
  await expect(collections.createIndex('notes', [7], false)).rejects.toMatchObject({ code: 'query_invalid' })
  expect(faults).toEqual([])
})

test('a createIndex that is not awaited ends no process when it fails', async () => {
  const { collections, store } = await bed()
  const db = await createDatastore({ collections, keyValues: store.keyValues }).open()
  void db.createIndex('notes', ['a', 'b'], { unique: true })
  void db.createIndex('_notes', ['a'])
  expect(await db.createIndex('notes', ['b'], { unique: true })).toEqual({ collection: 'notes', fields: ['b'] })
})
