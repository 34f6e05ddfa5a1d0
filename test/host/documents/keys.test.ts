import fc from 'fast-check'
import { find } from 'mingo'
import { describe, expect, test } from 'vitest'
import { keysOf } from '../../../src/host/documents/keys.js'
import { documentsOf, scalar } from '../../support/arbitrary-documents.js'
import { createMemoryIndex, reached } from '../../support/memory-index.js'

const hexOf = (document: Record<string, unknown>, field = 'a') =>
  keysOf(document, field).entries.map((each) => each.toString('hex'))
const wholeIndex = [{ from: Buffer.of(), to: Buffer.of(0xff) }]

describe('keys of scalars', () => {
  test.each<[unknown, string]>([
    [undefined, '1000'],
    [null, '1001'],
    [0, '208000000000000000'],
    [-0, '208000000000000000'],
    [1, '20bff0000000000000'],
    [-1, '20400fffffffffffff'],
    ['', '30'],
    ['aé', '3061c3a9'],
    [false, '6000'],
    [true, '6001'],
    [new Date(1), '70bff0000000000000'],
  ])('%s has the key %s', (value, expected) => {
    expect(hexOf({ a: value })).toEqual([expected])
  })

  test('a text is cut at 200 bytes of UTF-8, also within a character', () => {
    expect(hexOf({ a: `x${'é'.repeat(100)}` })).toEqual([`3078${'c3a9'.repeat(99)}c3`])
    expect(hexOf({ a: `${'x'.repeat(200)}a` })).toEqual(hexOf({ a: `${'x'.repeat(200)}b` }))
  })

  test('the order of keys is the order in which mingo sorts, both ways, whenever an index is ordered', () => {
    const ordered = scalar.filter((value) => value !== null)
    let checked = 0
    fc.assert(
      fc.property(documentsOf(ordered, 12), fc.constantFrom<1 | -1>(1, -1), (documents, direction) => {
        const index = createMemoryIndex('a', documents)
        fc.pre(index.isOrdered)
        checked += 1
        const expected = find(documents, {}).sort({ a: direction }).all()
        expect(reached(index, wholeIndex, direction)).toEqual(expected.map(({ _id }) => _id))
      }),
      { numRuns: 500 },
    )
    expect(checked).toBe(500)
  })

  test('a text, null or object that keys cannot order is not ordered', () => {
    for (const a of ['x'.repeat(200), '😀', '\uffff', 'a\ud83d', null, {}])
      expect(keysOf({ a }, 'a').isOrdered).toBe(false)
    for (const a of ['x'.repeat(199), '\ud7ff', 1, true, new Date(), undefined]) {
      expect(keysOf({ a }, 'a')).toMatchObject({ isOrdered: true, isMultikey: false })
    }
  })
})

describe('keys of arrays and objects', () => {
  test('an array has an entry an element, each of them once, and one for the whole', () => {
    const [one, two, whole, ...others] = hexOf({ a: [1, 'x', 1] })
    expect([one, two, others]).toEqual(['20bff0000000000000', '3078', []])
    expect(whole).toMatch(/^50[0-9a-f]{32}$/)
    expect(keysOf({ a: [] }, 'a')).toMatchObject({ isMultikey: true, isOrdered: false })
  })

  test('the empty array has an entry as null, too', () => {
    expect(hexOf({ a: [] })[0]).toBe('1001')
  })

  test('an array of more than 1,000 elements has the entry ~', () => {
    const list = Array.from({ length: 1_001 }, (_, n) => n)
    expect(hexOf({ a: list })).toEqual(['7e'])
    expect(hexOf({ a: list.slice(1) })).toHaveLength(1_001)
  })

  test('an object has one entry, which the order of its fields does not change', () => {
    expect(hexOf({ a: { x: 1, y: [new Date(0)] } })).toEqual(hexOf({ a: { y: [new Date(0)], x: 1 } }))
    expect(hexOf({ a: { x: 1 } })).not.toEqual(hexOf({ a: { x: '1' } }))
    expect(hexOf({ a: { x: '0' } })).not.toEqual(hexOf({ a: { x: 0 } }))
  })

  test('arrays and objects inside arrays, and an object with a field `constructor`, have the entry ~', () => {
    for (const a of [[[1]], [{ x: 1 }], [1, []], { constructor: 'x' }]) {
      expect(hexOf({ a }).map((each) => Buffer.from(each, 'hex').toString())).toEqual(['~'])
    }
  })

  test('a path leads through objects, elements and positions', () => {
    const document = { a: [{ c: 1 }, { c: 2 }, 3], b: { c: { d: 'x' } }, at: new Date(0) }
    expect(hexOf(document, 'a.c').slice(0, 2)).toEqual(['20bff0000000000000', '20c000000000000000'])
    expect(hexOf(document, 'a.1.c')).toEqual(['20c000000000000000'])
    expect(hexOf(document, 'b.c.d')).toEqual(['3078'])
    expect(hexOf(document, 'b.x.y')).toEqual(['1000'])
    expect(hexOf(document, 'toString')).toEqual(['1000'])
    expect(hexOf(document, 'at.getTime')).toEqual(['7e'])
  })
})
