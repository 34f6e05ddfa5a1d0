import fc from 'fast-check'
import { type Document, decode, encode } from '../../src/host/documents/values.js'

/** Texts around the borders of keys: the cut at 200 bytes, the order of UTF-8 and UTF-16, NUL. */
const texts = [
  ...[
    '',
    'a',
    'ab',
    'abc',
    'b',
    'A',
    'a\0',
    'a\nb',
    'a.b',
    'a|b',
    'å',
    '\0',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '\ud83d',
    'a😀',
  ],
  ...[
    'a\uffff',
    'a\udc00',
    '1',
    'null',
    'x'.repeat(199),
    'x'.repeat(200),
    `${'x'.repeat(200)}a`,
    `${'x'.repeat(200)}b`,
  ],
  ...['é'.repeat(100), `${'é'.repeat(100)}a`, `x${'é'.repeat(99)}é`, `x${'é'.repeat(99)}è`, `${'x'.repeat(199)}😀`],
]
const numbers: [number, ...number[]] = [0, 1, 2, -1, -2, 0.5, -0.5, 1e308, -1e308, 5e-324, 2 ** 53, 1.0000000000000002]
const dates: [Date, ...Date[]] = [new Date(0), ...[1, -1, 1.7e12, 8.64e15, -8.64e15].map((at) => new Date(at))]

export const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
  fc.constantFrom(...numbers),
  { weight: 2, arbitrary: fc.constantFrom('a', 'ab', 'b') },
  { weight: 2, arbitrary: fc.constantFrom(...texts) },
  fc.constantFrom(null, true, false),
  fc.constantFrom(...dates),
)

/** Values that lie close together, so that those of a filter meet those of documents. */
export const families: readonly (readonly [unknown, ...unknown[]])[] = [
  ['a', 'ab', 'abc', 'b', 'A', 'a\nb', 'a|b', 'a.b'],
  ['', '\0', 'a', 'a\0', 'a\0\0', 'a\0b', 'b'],
  ['a', 'a\ud7ff', 'a\ue000', 'a\uffff', 'a😀', 'a\ud83d', 'a\udc00', 'b'],
  ['x'.repeat(199), 'x'.repeat(200), `${'x'.repeat(200)}a`, `${'x'.repeat(200)}b`, `${'x'.repeat(199)}y`],
  ['é'.repeat(100), `${'é'.repeat(100)}a`, `x${'é'.repeat(99)}`, `x${'é'.repeat(99)}é`, `x${'é'.repeat(99)}è`],
  [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}\uffff`, 'x'.repeat(200), `${'x'.repeat(198)}\uffff`],
  [...numbers],
  [0, -0, '0', '', null, false, new Date(0)],
  [1, '1', true, new Date(1), null],
  [...dates],
]

const plain = { requiredKeys: [], noNullPrototype: true }
const named = fc.constantFrom({ constructor: { name: 'string' } }, { constructor: 'x' }, { toString: 1 }, { length: 1 })

/** Values of all kinds, made of scalars. */
export function valuesOf(scalars: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const flat = fc.oneof(
    { weight: 6, arbitrary: scalars },
    fc.record({ c: scalars, d: scalars }, plain),
    fc.array(scalars, { maxLength: 2 }),
    named,
  )
  return fc.oneof(
    { weight: 5, arbitrary: scalars },
    { weight: 3, arbitrary: fc.array(scalars, { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.array(flat, { maxLength: 3 }) },
    { weight: 3, arbitrary: fc.record({ c: fc.oneof(flat, fc.array(flat, { maxLength: 2 })), d: flat }, plain) },
    named,
  )
}

/** Documents as the store gives them back, with `_id`s in order. */
export function documentsOf(field: fc.Arbitrary<unknown>, maxLength: number): fc.Arbitrary<Document[]> {
  const fields = fc.record({ a: field, b: field }, plain)
  return fc.array(fields, { maxLength }).map((all) => all.map((each, at) => decode(`id${at}`, encode(each))))
}
