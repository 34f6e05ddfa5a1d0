import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copiedText } from '../../src/lib/copied-text.js'
import { cutText, heapUsed } from '../support/heap.js'

test('a copy reads like its text', () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ maxLength: 60 }).map((text) => `\u0141${text}`.slice(1)),
    fc.string({ minLength: 4_090, maxLength: 4_110 }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      expect(copiedText(text)).toBe(text)
    }),
  )
})

test('a copy does not keep the long text alive that it was cut out of', () => {
  const kilobytes = 200
  const before = heapUsed()
  const copies = Array.from({ length: 500 }, (_, index) => copiedText(cutText(index, kilobytes, 500)))
  const grown = heapUsed() - before
  expect(copies).toHaveLength(500)
  expect(grown).toBeLessThan(100 * kilobytes * 1024)
})
