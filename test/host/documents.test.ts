import { createRequire } from 'node:module'
import fc from 'fast-check'
import { find } from 'mingo'
import { describe, expect, test } from 'vitest'
import { type Collections, createCollections, type WriteOptions } from '../../src/host/documents/collections.js'
import { loadMingo } from '../../src/host/documents/mingo.js'
import { StoreError } from '../../src/host/documents/store-error.js'
import { wireLimits } from '../../src/host/documents/wire.js'
import type { Documents } from '../../src/host/ports.js'
import { createSpaceStore } from '../support/space-store.js'

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())

interface Bed {
  collections: Collections
  documents: Documents
}

function bed({ literalDots = false, documents = createSpaceStore().documents } = {}): Bed {
  let ids = 0
  const newId = () => {
    ids += 1
    return `id${String(ids).padStart(4, '0')}`
  }
  const pause = async () => {}
  const { indexes } = createSpaceStore()
  const log = { nowMs: () => 0, report: () => {}, onFault: () => {} }
  const options = { documents, indexes, mingo, newId, pause, literalDots, ...log }
  return { documents, collections: createCollections(options) }
}

async function filled(rows: readonly object[]): Promise<Collections> {
  const { collections } = bed()
  await collections.insertMany('rows', rows)
  return collections
}

async function idsOf(collections: Collections, filter: unknown, options = {}): Promise<string[]> {
  const found: string[] = []
  for await (const { _id } of collections.find('rows', filter, options)) found.push(_id)
  return found
}

const invalid = { code: 'query_invalid' }

describe('filters', () => {
  const rows = [
    { _id: 'a', n: 1, text: 'Apple', tags: ['x', 'y'], at: new Date('2024-01-02'), deep: { b: [{ c: 1 }] } },
    { _id: 'b', n: 2, text: 'a.pple', tags: [], at: new Date('2024-02-02') },
    { _id: 'c', n: null, text: 'Pear' },
    { _id: 'd', text: 'apple' },
  ]

  test.each<[unknown, string[]]>([
    [undefined, ['a', 'b', 'c', 'd']],
    [{}, ['a', 'b', 'c', 'd']],
    [{ _id: 'b' }, ['b']],
    [{ _id: { $oid: 'b' } }, ['b']],
    [{ _id: 'b', n: 1 }, []],
    [{ _id: { $in: ['d', 'a', 'z'] } }, ['a', 'd']],
    [{ n: null }, ['c', 'd']],
    [{ n: { $gte: 1, $lt: 2 } }, ['a']],
    [{ n: { $exists: false } }, ['d']],
    [{ tags: 'x' }, ['a']],
    [{ tags: { $all: ['x', 'y'] } }, ['a']],
    [{ 'deep.b.c': 1 }, ['a']],
    [{ text: /^a/i }, ['a', 'b', 'd']],
    [{ text: { $regex: '^ap', $options: 'i' } }, ['a', 'd']],
    [{ text: { $startsWith: 'a.' } }, ['b']],
    [{ text: { $startsWith: 'a', $endsWith: 'pple' } }, ['b', 'd']],
    [{ text: { $not: { $startsWith: 'a' } } }, ['a', 'c']],
    [{ text: /a/y }, ['b', 'c', 'd']],
    [{ text: { $regex: 'p', $options: 'gi' } }, ['a', 'b', 'c', 'd']],
    [{ $or: [{ n: 2 }, { text: { $endsWith: 'ear' } }] }, ['b', 'c']],
    [{ at: { $gt: { $date: '2024-01-15' } } }, ['b']],
    [{ at: new Date('2024-01-02') }, ['a']],
    [{ at: { $date: '2024-01-02' } }, ['a']],
    [{ $expr: { $gt: ['$n', 1] } }, ['b']],
    [{ constructor: { $exists: true } }, []],
  ])('%j finds %j', async (filter, expected) => {
    expect(await idsOf(await filled(rows), filter)).toEqual(expected)
  })

  test.each([
    ['text'],
    [[1]],
    [{ $where: 'true' }],
    [{ a: { $where: 'true' } }],
    [{ $expr: { $function: { body: 'true', args: [], lang: 'js' } } }],
    [{ $and: [{ $expr: { $accumulator: {} } }] }],
    [{ n: { $nothing: 1 } }],
    [{ n: { $regex: '(' } }],
    [{ $and: 1 }],
    [{ text: { $startsWith: 1 } }],
    [{ text: { $startsWith: 'a', $regex: 'b' } }],
    [{ at: { $date: 'never' } }],
    [JSON.parse('{"__proto__":{"polluted":true}}')],
    [{ 'a.__proto__.b': 1 }],
    [JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    [JSON.parse(`{"$or":${'[{"$or":'.repeat(40)}[]${'}]'.repeat(40)}}`)],
  ])('ATK-153 the hostile filter %# is refused before the search, with query_invalid', async (filter) => {
    const { collections } = bed()
    expect(() => collections.find('rows', filter)).toThrow(StoreError)
    expect(() => collections.find('rows', filter)).toThrow(expect.objectContaining(invalid))
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('ATK-153 collections that begin with _ or are no names do not exist', () => {
    const { collections } = bed()
    for (const name of ['_x', '', '__proto__', 'a b', '../x', 'x'.repeat(65)]) {
      expect(() => collections.find(name, {})).toThrow(expect.objectContaining(invalid))
    }
  })

  test.each([/^a/g, /^a/gy, { $regex: '^a', $options: 'g' }])(
    '%s tests each value from its beginning, whatever was tested before',
    async (pattern) => {
      const collections = await filled([
        { _id: 'a', text: 'ab' },
        { _id: 'b', text: [['ab']] },
      ])
      expect(await idsOf(collections, { text: pattern })).toEqual(['a', 'b'])
    },
  )
})

describe('order, limits and fields', () => {
  test('without a sort the order is that of _id, and reverse turns it round', async () => {
    const collections = await filled([{ _id: 'b' }, { _id: 'B' }, { _id: 'a' }])
    expect(await idsOf(collections, {})).toEqual(['B', 'a', 'b'])
    expect(await idsOf(collections, {}, { reverse: true, limit: 2 })).toEqual(['b', 'a'])
    expect(await idsOf(collections, {}, { offset: 1, limit: 1 })).toEqual(['a'])
    expect(await idsOf(collections, {}, { limit: 0 })).toEqual([])
  })

  test('a sort with a limit is the whole sort cut off, over any documents', async () => {
    const value = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom('a', 'b', null, true),
      fc.array(fc.integer()),
    )
    const rows = fc.array(fc.record({ a: value, b: value }, { requiredKeys: [] }), { maxLength: 40 })
    const direction = fc.constantFrom<1 | -1>(1, -1)
    await fc.assert(
      fc.asyncProperty(rows, direction, direction, fc.nat(6), fc.nat(6), async (documents, a, b, limit, offset) => {
        const collections = await filled(documents)
        const all: Record<string, unknown>[] = []
        for await (const row of collections.find('rows', {})) all.push(row)
        const whole = find(all, {})
          .sort({ a, b })
          .all()
          .map(({ _id }) => String(_id))
        const sort = { a, b }
        expect(await idsOf(collections, {}, { sort, limit, offset })).toEqual(whole.slice(offset, offset + limit))
        expect(await idsOf(collections, {}, { sort, offset })).toEqual(whole.slice(offset))
      }),
      { numRuns: 200 },
    )
  })

  test('pages of a sort have each document once, also where mingo finds an array equal to its least element', async () => {
    const collections = await filled([{ a: '1' }, { a: [true, new Date(1), '1'] }, { a: '1' }])
    const sort = { a: -1 } as const
    const whole = await idsOf(collections, {}, { sort })
    const pages = [0, 1, 2].map((offset) => idsOf(collections, {}, { sort, offset, limit: 1 }))
    expect((await Promise.all(pages)).flat()).toEqual(whole)
  })

  test('a sort without a limit over more than 64 MiB is refused', async () => {
    const collections = await filled(Array.from({ length: 20 }, (_, n) => ({ n: -n, text: 'x'.repeat(3_500_000) })))
    await expect(idsOf(collections, {}, { sort: { n: 1 } })).rejects.toMatchObject(invalid)
    expect(await idsOf(collections, {}, { sort: { n: 1 }, limit: 2 })).toEqual(['id0020', 'id0019'])
  })

  test('fields are chosen or left out', async () => {
    const collections = await filled([{ _id: 'x', a: 1, b: { c: 2, d: 3 } }])
    const only = async (projection: object) =>
      (await collections.find('rows', {}, { projection: { ...projection } }).next()).value
    expect(await only({ a: 1 })).toEqual({ _id: 'x', a: 1 })
    expect(await only({ a: 0 })).toEqual({ _id: 'x', b: { c: 2, d: 3 } })
    expect(await only({ 'b.c': 1, _id: 0 })).toEqual({ b: { c: 2 } })
    await expect(only({ a: 1, b: 0 })).rejects.toMatchObject(invalid)
  })
})

describe('_id', () => {
  test('ATK-207 text is kept as it was sent, $oid is read, and everything else is refused', async () => {
    const { collections } = bed()
    for (const id of ['a', 'A', '0', ' ', 'ä'.repeat(127), 'x'.repeat(255)]) {
      expect(await collections.insert('rows', { _id: id, n: 1 })).toEqual({ _id: id, n: 1 })
    }
    expect(await collections.insert('rows', { _id: { $oid: '64af' } })).toEqual({ _id: '64af' })
    for (const id of [
      '',
      1,
      null,
      true,
      {},
      [],
      new Date(),
      'x'.repeat(256),
      'ä'.repeat(128),
      'a\u0000',
      'a\n',
      '\ud800',
    ]) {
      await expect(collections.insert('rows', { _id: id })).rejects.toMatchObject(invalid)
    }
    expect(await collections.count('rows')).toBe(7)
  })

  test('an insert of an existing one rejects and changes nothing; one without gets one', async () => {
    const { collections } = bed()
    await collections.insert('rows', { _id: 'a', n: 1 })
    await expect(collections.insert('rows', { _id: 'a', n: 2 })).rejects.toMatchObject({ code: 'not_current' })
    await expect(collections.insertMany('rows', [{ _id: 'a' }])).rejects.toMatchObject({ code: 'not_current' })
    expect(await collections.findOne('rows', { _id: 'a' })).toEqual({ _id: 'a', n: 1 })
    expect(await collections.insert('rows', { n: 3 })).toEqual({ _id: 'id0001', n: 3 })
  })

  test('many documents go into the store by batches of 1,000 documents or 4 MiB of text', async () => {
    const { documents } = createSpaceStore()
    const sizes: number[] = []
    const { collections } = bed({
      documents: {
        ...documents,
        putMany(name, rows, ifVersion) {
          sizes.push(rows.length)
          return documents.putMany(name, rows, ifVersion)
        },
      },
    })
    const large = (mebibytes: number) => ({ text: 'x'.repeat(mebibytes * 1024 * 1024) })
    await collections.insertMany('large', [large(3), large(2), large(1), large(3.5), {}])
    expect(sizes.splice(0)).toEqual([1, 2, 2])
    await collections.insertMany(
      'small',
      Array.from({ length: 2_001 }, (_, n) => ({ n })),
    )
    expect(sizes.splice(0)).toEqual([1_000, 1_000, 1])
    await collections.insertMany('none', [])
    expect(sizes).toEqual([])
  })
})

describe('many documents', () => {
  test('an _id that comes twice among them is refused, and none is written', async () => {
    const { collections } = bed()
    const rows = [{ _id: 'a', n: 1 }, { n: 2 }, { _id: 'a', n: 3 }]
    await expect(collections.insertMany('rows', rows)).rejects.toMatchObject({ code: 'not_current' })
    expect(await collections.count('rows')).toBe(0)
  })

  test('are written in batches that fit into one request to the data socket', async () => {
    const { documents } = createSpaceStore()
    const sent: number[] = []
    const counting: Documents = {
      ...documents,
      putMany(collection, rows, ifVersion) {
        sent.push(Buffer.byteLength(JSON.stringify([collection, rows, ifVersion])))
        expect(rows.length).toBeLessThanOrEqual(1_000)
        return documents.putMany(collection, rows, ifVersion)
      },
    }
    const { collections } = bed({ documents: counting })
    // Each quotation mark takes two bytes in the document, and four in the request.
    await collections.insertMany(
      'rows',
      Array.from({ length: 12 }, () => ({ text: '"'.repeat(1_500_000) })),
    )
    await collections.insertMany(
      'rows',
      Array.from({ length: 2_500 }, (_, n) => ({ n })),
    )
    expect(await collections.count('rows')).toBe(2_512)
    expect(Math.max(...sent)).toBeLessThanOrEqual(wireLimits.requestBytes)
  })
})

describe('values', () => {
  test('dates come back as dates, and what JSON cannot hold is refused', async () => {
    const { collections, documents } = bed()
    const row = { _id: 'a', at: new Date(0), list: [{ at: new Date(1) }], no: undefined, nan: Number.NaN }
    await collections.insert('rows', row)
    expect(await collections.findOne('rows', {})).toEqual({
      _id: 'a',
      at: new Date(0),
      list: [{ at: new Date(1) }],
      nan: null,
    })
    expect((await documents.get('rows', 'a'))?.body).toContain('{"$date":"1970-01-01T00:00:00.000Z"}')
    await expect(collections.insert('rows', { n: 1n })).rejects.toMatchObject(invalid)
    const loop: Record<string, unknown> = {}
    loop.self = loop
    await expect(collections.insert('rows', loop)).rejects.toMatchObject(invalid)
    for (const none of [null, 'x', [1], 1])
      await expect(collections.insert('rows', none)).rejects.toMatchObject(invalid)
  })

  test('ATK-153 __proto__ is no field, and depth ends at 32', async () => {
    const { collections } = bed()
    const proto = JSON.parse('{"a":{"__proto__":{"polluted":true}}}')
    await expect(collections.insert('rows', proto)).rejects.toMatchObject(invalid)
    await expect(collections.update('rows', {}, { $set: proto }, { upsert: true })).rejects.toMatchObject(invalid)
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
    await expect(collections.insert('rows', deep)).rejects.toMatchObject(invalid)
  })
})

/** The members of what all values of the process share. */
function sharedMembers(): (string | symbol)[][] {
  const builtIns = [Object, Array, String, Number, Function]
  const inherited = [String.prototype.at, Object.prototype.toString]
  return [...builtIns, ...builtIns.map(({ prototype }) => prototype), ...inherited].map((each) => Reflect.ownKeys(each))
}

describe('updates', () => {
  test.each<[object, object, object]>([
    [{ n: 1 }, { n: 2, m: 3 }, { n: 2, m: 3 }],
    [{ n: 1 }, { $set: { 'a.b': 1 } }, { n: 1, a: { b: 1 } }],
    [{ n: 1 }, { $inc: { n: 2, m: 1 } }, { n: 3, m: 1 }],
    [{ n: 1, m: 1 }, { $unset: { m: '' } }, { n: 1 }],
    [{ l: [1] }, { $push: { l: { $each: [2, 3] } } }, { l: [1, 2, 3] }],
    [{ l: [1, 2, 1] }, { $pull: { l: 1 } }, { l: [2] }],
    [{ l: ['ab', [['ab']], 'b'] }, { $pull: { l: /^a/g } }, { l: ['b'] }],
    [{ l: [1, 2, 3] }, { $pullAll: { l: [1, 2] } }, { l: [3] }],
    [{ l: [1, 2] }, { $pop: { l: 1 } }, { l: [1] }],
    [{ l: [1] }, { $addToSet: { l: 1 } }, { l: [1] }],
    [{ n: 1 }, { $rename: { n: 'm' } }, { m: 1 }],
    [{ n: 1 }, { $inc: { n: 1 }, name: 'x' }, { n: 2, name: 'x' }],
    [{ n: 1 }, { $setOnInsert: { m: 1 }, $set: {} }, { n: 1 }],
    [{ n: 1 }, { _id: 'a', n: 2 }, { n: 2 }],
  ])('%j by %j becomes %j', async (before, operations, after) => {
    const { collections } = bed()
    await collections.insert('rows', { _id: 'a', ...before })
    expect(await collections.update('rows', { _id: 'a' }, operations, { upsert: false })).toEqual({
      _id: 'a',
      ...after,
    })
    expect(await collections.findOne('rows', {})).toEqual({ _id: 'a', ...after })
  })

  test('a field with NUL in its name is refused, as by MongoDB', async () => {
    for (const literalDots of [false, true]) {
      const { collections } = bed({ literalDots })
      await expect(collections.insert('rows', { deep: { 'a\0b': 1 } })).rejects.toMatchObject(invalid)
      await collections.insert('rows', { _id: 'a' })
      for (const operations of [{ 'a\0b': 1 }, { $set: { 'a\0b': 1 } }, { $rename: { a: 'a\0b' } }]) {
        await expect(collections.update('rows', {}, operations, { upsert: false })).rejects.toMatchObject(invalid)
      }
      expect(await collections.findOne('rows', {})).toEqual({ _id: 'a' })
    }
  })

  test('with literal dots a dot is part of the name', async () => {
    const { collections } = bed({ literalDots: true })
    await collections.insert('rows', { _id: 'a', 'x.y': 1 })
    const operations = { $inc: { 'a.b': 1, 'x.y': 1 }, $rename: { 'x.z': 'p.q' } }
    const changed = await collections.update('rows', {}, operations, { upsert: false })
    expect(changed).toEqual({ _id: 'a', 'a.b': 1, 'x.y': 2 })
  })

  test.each([
    [{ $nothing: { a: 1 } }],
    [{ $set: 1 }],
    [{ $set: { _id: 'b' } }],
    [{ _id: 'b' }],
    [{ $rename: { _id: 'b' } }],
    [{ $inc: { n: 'x' } }],
    [[{ $set: { n: 1 } }]],
    ['x'],
    [{ $set: { 'constructor.evil.x': 1 } }],
    [{ $set: { 'list.constructor.evil.x': 1 } }],
    [{ $rename: { n: 'toString.evil.x' } }],
    [{ $set: { '__proto__.polluted': 1 } }],
    [{ $set: { 'new.constructor.evil.x': 1 } }],
    [{ $set: { 'new.toString.constructor.prototype.evil.x': 1 } }],
    [{ $set: { 'text.constructor.prototype.evil.x': 1 } }],
    [{ $set: { 'text.at.evil.x': 1 } }],
    [{ $push: { 'n.constructor.prototype.evil.x': 1 } }],
    [{ $inc: { 'none.constructor.evil.x': 1 } }],
    [{ $set: { 'rows.$[].constructor.evil.x': 1 } }],
    [{ $set: { 'rows.$[].text.constructor.prototype.evil.x': 1 } }],
    [{ $set: { 'rows.9.constructor.evil.x': 1 } }],
    [{ $set: { 'rows.0.new.constructor.evil.x': 1 } }],
    [{ $set: { 'rows.new.constructor.evil.x': 1 } }],
    [{ $set: { 'nested.$[].$[].constructor.prototype.evil.x': 1 } }],
    [{ $rename: { n: 'rows.$[].constructor.evil.x' } }],
  ])('ATK-153 %j is refused and changes nothing, in the document or in a prototype', async (operations) => {
    const { collections } = bed()
    const row = { _id: 'a', n: 1, list: [], text: 'x', none: null, rows: [{ text: 'x' }, {}], nested: [[[]]] }
    await collections.insert('rows', row)
    const shared = sharedMembers()
    await expect(collections.update('rows', {}, operations, { upsert: false })).rejects.toMatchObject(invalid)
    await expect(collections.updateMany('rows', {}, operations)).rejects.toMatchObject(invalid)
    expect(await collections.findOne('rows', {})).toEqual(row)
    expect(sharedMembers()).toEqual(shared)
  })

  test('a field of its own named constructor can be updated', async () => {
    const { collections } = bed()
    await collections.insert('rows', { _id: 'a', constructor: { name: 'Ferrari' } })
    await collections.update('rows', {}, { $set: { 'constructor.wins': 1 } }, { upsert: false })
    expect(await collections.findOne('rows', {})).toEqual({ _id: 'a', constructor: { name: 'Ferrari', wins: 1 } })
  })

  test('fields named like members of a list or a text can be updated', async () => {
    const { collections } = bed()
    await collections.insert('rows', { _id: 'a', rows: [{ filter: { on: false } }, {}] })
    const operations = { $set: { 'rows.$[].filter.on': true, 'new.map.length': 2, 'new.toString': 3 } }
    await collections.update('rows', {}, operations, { upsert: false })
    expect(await collections.findOne('rows', {})).toEqual({
      _id: 'a',
      rows: [{ filter: { on: true } }, { filter: { on: true } }],
      new: { map: { length: 2 }, toString: 3 },
    })
  })

  test('an upsert begins with what the filter compares for equality', async () => {
    const { collections } = bed()
    const filter = { $and: [{ 'a.b': 1 }], email: { $eq: 'x@y.z' }, n: { $gt: 5 }, name: /x/, _id: 'me' }
    const operations = { $inc: { n: 1 }, $setOnInsert: { first: true } }
    const made = await collections.update('rows', filter, operations, { upsert: true })
    expect(made).toEqual({ _id: 'me', a: { b: 1 }, email: 'x@y.z', n: 1, first: true })
    expect(await collections.update('rows', { none: 1 }, { n: 1 }, { upsert: false })).toBeNull()
    expect(await collections.replace('rows', { key: 1 }, { n: 2 }, { upsert: true })).toEqual({ _id: 'id0001', n: 2 })
  })

  test('many are updated, replaced and removed, and counted', async () => {
    const collections = await filled(Array.from({ length: 25 }, (_, n) => ({ n, even: n % 2 === 0 })))
    expect(await collections.updateMany('rows', { even: true }, { $inc: { n: 100 } })).toBe(13)
    expect(await collections.updateMany('rows', {}, { seen: true }, { sort: { n: -1 }, limit: 2 })).toBe(2)
    expect(await idsOf(collections, { seen: true })).toEqual(['id0023', 'id0025'])
    expect(await collections.replaceMany('rows', { even: false }, { odd: true, _id: 'ignored' })).toBe(12)
    expect(await collections.removeMany('rows', { odd: true })).toBe(12)
    expect(await collections.remove('rows', { n: 100 })).toBe('id0001')
    expect(await collections.remove('rows', { n: 100 })).toBeNull()
    expect(await collections.count('rows')).toBe(12)
  })
})

/** The document `a` after two children have incremented it `times` at once. */
async function incrementedByTwo(documents: Documents, times: number, options: WriteOptions): Promise<unknown> {
  const children = [bed({ documents }).collections, bed({ documents }).collections]
  const increments = Array.from({ length: times }, (_, n) =>
    children[n % 2]?.update('rows', { _id: 'a' }, { $inc: { n: 1 } }, options),
  )
  await Promise.all(increments)
  return children[0]?.findOne('rows', {})
}

describe('writes at once', () => {
  test('1,000 parallel $inc in two children on one document are exact', async () => {
    const { documents } = createSpaceStore()
    await documents.put('rows', 'a', '{"_id":"a","n":0}', 'absent')
    expect(await incrementedByTwo(documents, 1_000, { upsert: false })).toEqual({ _id: 'a', n: 1_000 })
  })

  test('parallel upserts by _id in two children make one document', async () => {
    const { documents } = createSpaceStore()
    expect(await incrementedByTwo(documents, 100, { upsert: true })).toEqual({ _id: 'a', n: 100 })
  })

  test('an update that is overtaken 20 times rejects with not_current', async () => {
    const { documents } = createSpaceStore()
    const racing: Documents = {
      ...documents,
      async get(name, id) {
        const found = await documents.get(name, id)
        if (found) await documents.put(name, id, found.body, 'any')
        return found
      },
      changeMany: async (_name, changes) => ({ changed: 0, overtaken: changes.map(({ id }) => id) }),
    }
    const { collections } = bed({ documents: racing })
    await collections.insert('rows', { _id: 'a', n: 1 })
    const update = collections.update('rows', { _id: 'a' }, { n: 2 }, { upsert: false })
    await expect(update).rejects.toMatchObject({ code: 'not_current' })
    await expect(collections.removeMany('rows', {})).rejects.toMatchObject({ code: 'not_current' })
  })

  test('many documents are written in few calls, and those that changed meanwhile one by one', async () => {
    const { documents } = createSpaceStore()
    const sizes: number[] = []
    const racing: Documents = {
      ...documents,
      async changeMany(name, changes) {
        sizes.push(changes.length)
        if (sizes.length === 1) {
          await documents.put(name, 'r0001', '{"_id":"r0001","n":5,"state":"new"}', 'any')
          await documents.put(name, 'r0002', '{"_id":"r0002","state":"done"}', 'any')
          await documents.remove(name, 'r0003', 'any')
        }
        return documents.changeMany(name, changes)
      },
    }
    const { collections } = bed({ documents: racing })
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ _id: `r${String(n).padStart(4, '0')}`, n, state: 'new' }))
    await collections.insertMany('rows', rows)
    expect(await collections.updateMany('rows', { state: 'new' }, { $inc: { n: 10 } })).toBe(1_198)
    expect(sizes).toEqual([500, 500, 200])
    const changed = await Promise.all(rows.slice(0, 3).map(({ _id }) => collections.findOne('rows', { _id })))
    expect(changed).toMatchObject([{ n: 10 }, { n: 15 }, { state: 'done' }])
    expect(await collections.removeMany('rows', { state: 'new' }, { limit: 600, offset: 100 })).toBe(600)
    expect(await idsOf(collections, {})).toHaveLength(599)
  })

  test('large documents are written a mebibyte at a time', async () => {
    const { documents } = createSpaceStore()
    const sizes: number[] = []
    const counting: Documents = {
      ...documents,
      changeMany(name, changes) {
        sizes.push(changes.length)
        return documents.changeMany(name, changes)
      },
    }
    const { collections } = bed({ documents: counting })
    await collections.insertMany(
      'rows',
      Array.from({ length: 10 }, () => ({ text: 'x'.repeat(300_000) })),
    )
    expect(await collections.updateMany('rows', {}, { seen: true })).toBe(10)
    expect(sizes).toEqual([3, 3, 3, 1])
    sizes.length = 0
    expect(await collections.replaceMany('rows', {}, { n: 1 })).toBe(10)
    expect(sizes).toEqual([3, 3, 3, 1])
    // Small ones that become large.
    sizes.length = 0
    expect(await collections.updateMany('rows', {}, { text: 'y'.repeat(500_000) })).toBe(10)
    expect(sizes).toEqual([2, 2, 2, 2, 2])
  })

  test('a batch that the store refuses is written in halves, so that one document is at fault', async () => {
    const { documents } = createSpaceStore()
    let calls = 0
    const unique: Documents = {
      ...documents,
      async changeMany(name, changes) {
        calls += 1
        if (changes.some(({ id }) => id === 'r300')) throw new StoreError('already_exists', 'The value is taken.')
        return documents.changeMany(name, changes)
      },
    }
    const { collections } = bed({ documents: unique })
    const rows = Array.from({ length: 500 }, (_, n) => ({ _id: `r${String(n).padStart(3, '0')}` }))
    await collections.insertMany('rows', rows)
    const refused = collections.updateMany('rows', {}, { seen: true })
    await expect(refused).rejects.toMatchObject({ code: 'already_exists' })
    expect(await idsOf(collections, { seen: true })).toHaveLength(300)
    expect(calls).toBeLessThan(20)
  })

  test('a fault at one of many leaves those before it changed, and is told', async () => {
    const { collections } = bed()
    const named = { toString: {} }
    await collections.insertMany('rows', [named, named, {}, named])
    await expect(collections.updateMany('rows', {}, { $set: { 'toString.x': 1 } })).rejects.toMatchObject(invalid)
    expect(await idsOf(collections, { 'toString.x': 1 })).toEqual(['id0001', 'id0002'])
  })

  test('a fault of a document that changed meanwhile leaves the others changed once', async () => {
    const { documents } = createSpaceStore()
    const racing: Documents = {
      ...documents,
      async changeMany(name, changes) {
        if (changes.length === 3) await documents.put(name, 'b', '{"_id":"b","n":2,"toString":1}', 'any')
        return documents.changeMany(name, changes)
      },
      async put(name, id, body, ifVersion) {
        if (body.includes('toString')) throw new StoreError('already_exists', 'The value is taken.')
        return documents.put(name, id, body, ifVersion)
      },
    }
    const { collections } = bed({ documents: racing })
    await collections.insertMany(
      'rows',
      ['a', 'b', 'c'].map((_id) => ({ _id, n: 1 })),
    )
    await expect(collections.updateMany('rows', {}, { $inc: { n: 10 } })).rejects.toMatchObject({
      code: 'already_exists',
    })
    const found: unknown[] = []
    for await (const { n } of collections.find('rows', {})) found.push(n)
    expect(found).toEqual([11, 2, 11])
  })

  test('a batch whose outcome is unknown is not written again', async () => {
    const { documents } = createSpaceStore()
    const lost: Documents = {
      ...documents,
      async changeMany(name, changes) {
        await documents.changeMany(name, changes)
        throw new StoreError('store_unavailable', 'The answer was lost.')
      },
    }
    const { collections } = bed({ documents: lost })
    await collections.insert('rows', { _id: 'a', n: 0 })
    await expect(collections.updateMany('rows', {}, { $inc: { n: 1 } })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(await collections.findOne('rows', {})).toMatchObject({ n: 1 })
  })

  test('parallel changes of many in two children are exact', async () => {
    const { documents } = createSpaceStore()
    const children = [bed({ documents }).collections, bed({ documents }).collections]
    await children[0]?.insertMany('rows', [
      { _id: 'a', n: 0 },
      { _id: 'b', n: 0 },
    ])
    const increment = { $inc: { n: 1 } }
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => {
        const child = children[at % 2]
        return at % 4 < 2
          ? child?.updateMany('rows', {}, increment)
          : child?.update('rows', { _id: 'a' }, increment, { upsert: false })
      }),
    )
    expect(await children[0]?.findOne('rows', { _id: 'a' })).toMatchObject({ n: 100 })
    expect(await children[0]?.findOne('rows', { _id: 'b' })).toMatchObject({ n: 50 })
  })

  test('a document that stops matching between search and write is left alone', async () => {
    const { documents } = createSpaceStore()
    let meddle = true
    const racing: Documents = {
      ...documents,
      async get(name, id) {
        if (id === 'a' && meddle) {
          meddle = false
          await documents.put(name, id, '{"_id":"a","state":"done"}', 'any')
        }
        return documents.get(name, id)
      },
    }
    const { collections } = bed({ documents: racing })
    await collections.insertMany('rows', [
      { _id: 'a', state: 'new' },
      { _id: 'b', state: 'new' },
    ])
    const claimed = await collections.update('rows', { state: 'new' }, { state: 'mine' }, { upsert: false })
    expect(claimed).toEqual({ _id: 'b', state: 'mine' })
    expect(await collections.findOne('rows', { _id: 'a' })).toEqual({ _id: 'a', state: 'done' })
  })
})

test('find equals mingo over all documents, for any filter that mingo takes', async () => {
  const plain = { noNullPrototype: true }
  const scalar = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom('a', 'b', '', null, true, false))
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ c: scalar }, plain))
  const document = fc.record({ a: value, b: value }, { requiredKeys: [], ...plain })
  const condition = fc.oneof(
    value,
    fc
      .constantFrom('$gt', '$gte', '$lt', '$lte', '$ne', '$eq')
      .chain((name) => scalar.map((each) => ({ [name]: each }))),
    fc.array(scalar, { maxLength: 3 }).chain((list) => fc.constantFrom({ $in: list }, { $nin: list })),
    fc.boolean().map(($exists) => ({ $exists })),
  )
  const field = fc.constantFrom('a', 'b', 'a.c', 'b.c')
  const simple = fc.tuple(field, condition).map(([name, each]) => ({ [name]: each }))
  const filter = fc.oneof(
    simple,
    fc.array(simple, { minLength: 1, maxLength: 3 }).chain((list) => fc.constantFrom({ $and: list }, { $or: list })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(document, { maxLength: 8 }), filter, async (rows, asked) => {
      const documents = rows.map((row, index) => ({ _id: `r${index}`, ...row }))
      const collections = await filled(documents)
      const expected = find(documents, asked)
        .all()
        .map(({ _id }) => String(_id))
      expect(await idsOf(collections, asked)).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})
