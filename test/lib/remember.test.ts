import { expect, test } from 'vitest'
import { keepable, keepableAsItIs, remember } from '../../src/lib/remember.js'
import { cutText, heapUsed } from '../support/heap.js'

test('a text is answered once, and the same again, null and undefined among the answers', () => {
  const asked: string[] = []
  const known = remember((text) => {
    asked.push(text)
    return text === 'nothing' ? null : text.length
  })
  expect(['one', 'nothing', 'one', 'nothing'].map(known)).toEqual([3, null, 3, null])
  expect(asked).toEqual(['one', 'nothing'])
})

test('the memory is bounded, in entries and in the length of a text', () => {
  let asked = 0
  const known = remember(() => {
    asked += 1
    return asked
  }, 2)
  for (const text of ['a', 'b', 'c', 'a', 'c']) known(text)
  expect(asked).toBe(4)
  const long = 'x'.repeat(300)
  expect([known(long), known(long)]).toEqual([5, 6])
})

test('a text of up to 256 characters may be kept', () => {
  const texts = ['', 'x'.repeat(256), 'x'.repeat(257)]
  expect(texts.map(keepable)).toEqual(['', 'x'.repeat(256), null])
  expect(texts.map(keepableAsItIs)).toEqual(['', 'x'.repeat(256), null])
})

test('what was forgotten is asked anew', () => {
  const asked: string[] = []
  const known = remember((text) => void asked.push(text), 3)
  for (const text of ['a', 'bb', 'ccc', 'dddd', 'a', 'bb', 'dddd']) known(text)
  expect(asked).toEqual(['a', 'bb', 'ccc', 'dddd', 'a', 'bb'])
})

test('what throws is not remembered', () => {
  let fails = true
  const known = remember(() => {
    if (fails) throw new Error('not now')
    return 'fine'
  })
  expect(() => known('a')).toThrow('not now')
  fails = false
  expect(known('a')).toBe('fine')
})

test('what is remembered of a text, and made of it, does not keep the long one alive that it was cut out of', () => {
  const kilobytes = 200
  const known = remember((text) => text.slice(2))
  const before = heapUsed()
  const answers = Array.from({ length: 500 }, (_, index) => known(cutText(index, kilobytes, 200)))
  const grown = heapUsed() - before
  expect(known(cutText(499, kilobytes, 200))).toBe(answers[499])
  expect(grown).toBeLessThan(100 * kilobytes * 1024)
})
