import { expect, test } from 'vitest'
import { createLatest, keepable } from '../../src/lib/latest.js'

test('each place keeps what was set last, and only for that very text', () => {
  const latest = createLatest<{ text: string; value: number }>(2)
  latest.set({ text: 'a', value: 1 })
  latest.set({ text: 'bb', value: 2 })
  expect([latest.get('a')?.value, latest.get('bb')?.value, latest.get('b'), latest.get('ccc')]).toEqual([
    1,
    2,
    null,
    null,
  ])
  latest.set({ text: 'ccc', value: 3 })
  expect([latest.get('a'), latest.get('ccc')?.value]).toEqual([null, 3])
  latest.clear()
  expect(latest.get('bb')).toBeNull()
})

test('a text of up to 256 characters may be kept', () => {
  expect([keepable(''), keepable('x'.repeat(256)), keepable('x'.repeat(257))]).toEqual(['', 'x'.repeat(256), null])
})
