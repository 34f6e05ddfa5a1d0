import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { compileFilter } from '../../../src/host/documents/filter.js'
import { loadMingo } from '../../../src/host/documents/mingo.js'
import { type Index, type Plan, plan, type Wanted } from '../../../src/host/documents/plan.js'

const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())
const scalars: Index = { field: 'a', isMultikey: false, isOrdered: true }
const arrays: Index = { field: 'a', isMultikey: true, isOrdered: false }

function planFor(sent: unknown, indexes = [scalars], wanted: Partial<Wanted> = {}): Plan | null {
  return plan(indexes, { criteria: compileFilter(mingo, sent).criteria, sort: null, useIndex: null, ...wanted })
}

/** The ranges of each choice as text, without the one of values that keys do not model. */
function rangesFor(sent: unknown, index = scalars): string[][] | undefined {
  return planFor(sent, [index])?.choices.map((ranges) => {
    const texts = ranges.map(({ from, to }) => `${from.toString('latin1')}–${to.toString('latin1')}`)
    expect(texts.pop()).toBe('~–\x7f')
    return texts
  })
}

const yes = '`\x01–`\x01\0'
const [text, beyondText] = ['0', '1']

describe('what makes a range', () => {
  test.each<[unknown, string[]]>([
    [{ a: 'x' }, ['0x–0x\0']],
    [{ a: { $eq: 'x' } }, ['0x–0x\0']],
    [{ a: null }, ['\x10–\x11']],
    [{ a: true }, [yes]],
    [{ a: { $in: ['y', 'x', 'y', true] } }, ['0x–0x\0', '0y–0y\0', yes]],
    [{ a: { $in: [] } }, []],
    [{ a: { $gt: 'x' } }, [`0x\0–${beyondText}`]],
    [{ a: { $gte: 'x' } }, [`0x–${beyondText}`]],
    [{ a: { $lt: 'x' } }, [`${text}–0x`]],
    [{ a: { $lte: 'x' } }, [`${text}–0x\0`]],
    [{ a: { $gte: 'x', $lt: 'y' } }, ['0x–0y']],
    [{ $and: [{ a: { $gte: 'x' } }, { a: { $lt: 'y' } }] }, ['0x–0y']],
    [{ a: { $in: ['w', 'x', 'y'], $gt: 'w', $ne: 'x' } }, ['0x–0x\0', '0y–0y\0']],
    [{ a: { $gt: 'y', $lt: 'x' } }, []],
    [{ a: /^ab/ }, ['0ab–0ac']],
    [{ a: { $regex: '^ab' } }, ['0ab–0ac']],
    [{ a: /^a\.b*c/ }, ['0a.–0a/']],
    [{ a: { $startsWith: 'a.b' } }, ['0a.b–0a.c']],
    [{ a: { $startsWith: 'ab', $endsWith: 'c' } }, ['0ab–0ac']],
    [{ a: { $exists: true } }, ['\x10\x01–~']],
    [{ a: { $gte: { $date: '1970-01-01' } } }, ['p\x80\0\0\0\0\0\0\0–q']],
    [{ a: { $lt: 0 } }, [' – \x80\0\0\0\0\0\0\0']],
  ])('%j', (filter, expected) => {
    expect(rangesFor(filter)).toEqual([expected])
  })

  test.each([
    {},
    { b: 'x' },
    { $or: [{ a: 1 }] },
    { $nor: [{ a: 1 }] },
    { a: { $ne: 1 } },
    { a: { $nin: [1] } },
    { a: { $not: { $gt: 1 } } },
    { a: { $exists: false } },
    { a: { $gt: null } },
    { a: { $gte: true } },
    { a: { $gt: Number.NaN } },
    { a: { $in: [/^a/] } },
    { a: { $in: [undefined] } },
    { a: { $in: Array.from({ length: 1_001 }, (_, at) => at) } },
    { a: { $size: 1 } },
    { a: { $elemMatch: { $eq: 1 } } },
    { a: /ab/ },
    { a: /^ab/i },
    { a: /^ab/m },
    { a: /^ab|c/ },
    { a: /^a*b/ },
    { a: /^(?=a)?b/ },
    { a: /^(a)/ },
    { a: { $endsWith: 'a' } },
  ])('nothing of %j', (filter) => {
    expect(planFor(filter)).toBeNull()
  })

  test('a text whose key is not exact bounds by its certain beginning', () => {
    const long = 'x'.repeat(300)
    expect(rangesFor({ a: { $lt: long } })).toEqual([[`${text}–0${'x'.repeat(199)}y`]])
    expect(rangesFor({ a: { $gt: long } })).toEqual([[`0${'x'.repeat(200)}–${beyondText}`]])
    const border = 'x'.repeat(200)
    expect(rangesFor({ a: { $gt: border } })).toEqual([[`0${border}–${beyondText}`]])
    expect(rangesFor({ a: { $lt: 'a\uffff' } })).toEqual([[`${text}–0b`]])
    expect(rangesFor({ a: { $gt: 'a😀' } })).toEqual([[`0a–${beyondText}`]])
  })
})

describe('which index is read, and how', () => {
  const other = { ...scalars, field: 'b' }

  test('a multikey index offers each side of a range by itself', () => {
    expect(rangesFor({ a: { $gte: 'x', $lt: 'y' } }, arrays)).toEqual([[`0x–${beyondText}`], [`${text}–0y`]])
  })

  test('the index with the narrowest condition is taken', () => {
    const fieldFor = (filter: unknown) => planFor(filter, [scalars, other])?.field
    expect(fieldFor({ a: { $gt: 1 }, b: 1 })).toBe('b')
    expect(fieldFor({ a: { $gt: 1, $lt: 2 }, b: { $gt: 1 } })).toBe('a')
    expect(fieldFor({ a: { $exists: true }, b: { $gt: 1 } })).toBe('b')
    expect(fieldFor({ a: 1, b: 1 })).toBe('a')
  })

  test('an index sorts by its field alone, in both directions', () => {
    expect(planFor({}, [scalars], { sort: { a: 1 } })).toMatchObject({ field: 'a', order: 1 })
    expect(planFor({ a: { $gt: 1 } }, [scalars], { sort: { a: -1 } })).toMatchObject({ field: 'a', order: -1 })
    expect(planFor({}, [scalars], { sort: { a: 1, b: 1 } })).toBeNull()
    expect(planFor({}, [scalars], { sort: { b: 1 } })).toBeNull()
    expect(planFor({ a: 1 }, [scalars, other], { sort: { b: 1 } })).toMatchObject({ field: 'a', order: null })
    expect(planFor({ a: 1, b: 1 }, [scalars, other], { sort: { b: 1 } })).toMatchObject({ field: 'b', order: 1 })
  })

  test('an index with an array or a value out of order does not sort', () => {
    for (const index of [arrays, { ...scalars, isOrdered: false }]) {
      expect(planFor({}, [index], { sort: { a: 1 } })).toBeNull()
      expect(planFor({ a: 1 }, [index], { sort: { a: 1 } })).toMatchObject({ order: null })
    }
  })

  test('useIndex takes its index whatever the filter says, and no other when there is none', () => {
    const unused = planFor({ a: 1 }, [scalars, other], { useIndex: 'b' })
    expect(unused).toMatchObject({ field: 'b', choices: [[{ from: Buffer.of(), to: Buffer.of(0xff) }]] })
    expect(planFor({ a: 1 }, [scalars], { useIndex: 'c' })).toMatchObject({ field: 'a' })
  })
})
