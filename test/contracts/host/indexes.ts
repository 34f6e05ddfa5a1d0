import { describe, expect, onTestFinished, test } from 'vitest'
import type { Documents, Indexes } from '../../../src/host/ports.js'
import { equalRanges, makeIndex, rangeBetween, scanAll, scanOf } from '../../support/index-scans.js'

export interface IndexesBed {
  documents: Documents
  indexes: Indexes
  close(): Promise<void>
}

const bodyOf = (fields: Record<string, unknown>) => JSON.stringify(fields)
const rowsOf = (count: number, fieldsOf: (n: number) => Record<string, unknown>, first = 0) =>
  Array.from({ length: count }, (_, n) => ({ id: idOf(first + n), body: bodyOf(fieldsOf(first + n)) }))
const idOf = (n: number) => `id${String(n).padStart(5, '0')}`

/** What every store of documents promises of indexes. */
export function indexesContract(name: string, open: () => Promise<IndexesBed>): void {
  async function store(): Promise<IndexesBed> {
    const bed = await open()
    onTestFinished(bed.close)
    return bed
  }

  describe(`indexes on ${name}`, () => {
    test('an index is made once, builds by pages, and is listed', async () => {
      const { documents, indexes } = await store()
      expect(await indexes.list('notes')).toEqual([])
      for (const first of [0, 1_000, 2_000]) {
        await documents.putMany(
          'notes',
          rowsOf(first === 2_000 ? 500 : 1_000, (n) => ({ n: n % 7 }), first),
          'absent',
        )
      }
      expect(await indexes.create('notes', 'n', false)).toBe(true)
      expect(await indexes.create('notes', 'n', true)).toBe(false)
      expect(await indexes.create('notes', 'a.b', true)).toBe(true)
      expect(await indexes.list('notes')).toMatchObject([
        { field: 'a.b', isUnique: true, state: 'building' },
        { field: 'n', isUnique: false, state: 'building' },
      ])
      expect(await indexes.build('notes', 'n')).toEqual({ processed: 1_000, of: 2_500, isReady: false })
      expect(await indexes.build('notes', 'n')).toEqual({ processed: 2_000, of: 2_500, isReady: false })
      expect(await indexes.build('notes', 'n')).toEqual({ processed: 2_500, of: 2_500, isReady: true })
      expect(await indexes.build('notes', 'n')).toEqual({ processed: 2_500, of: 2_500, isReady: true })
      const ready = { field: 'n', isUnique: false, state: 'ready', isMultikey: false, isOrdered: true }
      expect((await indexes.list('notes'))[1]).toEqual(ready)
      const { ids } = await scanAll(indexes, 'notes', scanOf('n', { choices: [equalRanges(3)], limit: 100 }))
      expect(ids).toEqual(
        rowsOf(2_500, () => ({}))
          .map(({ id }) => id)
          .filter((_, n) => n % 7 === 3),
      )
    })

    test('an index of a missing collection makes it, and is ready after one page', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      expect(await documents.list()).toMatchObject([{ name: 'notes', count: 0 }])
      expect(await indexes.list('notes')).toMatchObject([{ state: 'ready' }])
      await expect(indexes.build('notes', 'other')).rejects.toMatchObject({ code: 'query_invalid' })
      await expect(indexes.build('none', 'n')).rejects.toMatchObject({ code: 'query_invalid' })
    })

    test('every write keeps the entries up to date', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      const withValue = async (value: unknown) =>
        (await scanAll(indexes, 'notes', scanOf('n', { choices: [equalRanges(value)] }))).ids
      await documents.put('notes', 'a', bodyOf({ n: 1 }), 'absent')
      await documents.putMany(
        'notes',
        ['b', 'c'].map((id) => ({ id, body: bodyOf({ n: 1 }) })),
        'absent',
      )
      expect(await withValue(1)).toEqual(['a', 'b', 'c'])
      await documents.put('notes', 'a', bodyOf({ n: 2 }), 'any')
      await documents.putMany('notes', [{ id: 'b', body: bodyOf({ n: 2 }) }], 'any')
      await documents.putMany('notes', [{ id: 'c', body: bodyOf({ n: 3 }) }], 'absent')
      expect([await withValue(1), await withValue(2), await withValue(3)]).toEqual([['c'], ['a', 'b'], []])
      await documents.remove('notes', 'a', 'any')
      expect(await withValue(2)).toEqual(['b'])
      const changes = await Promise.all(
        ['b', 'c'].map(async (id) => ({ id, version: (await documents.get('notes', id))?.version ?? 0 })),
      )
      const [b, c] = changes.map((each, at) => ({ ...each, body: at === 0 ? bodyOf({ n: 7 }) : null }))
      expect(await documents.changeMany('notes', b && c ? [b, c] : [])).toEqual({ changed: 2, overtaken: [] })
      expect([await withValue(1), await withValue(2), await withValue(7)]).toEqual([[], [], ['b']])
      await documents.put('notes', 'b', bodyOf({ n: 2 }), 'any')
      await expect(documents.put('notes', 'b', bodyOf({ n: 9 }), 'absent')).rejects.toMatchObject({
        code: 'not_current',
      })
      expect([await withValue(2), await withValue(9)]).toEqual([['b'], []])
    })

    test('a scan is by key, both ways, and equal keys stay in order of _id, over all pages', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      await documents.putMany(
        'notes',
        rowsOf(30, (n) => ({ n: n % 4 })),
        'absent',
      )
      const order = (direction: 1 | -1) =>
        rowsOf(30, (n) => ({ n: n % 4 }))
          .map(({ id }, n) => ({ id, n: n % 4 }))
          .sort((one, other) => direction * (one.n - other.n))
          .map(({ id }) => id)
      for (const direction of [1, -1] as const) {
        for (const limit of [1, 3, 1_000]) {
          const { ids } = await scanAll(indexes, 'notes', scanOf('n', { order: direction, limit }))
          expect(ids).toEqual(order(direction))
        }
        const choices = [[...rangeBetween(0, 1), ...rangeBetween(2, 4)]]
        const { ids } = await scanAll(indexes, 'notes', scanOf('n', { choices, order: direction, limit: 4 }))
        expect(ids).toEqual(order(direction).filter((id) => Number(id.slice(2)) % 4 !== 1))
      }
    })

    test('a scan goes on where its page ended, although documents come and go', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      await documents.putMany(
        'notes',
        rowsOf(20, (n) => ({ n: Math.floor(n / 3) })),
        'absent',
      )
      for (const order of [1, -1] as const) {
        const first = await indexes.scan('notes', scanOf('n', { order, limit: 5 }))
        await documents.remove('notes', first.documents.at(-1)?.id ?? '', 'any')
        const { ids } = await scanAll(indexes, 'notes', scanOf('n', { order }))
        const rest = await indexes.scan('notes', scanOf('n', { order, after: first.next }))
        expect(rest.documents.map(({ id }) => id)).toEqual(ids.slice(4))
      }
    })

    test('a page holds at most 256 KiB, but one document at least', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      const text = (bytes: number) => 'x'.repeat(bytes)
      for (let n = 0; n < 5; n += 1) {
        await documents.put('notes', idOf(n), bodyOf({ n, text: text(100 * 1024) }), 'absent')
      }
      await documents.put('notes', 'z', bodyOf({ n: 5, text: text(1024 * 1024) }), 'absent')
      expect((await scanAll(indexes, 'notes', scanOf('n'))).sizes).toEqual([2, 2, 1, 1])
    })

    test('of several choices the one with the fewest entries is read', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'n')
      await documents.putMany(
        'notes',
        rowsOf(50, (n) => ({ n })),
        'absent',
      )
      const choices = [rangeBetween(0, 40), rangeBetween(44, 48), rangeBetween(5, 45)]
      const { ids } = await scanAll(indexes, 'notes', scanOf('n', { choices, limit: 2 }))
      expect(ids).toEqual([44, 45, 46, 47].map(idOf))
    })

    test('an array has its entries, and a scan needs a plan that knows of it, as long as there is one', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'notes', 'tags')
      const outdated = { code: 'plan_outdated' }
      expect(await indexes.scan('notes', scanOf('tags'))).toEqual({ documents: [], next: null })
      await documents.put('notes', 'a', bodyOf({ tags: ['x', 'y'] }), 'absent')
      await documents.put('notes', 'b', bodyOf({ tags: null }), 'absent')
      await expect(indexes.scan('notes', scanOf('tags'))).rejects.toMatchObject(outdated)
      const seen = { isMultikey: true, isOrdered: false }
      expect(await indexes.list('notes')).toMatchObject([seen])
      const { ids } = await scanAll(indexes, 'notes', scanOf('tags', { seen, choices: [equalRanges('y')] }))
      expect(ids).toEqual(['a'])
      await documents.put('notes', 'a', bodyOf({ tags: 'x' }), 'any')
      await expect(indexes.scan('notes', scanOf('tags', { seen }))).rejects.toMatchObject(outdated)
      await documents.remove('notes', 'b', 'any')
      expect((await scanAll(indexes, 'notes', scanOf('tags'))).ids).toEqual(['a'])
    })

    test('a scan of an index that is gone or not ready is outdated', async () => {
      const { documents, indexes } = await store()
      const outdated = { code: 'plan_outdated' }
      await expect(indexes.scan('none', scanOf('n'))).rejects.toMatchObject(outdated)
      await documents.putMany(
        'notes',
        rowsOf(10, (n) => ({ n })),
        'absent',
      )
      await indexes.create('notes', 'n', false)
      await expect(indexes.scan('notes', scanOf('n'))).rejects.toMatchObject(outdated)
      await indexes.build('notes', 'n')
      const page = await indexes.scan('notes', scanOf('n', { limit: 5 }))
      expect(await indexes.remove('notes', 'n')).toBe(true)
      expect(await indexes.remove('notes', 'n')).toBe(false)
      await expect(indexes.scan('notes', scanOf('n', { after: page.next }))).rejects.toMatchObject(outdated)
      await makeIndex(indexes, 'notes', 'n')
      expect((await scanAll(indexes, 'notes', scanOf('n'))).ids).toHaveLength(10)
    })

    test('ATK-203 a field, an _id and a value are never read as SQL', async () => {
      const { documents, indexes } = await store()
      const texts = [`a'b`, 'a"; drop table c1; --', 'a\\', '$1', '%', "{'a'}", 'c1']
      for (const [at, text] of texts.entries()) {
        const field = text.replaceAll('$', '')
        await makeIndex(indexes, 'notes', field, at % 2 === 0)
        await documents.put('notes', text, bodyOf({ [field]: text }), 'absent')
        const { ids } = await scanAll(indexes, 'notes', scanOf(field, { choices: [equalRanges(text)], order: -1 }))
        expect(ids).toEqual([text])
      }
      expect((await indexes.list('notes')).map(({ field }) => field)).toHaveLength(texts.length)
      for (const { field } of await indexes.list('notes')) expect(await indexes.remove('notes', field)).toBe(true)
      expect(await documents.count('notes')).toBe(texts.length)
    })

    test('a dropped collection takes its indexes along', async () => {
      const { documents, indexes } = await store()
      await documents.put('notes', 'a', bodyOf({ n: 1 }), 'absent')
      await makeIndex(indexes, 'notes', 'n', true)
      await documents.drop('notes')
      expect(await indexes.list('notes')).toEqual([])
      await documents.put('notes', 'b', bodyOf({ n: 1 }), 'absent')
      await documents.put('notes', 'c', bodyOf({ n: 1 }), 'absent')
      expect(await indexes.list('notes')).toEqual([])
    })

    test('writes while an index builds are in it, before and behind the place that it has reached', async () => {
      const { documents, indexes } = await store()
      for (const first of [0, 1_000])
        await documents.putMany(
          'notes',
          rowsOf(1_000, (n) => ({ n }), first),
          'absent',
        )
      await indexes.create('notes', 'n', false)
      await indexes.build('notes', 'n')
      for (const [id, n] of [
        [idOf(5), -1],
        [idOf(1_500), -2],
        ['a', -3],
        ['z', -4],
      ] as const) {
        await documents.put('notes', id, bodyOf({ n }), 'any')
      }
      for (const id of [idOf(6), idOf(1_501)]) await documents.put('notes', id, bodyOf({ n: [-5] }), 'any')
      for (const id of [idOf(7), idOf(1_502)]) await documents.remove('notes', id, 'any')
      while (!(await indexes.build('notes', 'n')).isReady);
      const seen = { isMultikey: true, isOrdered: false }
      expect(await indexes.list('notes')).toMatchObject([seen])
      const negative = await scanAll(indexes, 'notes', scanOf('n', { seen, order: 1, choices: [rangeBetween(-9, 0)] }))
      expect(negative.ids).toEqual([idOf(6), idOf(1_501), 'z', 'a', idOf(1_500), idOf(5)])
      const all = await scanAll(indexes, 'notes', scanOf('n', { seen }))
      expect(new Set(all.ids).size).toBe(2_000)
      for (const id of [idOf(6), idOf(1_501)]) await documents.put('notes', id, bodyOf({ n: 1 }), 'any')
      expect(await indexes.list('notes')).toMatchObject([{ isMultikey: false, isOrdered: true }])
    })

    test('ATK-203 fields and numbers of indexes out of bounds are refused', async () => {
      const { indexes } = await store()
      for (const field of [
        '',
        '_id',
        '__proto__',
        'a.__proto__',
        '$where',
        'a.$b',
        'a\u0000',
        'x'.repeat(256),
        '\ud800',
      ]) {
        await expect(indexes.create('notes', field, false)).rejects.toMatchObject({ code: 'query_invalid' })
      }
      await expect(indexes.create('_notes', 'a', false)).rejects.toMatchObject({ code: 'query_invalid' })
      for (let n = 0; n < 64; n += 1) await indexes.create('notes', `f${n}`, false)
      await expect(indexes.create('notes', 'one more', false)).rejects.toMatchObject({ code: 'quota_exceeded' })
      expect(await indexes.create('notes', 'f1', false)).toBe(false)
      expect(await indexes.create('others', 'one more', false)).toBe(true)
    })
  })

  uniqueContract(name, store)
}

function uniqueContract(name: string, store: () => Promise<IndexesBed>): void {
  const taken = { code: 'already_exists' }

  describe(`unique indexes on ${name}`, () => {
    test('ATK-206 a value is taken once, by every kind of write, and the refusal does not repeat it', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'email', true)
      await documents.put('users', 'a', bodyOf({ email: 'secret-a' }), 'absent')
      await documents.put('users', 'b', bodyOf({ email: 'secret-b' }), 'absent')
      const refused = documents.put('users', 'c', bodyOf({ email: 'secret-a' }), 'absent')
      await expect(refused).rejects.toMatchObject({ code: 'already_exists', message: expect.stringContaining('email') })
      await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('secret') })
      await expect(documents.put('users', 'b', bodyOf({ email: 'secret-a' }), 'any')).rejects.toMatchObject(taken)
      const rows = ['c', 'd'].map((id) => ({ id, body: bodyOf({ email: 'twice' }) }))
      await expect(documents.putMany('users', rows, 'absent')).rejects.toMatchObject(taken)
      expect(await documents.count('users')).toBe(2)
      await documents.put('users', 'a', bodyOf({ email: 'secret-a', n: 1 }), 'any')
      await documents.remove('users', 'a', 'any')
      await documents.put('users', 'b', bodyOf({ email: 'secret-a' }), 'any')
      await documents.put('users', 'c', bodyOf({ email: 'secret-b' }), 'absent')
    })

    test('ATK-206 documents of one call may exchange their values', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'n', true)
      const rows = (...values: number[]) => values.map((n, at) => ({ id: `u${at}`, body: bodyOf({ n }) }))
      await documents.putMany('users', rows(1, 2, 3), 'absent')
      await documents.putMany('users', rows(3, 1, 2), 'any')
      await expect(documents.putMany('users', rows(3, 3, 1), 'any')).rejects.toMatchObject(taken)
    })

    test('ATK-206 changes of one call may not pass on values: the result would depend on how many a call has', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'n', true)
      const versions = await Promise.all(
        [1, 2].map((n) => documents.put('users', `u${n}`, bodyOf({ n }), 'absent').then((version) => ({ n, version }))),
      )
      const changes = versions.map(({ n, version }) => ({ id: `u${n}`, version, body: bodyOf({ n: n + 1 }) }))
      await expect(documents.changeMany('users', changes)).rejects.toMatchObject(taken)
      const [first, second] = changes
      if (!first || !second) throw new Error('There are two.')
      await expect(documents.changeMany('users', [first])).rejects.toMatchObject(taken)
      expect(await documents.changeMany('users', [second])).toEqual({ changed: 1, overtaken: [] })
      expect(await documents.changeMany('users', [first])).toEqual({ changed: 1, overtaken: [] })
    })

    test('ATK-206 values that only look alike never clash, and missing and null are free', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'v', true)
      const long = 'x'.repeat(200)
      const different = [
        1,
        '1',
        true,
        { $date: 1 },
        'a',
        'A',
        'ä',
        '',
        long,
        `${long}a`,
        `${long}b`,
        `${long.slice(1)}é`,
      ]
      const texts = ['\ud800', '\ud801', '\ufffd', 'a\u0000', `${'é'.repeat(100)}a`, `${'é'.repeat(100)}b`, false, 0]
      for (const [n, v] of [...different, ...texts].entries()) {
        await documents.put('users', `d${n}`, bodyOf({ v }), 'absent')
        await expect(documents.put('users', 'other', bodyOf({ v }), 'absent')).rejects.toMatchObject(taken)
      }
      await expect(documents.put('users', 'other', '{"v":-0.0}', 'absent')).rejects.toMatchObject(taken)
      for (const n of [1, 2, 3]) {
        await documents.put('users', `null${n}`, bodyOf({ v: null }), 'absent')
        await documents.put('users', `missing${n}`, bodyOf({}), 'absent')
      }
    })

    test('ATK-206 arrays and objects are refused, and leave the document as it was', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'v', true)
      await documents.put('users', 'a', bodyOf({ v: 1 }), 'absent')
      for (const v of [[], [1], {}, { a: 1 }, { $date: null }]) {
        const refused = { code: 'query_invalid', message: expect.stringContaining(' v ') }
        await expect(documents.put('users', 'a', bodyOf({ v }), 'any')).rejects.toMatchObject(refused)
        await expect(documents.put('users', 'b', bodyOf({ v }), 'absent')).rejects.toMatchObject(refused)
      }
      expect(await documents.get('users', 'a')).toMatchObject({ body: '{"v":1}' })
      expect(await documents.get('users', 'b')).toBeNull()
    })

    test('ATK-206 of 20 parallel inserts of one value one wins', async () => {
      const { documents, indexes } = await store()
      await makeIndex(indexes, 'users', 'email', true)
      const puts = Array.from({ length: 20 }, (_, n) =>
        documents.put('users', `u${n}`, bodyOf({ email: 'a' }), 'absent'),
      )
      const settled = await Promise.allSettled(puts)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const each of settled) if (each.status === 'rejected') expect(each.reason).toMatchObject(taken)
      expect(await documents.count('users')).toBe(1)
    })

    test('ATK-206 it holds for writes while it builds', async () => {
      const { documents, indexes } = await store()
      for (const first of [0, 1_000])
        await documents.putMany(
          'users',
          rowsOf(1_000, (n) => ({ n }), first),
          'absent',
        )
      await indexes.create('users', 'n', true)
      await documents.put('users', 'new', bodyOf({ n: -1 }), 'absent')
      await expect(documents.put('users', 'newer', bodyOf({ n: -1 }), 'absent')).rejects.toMatchObject(taken)
      await indexes.build('users', 'n')
      await expect(documents.put('users', 'newer', bodyOf({ n: 5 }), 'absent')).rejects.toMatchObject(taken)
      await documents.put('users', idOf(1_500), bodyOf({ n: -2 }), 'any')
      while (!(await indexes.build('users', 'n')).isReady);
      for (const n of [-1, -2, 1_999]) {
        await expect(documents.put('users', 'newer', bodyOf({ n }), 'absent')).rejects.toMatchObject(taken)
      }
      await documents.put('users', 'newer', bodyOf({ n: 1_500 }), 'absent')
    })

    test('ATK-206 duplicates end the building, ten of them are named, and the index is gone', async () => {
      const { documents, indexes } = await store()
      await documents.putMany(
        'users',
        rowsOf(100, (n) => ({ n: n < 30 ? n % 15 : n, list: [n] })),
        'absent',
      )
      await indexes.create('users', 'n', true)
      const fault = await indexes.build('users', 'n').catch((error: unknown) => error)
      expect(fault).toMatchObject({ code: 'query_invalid', message: expect.stringContaining(' n') })
      expect(String(fault).match(/"id\d{5}"/g)).toHaveLength(10)
      await indexes.create('users', 'list', true)
      await expect(indexes.build('users', 'list')).rejects.toMatchObject({ code: 'query_invalid' })
      expect(await indexes.list('users')).toEqual([])
      await documents.put('users', 'again', bodyOf({ n: 0, list: [0] }), 'absent')
    })

    test('ATK-206 a value that a write took before the builder came to its older holder ends the building', async () => {
      const { documents, indexes } = await store()
      await documents.put('users', 'old', bodyOf({ n: 1 }), 'absent')
      await indexes.create('users', 'n', true)
      await documents.put('users', 'new', bodyOf({ n: 1 }), 'absent')
      await expect(indexes.build('users', 'n')).rejects.toThrow(/"new".*"old"|"old".*"new"/)
      expect(await indexes.list('users')).toEqual([])
    })
  })
}
