import { createRequire } from 'node:module'
import fc from 'fast-check'
import { find } from 'mingo'
import { describe, expect, test } from 'vitest'
import { type Collections, createCollections } from '../../../src/host/documents/collections.js'
import { bounds } from '../../../src/host/documents/meter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { stepsOf } from '../../../src/host/documents/patterns.js'
import { createSpaceStore } from '../../support/space-store.js'

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())

/** @param limits.isPatient the time limit of a document is far away, however slow the machine is */
async function filled(
  rows: readonly object[],
  nowMs = () => performance.now(),
  { isPatient = false } = {},
): Promise<Collections> {
  const engine = await loadMingo(createRequire(import.meta.url).resolve('mingo'), nowMs)
  const { meter } = engine
  const watch = meter.watch.bind(meter)
  if (isPatient) meter.watch = (job, milliseconds) => watch(job, milliseconds * 60)
  const { documents, indexes } = createSpaceStore()
  let ids = 0
  const newId = () => {
    ids += 1
    return `id${String(ids).padStart(4, '0')}`
  }
  const log = { report: () => {}, onFault: () => {} }
  const ports = { documents, indexes, mingo: engine, newId, pause: async () => {}, nowMs, literalDots: false, ...log }
  const collections = createCollections(ports)
  await collections.insertMany('rows', rows)
  return collections
}

async function found(collections: Collections, filter: unknown, options = {}): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for await (const row of collections.find('rows', filter, options)) rows.push(row)
  return rows
}

const invalid = { code: 'query_invalid', message: expect.stringMatching(/^[A-Z$].*\.$/s) }
const many = { $range: [0, 4_000_000_000] }
const doubled = (join: object, input: unknown = { $range: [0, 40] }) => ({
  $reduce: { input, initialValue: [0, 1, 2, 3], in: join },
})
const catastrophic = `${'a'.repeat(60)}b`

describe('ATK-236 an expression that makes too much is refused', () => {
  const list = { $concatArrays: ['$$value', '$$value'] }
  test.each<[string, object]>([
    ['$range', { $size: many }],
    ['$range whose counter does not move', { $size: { $range: [2 ** 53, 2 ** 53 + 10] } }],
    ['$range backwards', { $size: { $range: [4_000_000_000, 0, -1] } }],
    ['$reduce with $concatArrays', { $size: doubled(list) }],
    [
      '$reduce with $concat',
      {
        $strLenCP: {
          $reduce: { input: { $range: [0, 60] }, initialValue: 'abcd', in: { $concat: ['$$value', '$$value'] } },
        },
      },
    ],
    [
      '$map in $map',
      {
        $size: {
          $map: { input: { $range: [0, 2_000] }, in: { $map: { input: { $range: [0, 2_000] }, in: '$$this' } } },
        },
      },
    ],
    ['$map that makes long lists', { $size: { $map: { input: { $range: [0, 90_000] }, in: Array(50).fill(1) } } }],
    [
      '$map that makes long texts',
      {
        $size: { $map: { input: { $range: [0, 90_000] }, in: { $concat: Array(200).fill('abcdefghij') } } },
      },
    ],
    [
      '$filter in $filter',
      {
        $size: {
          $filter: {
            input: { $range: [0, 2_000] },
            cond: { $filter: { input: { $range: [0, 2_000] }, cond: { $gt: ['$$this', 0] } } },
          },
        },
      },
    ],
    ['$zip', { $size: { $zip: { inputs: Array(200).fill({ $range: [0, 9_000] }), useLongestLength: true } } }],
    ['$setUnion', { $size: { $setUnion: Array(200).fill({ $range: [0, 9_000] }) } }],
    ['$concatArrays of many', { $size: { $concatArrays: Array(200).fill({ $range: [0, 9_000] }) } }],
    [
      '$replaceAll',
      {
        $strLenCP: {
          $replaceAll: {
            input: { $replaceAll: { input: 'a'.repeat(2_000), find: 'a', replacement: 'a'.repeat(2_000) } },
            find: 'a',
            replacement: 'a'.repeat(2_000),
          },
        },
      },
    ],
    [
      '$split',
      {
        $size: {
          $split: [{ $replaceAll: { input: 'a'.repeat(3_000), find: 'a', replacement: 'b'.repeat(3_000) } }, ''],
        },
      },
    ],
    ['a path over a list, again and again', { $size: { $map: { input: { $range: [0, 5_000] }, in: '$list.n' } } }],
    [
      'an accumulator over a list',
      {
        $size: { $reduce: { input: [{ $range: [0, 90_000] }], initialValue: [], in: { $push: Array(50).fill(1) } } },
      },
    ],
    [
      '$regexFindAll of an empty match',
      { $size: { $regexFindAll: { input: { $concat: Array(20).fill('$long') }, regex: 'x*' } } },
    ],
  ])('%s', async (_what, expression) => {
    const row = { _id: 'a', list: Array.from({ length: 1_000 }, (_, n) => ({ n })), long: 'a'.repeat(90_000) }
    const collections = await filled([row])
    await expect(found(collections, { $expr: { $gt: [expression, -1] } })).rejects.toMatchObject(invalid)
    await expect(found(collections, {}, { projection: { made: expression } })).rejects.toMatchObject(invalid)
    await expect(collections.removeMany('rows', { $expr: { $gt: [expression, -1] } })).rejects.toMatchObject(invalid)
    expect(await collections.count('rows')).toBe(1)
  })
})

describe('ATK-236 a value that shares its parts counts with all that they hold', () => {
  const layers = (depth: number, width: number, names: readonly string[], last: object): object => {
    const nested = (at: number): object => {
      const vars = names.map((name) => [`${name}${at}`, Array(width).fill(`$$${name}${at - 1}`)])
      return { $let: { vars: Object.fromEntries(vars), in: at === depth ? last : nested(at + 1) } }
    }
    const first = names.map((name) => [`${name}0`, [1, 2, 3]])
    return { $let: { vars: Object.fromEntries(first), in: nested(1) } }
  }
  const pair = ['$$l6', '$$r6']
  test.each<[string, object]>([
    ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$in', '$indexOfArray'].map((name): [string, object] => [
      name,
      { [name]: name === '$indexOfArray' ? ['$$r6', '$$l6'] : pair },
    ]),
    ...['$setEquals', '$setUnion', '$setIntersection', '$setDifference', '$setIsSubset'].map(
      (name): [string, object] => [name, { [name]: pair }],
    ),
    ['$sortArray', { $sortArray: { input: pair, sortBy: 1 } }],
    ['$max', { $max: [pair] }],
    ['$min', { $min: pair }],
    ['$addToSet', { $addToSet: pair }],
    ['$toHashedIndexKey', { $toHashedIndexKey: '$$l6' }],
  ])('%s', async (_what, last) => {
    const collections = await filled([{ _id: 'a', a: 1 }])
    const expression = layers(6, 30, ['l', 'r'], last)
    await expect(found(collections, { $expr: expression })).rejects.toMatchObject(invalid)
    await expect(found(collections, {}, { projection: { x: expression } })).rejects.toMatchObject(invalid)
    const pulled = { $pull: { list: { $expr: expression } } }
    await collections.insertMany('rows', [{ _id: 'b', list: [{ n: 1 }] }])
    await expect(collections.update('rows', { _id: 'b' }, pulled, { upsert: false })).rejects.toMatchObject(invalid)
  })

  test('a literal list of large ones in place of a variable', async () => {
    const collections = await filled([{ _id: 'a' }])
    const wide = (name: string) => Array(100).fill(Array(100).fill(name))
    const expression = layers(3, 20, ['l', 'r'], { $eq: [wide('$$l3'), wide('$$r3')] })
    await expect(found(collections, { $expr: expression })).rejects.toMatchObject(invalid)
  })

  test('$reduce and $map that nest what they have', async () => {
    const collections = await filled([{ _id: 'a' }])
    const doubling = { $reduce: { input: { $range: [0, 40] }, initialValue: 1, in: ['$$value', '$$value'] } }
    await expect(found(collections, {}, { projection: { x: doubling } })).rejects.toMatchObject(invalid)
    await expect(found(collections, { $expr: { $eq: [doubling, 1] } })).rejects.toMatchObject(invalid)
  })

  test('a projected field', async () => {
    const collections = await filled([{ _id: 'a' }])
    for (const depth of [7, 9]) {
      const projection = { x: layers(depth, 10, ['l'], [`$$l${depth}`]) }
      await expect(found(collections, {}, { projection })).rejects.toMatchObject(invalid)
    }
  })

  test('the projected documents of one call together', async () => {
    const collections = await filled(Array.from({ length: 10 }, (_, n) => ({ n })))
    const projection = { x: layers(5, 10, ['l'], ['$$l5']) }
    expect(await found(collections, {}, { projection, limit: 5 })).toHaveLength(5)
    const all = found(collections, {}, { projection: { x: layers(5, 10, ['l'], ['$$l5', '$$l5']) } })
    await expect(all).rejects.toMatchObject({ ...invalid, message: expect.stringContaining('4,000,000') })
  })
})

describe('ATK-236 a regular expression that backtracks is ended', () => {
  test.each<[string, object]>([
    ['$regex', { text: { $regex: '^(a+)+$' } }],
    ['$regex of alternatives', { text: { $regex: '^(a|a)*$' } }],
    ['$regex of overlapping ones', { text: { $regex: '^(a|aa)+$' } }],
    ['$regex with a look-ahead', { text: { $regex: '^(?=(a+)+$)' } }],
    ['a literal', { text: /^(a+)+$/ }],
    ['$not', { text: { $not: /^(a+)+$/ } }],
    ['$in', { text: { $in: [/^(a+)+$/] } }],
    ['$nin', { text: { $nin: [/^(a+)+$/] } }],
    ['$all', { texts: { $all: [/^(a+)+$/] } }],
    ['$elemMatch', { list: { $elemMatch: { text: { $regex: '^(a+)+$' } } } }],
    ['$regexMatch', { $expr: { $regexMatch: { input: '$text', regex: '^(a+)+$' } } }],
    ['$regexFindAll', { $expr: { $gt: [{ $size: { $regexFindAll: { input: '$text', regex: '(a+)+$' } } }, 5] } }],
    [
      'the format of $dateFromString',
      {
        $expr: { $dateFromString: { dateString: `2024-01-02${catastrophic}`, format: '%Y-%m-%d(a+)+' } },
      },
    ],
  ])('%s', async (_what, filter) => {
    const collections = await filled([
      { _id: 'a', text: catastrophic, texts: [catastrophic], list: [{ text: catastrophic }] },
    ])
    const outcome = found(collections, filter)
    // mingo escapes most of a format, so that one may be harmless.
    if (_what.startsWith('the format')) await outcome.catch((error: unknown) => expect(error).toMatchObject(invalid))
    else
      await expect(outcome).rejects.toMatchObject({ ...invalid, message: expect.stringContaining('takes longer than') })
  })

  test('one call of many documents ends after its time, however little each of them takes', async () => {
    let now = 0
    const nowMs = () => {
      now += 400
      return now
    }
    const rows = Array.from({ length: 4_000 }, (_, n) => ({ text: `${'a'.repeat(3_000)}${n}` }))
    const collections = await filled(rows, nowMs)
    await expect(found(collections, { text: { $regex: 'a.*b.*c' } })).rejects.toMatchObject({
      ...invalid,
      message: expect.stringContaining('10 s'),
    })
  })

  test('other work gets its turn meanwhile', async () => {
    const rows = Array.from({ length: 60 }, (_, n) => ({ text: `${'a'.repeat(250)}${n}` }))
    const collections = await filled(rows)
    const order: string[] = []
    const heavy = found(collections, { text: { $regex: 'a.*a.*b' } }).then(() => order.push('heavy'))
    setTimeout(() => order.push('timer'), 0)
    await heavy
    expect(order).toEqual(['timer', 'heavy'])
  })

  test('a fault after matches comes where it belongs', async () => {
    const rows = [
      ...Array.from({ length: 20 }, (_, n) => ({ _id: `a${n + 10}`, text: 'aaa' })),
      { _id: 'b', text: catastrophic },
    ]
    const collections = await filled(rows)
    const seen: string[] = []
    const reading = async () => {
      for await (const { _id } of collections.find('rows', { text: /^(a+)+$/ })) seen.push(_id)
    }
    await expect(reading()).rejects.toMatchObject(invalid)
    expect(seen).toHaveLength(20)
  })
})

describe('ATK-236 an update, a sort and a projection stay within their bounds', () => {
  test.each<[string, object]>([
    ['a position far behind the end', { $set: { 'list.4294967290': 1 } }],
    ['such a position on the way', { $set: { 'list.4294967290.a': 1 } }],
    ['one that is no index any more', { $inc: { 'list.4294967299': 1 } }],
    ['a large value in each element', { $set: { 'list.$[].made': Array(2_000).fill(1) } }],
    ['a large value in each element, pushed', { $push: { 'list.tags': { $each: Array(2_000).fill(1) } } }],
    ['a path of many names', { $set: { [Array(200).fill('a').join('.')]: 1 } }],
    ['a pattern that backtracks', { $pull: { texts: { $regex: '^(a+)+$' } } }],
    ['an expression in $pull', { $pull: { list: { $expr: { $size: many } } } }],
  ])('%s', async (_what, operations) => {
    const row = { _id: 'a', list: Array.from({ length: 1_000 }, (_, n) => ({ n })), texts: [catastrophic] }
    const collections = await filled([row])
    for (const upsert of [false, true]) {
      await expect(collections.update('rows', { _id: 'a' }, operations, { upsert })).rejects.toMatchObject(invalid)
    }
    await expect(collections.updateMany('rows', {}, operations)).rejects.toMatchObject(invalid)
    expect(await found(collections, {})).toEqual([row])
  })

  test('$push takes any position and slice', async () => {
    const collections = await filled([{ _id: 'a', list: [1, 2] }])
    const far = { $each: [3], $position: 4_294_967_290, $slice: 4_294_967_290 }
    expect(await collections.update('rows', {}, { $push: { list: far } }, { upsert: false })).toEqual({
      _id: 'a',
      list: [1, 2, 3],
    })
    const before = { $each: [4], $position: -4_294_967_290, $slice: -4_294_967_290 }
    expect(await collections.update('rows', {}, { $push: { list: before } }, { upsert: false })).toMatchObject({
      _id: 'a',
    })
  })

  test('a position just behind the end is filled', async () => {
    const collections = await filled([{ _id: 'a', list: [1] }])
    await collections.update('rows', {}, { $set: { 'list.3': 4 } }, { upsert: false })
    expect(await found(collections, {})).toEqual([{ _id: 'a', list: [1, null, null, 4] }])
  })

  test('a sort takes 32 fields, and paths have 64 names', async () => {
    const collections = await filled([{ _id: 'a' }])
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 1]))
    expect(await found(collections, {}, { sort: fields(32) })).toHaveLength(1)
    const long = Array(65).fill('a').join('.')
    const findings = [
      () => found(collections, {}, { sort: fields(33) }),
      () => found(collections, {}, { sort: { [long]: 1 } }),
      () => found(collections, {}, { projection: { [long]: 1 } }),
      () => found(collections, { [long]: 1 }),
      () => found(collections, { $expr: { $eq: [`$${long}`, 1] } }),
    ]
    for (const run of findings) await expect(run()).rejects.toMatchObject(invalid)
  })

  test('a sort of lists in lists is ended', async () => {
    const nested = (depth: number, leaf: number): unknown =>
      depth === 0 ? leaf : [nested(depth - 1, leaf), nested(depth - 1, leaf)]
    const collections = await filled([0, 1].map((leaf) => ({ list: nested(16, leaf) })))
    await expect(found(collections, {}, { sort: { list: 1 } })).rejects.toMatchObject(invalid)
  })
})

describe('what applications ask for is within the bounds', () => {
  test('lists, texts and patterns of a usual size', async () => {
    const items = Array.from({ length: 5_000 }, (_, n) => ({ price: { amount: n }, name: `item ${n}` }))
    const row = { _id: 'a', items, mail: 'someone@example.org', text: `${'lorem ipsum '.repeat(20_000)}end` }
    const collections = await filled([row], () => 0, { isPatient: true })
    const total = { $sum: { $map: { input: '$items', in: { $multiply: ['$$this.price.amount', 2] } } } }
    const dear = { $filter: { input: '$items', cond: { $gte: ['$$this.price.amount', 4_990] } } }
    const [made] = await found(
      collections,
      {},
      { projection: { total, dear, first: { $arrayElemAt: ['$items.name', 0] } } },
    )
    expect(made).toMatchObject({ total: 24_995_000, first: 'item 0' })
    expect(made?.dear).toHaveLength(10)
    const names = {
      $reduce: {
        input: '$items.name',
        initialValue: '',
        in: { $concat: ['$$value', { $substrCP: ['$$this', 0, 1] }] },
      },
    }
    expect(await found(collections, { $expr: { $eq: [{ $strLenCP: names }, 5_000] } })).toHaveLength(1)
    for (const text of [/lorem.*end/, /(ipsum )+lorem/, { $regex: '^lorem' }, /(?<=lorem )ipsum/, /(lorem) ipsum \1/]) {
      expect(await found(collections, { text })).toHaveLength(1)
    }
    expect(await found(collections, { mail: /^[\w.+-]+@(\w+\.)+\w+$/ })).toHaveLength(1)
  })

  test('operators give what mingo gives', async () => {
    const number = fc.integer({ min: -3, max: 6 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', ''), maxLength: 6 })
    const list = fc.array(fc.oneof(number, text), { maxLength: 5 })
    const path = fc.constantFrom('$n', '$text', '$list', '$none', '$one', '$flag', '$like', true, 'a', 2)
    const expression = fc.oneof(
      ...['$eq', '$gt', '$lte', '$cmp', '$in'].map((name) => fc.record({ [name]: fc.tuple(path, path) })),
      fc.record({ $let: fc.record({ vars: fc.record({ x: path }), in: fc.constant({ $eq: ['$$x', '$like'] }) }) }),
      fc.record({ $concat: fc.tuple(fc.constant('$like'), fc.constant('$text')) }),
      fc.record({ $concatArrays: fc.tuple(list, fc.constantFrom('$list', '$none', '$text')) }),
      fc.record({ $setUnion: fc.tuple(list, fc.constantFrom('$list', '$none')) }),
      fc.record({ $concat: fc.tuple(text, fc.constantFrom('$text', '$none', '$n')) }),
      fc.record({ $range: fc.tuple(number, number, fc.constantFrom(1, 2, -1)) }),
      fc.record({ $zip: fc.record({ inputs: fc.tuple(list, fc.constant('$list')), useLongestLength: fc.boolean() }) }),
      fc.record({ $replaceAll: fc.record({ input: fc.constant('$text'), find: text, replacement: text }) }),
      fc.record({
        $map: fc.record({
          input: fc.constantFrom('$list', '$rows', '$none'),
          as: fc.constant('x'),
          in: fc.constantFrom('$$x', '$$x.n', ['$$x', '$rows.n'], { a: '$$x' }),
        }),
      }),
      fc.record({
        $filter: fc.record({ input: fc.constant('$list'), cond: fc.constantFrom({ $gt: ['$$this', 1] }, true) }),
      }),
      fc.record({
        $reduce: fc.record({
          input: fc.constant('$rows'),
          initialValue: number,
          in: fc.constantFrom({ $add: ['$$value', '$$this.n'] }, '$$this'),
        }),
      }),
      fc.record({ $mergeObjects: fc.tuple(fc.constant('$one'), fc.record({ b: number })) }),
      fc.record({ $regexMatch: fc.record({ input: fc.constant('$text'), regex: fc.constantFrom('a+', '^b', '-$') }) }),
      fc.record({
        $regexFind: fc.record({
          input: fc.constant('$text'),
          regex: fc.constantFrom('a+', '(b)|(-)'),
          options: fc.constant('i'),
        }),
      }),
      fc.record({ $trim: fc.record({ input: fc.constant('$text'), chars: text }) }),
      fc.record({ $sum: fc.constantFrom('$list', '$rows.n') }),
      fc.record({ $max: fc.constantFrom('$list', '$rows.n') }),
    )
    const document = fc.record({
      list,
      text,
      n: number,
      rows: fc.array(fc.record({ n: number }), { maxLength: 4 }),
      one: fc.record({ a: number }),
      flag: fc.boolean(),
      // What a document holds is no path and no variable.
      like: fc.constantFrom('$n', '$$ROOT', '$$nothing', '$', '', 'a'),
    })
    const outcome = async (run: () => Promise<unknown> | unknown) => {
      try {
        return { value: await run() }
      } catch {
        return { fault: true }
      }
    }
    await fc.assert(
      fc.asyncProperty(document, expression, async (row, made) => {
        const given = { _id: 'a', ...row }
        const ours = await outcome(() => [mingo.projected(given, { made })])
        const theirs = await outcome(() => find([given], {}, { made }, { scriptEnabled: false }).all())
        expect(ours).toEqual(theirs)
      }),
      { numRuns: 1_500 },
    )
  })
})

describe('how long a regular expression may take', () => {
  const endless = ['(a+)+', '(a|b)*', '(a?)*', '(\\w+\\s?)+$', '(a)\\1', '(?<x>a)\\k<x>', '((ab)*c)*', '(a{1,9}){2}']
  test.each(endless)('%s has no bound', (source) => {
    expect(stepsOf(new RegExp(source))(10)).toBe(Number.POSITIVE_INFINITY)
  })

  test.each<[string, number]>([
    ['^abc', 0],
    ['abc', 1],
    ['a[*+]b\\+', 1],
    ['^a.*b', 1],
    ['a.*b', 2],
    ['^\\w+@\\w+\\.\\w+$', 3],
    ['(?:ab)+', 2],
    ['(a|b)c?', 1],
    ['a{2,}', 2],
  ])('%s is of degree %d', (source, degree) => {
    const steps = stepsOf(new RegExp(source))
    expect(Math.round(Math.log10(steps(10_000) / steps(1_000)))).toBe(degree)
  })

  test('reads whatever JavaScript takes for an expression', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab()[]{}|*+?^$\\1,-:=!<>k.'), maxLength: 14 }), (source) => {
        let pattern: RegExp
        try {
          pattern = new RegExp(source)
        } catch {
          return
        }
        expect(stepsOf(pattern)(5)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 3_000 },
    )
  })

  const flagged = (source: string, flags: string) => new RegExp(source, flags)
  const emoji = '\\p{RGI_Emoji}'.repeat(20)
  test.each<[string, object]>([
    ['the flag v', { text: { $regex: emoji, $options: 'iv' } }],
    ['the flag v of a literal', { text: flagged('[a]', 'v') }],
    ['in a list', { text: { $in: [flagged('[a]', 'v')] } }],
    ['in $not', { text: { $not: { $regex: 'a', $options: 'v' } } }],
    ['in $regexMatch', { $expr: { $regexMatch: { input: '$text', regex: 'a', options: 'v' } } }],
    ['in $regexFind of no text', { $expr: { $regexFind: { input: null, regex: emoji, options: 'v' } } }],
    ['many properties', { text: { $regex: '\\p{L}'.repeat(33), $options: 'u' } }],
    ['many properties without case', { text: { $regex: '[^\\P{L}]'.repeat(9), $options: 'iu' } }],
    ['many sets', { text: { $regex: '[^a]'.repeat(1_001), $options: 'iu' } }],
  ])('ATK-236 one that takes long to compile is refused: %s', async (_what, filter) => {
    const collections = await filled([{ _id: 'a', text: 'a', list: ['a'] }])
    await expect(found(collections, filter)).rejects.toMatchObject(invalid)
    const pulled = { $pull: { list: 'text' in filter ? filter.text : filter } }
    await expect(collections.update('rows', {}, pulled, { upsert: false })).rejects.toMatchObject(invalid)
  })

  test('a few properties and sets are taken', async () => {
    const collections = await filled([{ text: 'Ärger 12' }])
    expect(await found(collections, { text: { $regex: '^\\p{Lu}\\p{Ll}+ \\d+$', $options: 'u' } })).toHaveLength(1)
    expect(await found(collections, { text: /^ä[\p{L}]+\s\d\d/iu })).toHaveLength(1)
  })

  test('patterns have at most 16,384 characters', async () => {
    const collections = await filled([{ text: 'a' }])
    await expect(found(collections, { text: { $regex: 'a'.repeat(bounds.pattern + 1) } })).rejects.toMatchObject(
      invalid,
    )
  })
})
