import { expect, test } from 'vitest'
import { createRecent } from '../../src/lib/recent.js'

test('remembers the last half of its size for certain, and never more than its size', () => {
  const recent = createRecent<number>(10)
  for (let index = 0; index < 1_000; index += 1) recent.set(`k${index}`, index)
  const kept = Array.from({ length: 1_000 }, (_, index) => 999 - index).filter(
    (index) => recent.get(`k${index}`) === index,
  )
  expect(kept.length).toBeLessThanOrEqual(10)
  expect(kept.slice(0, 5)).toEqual([999, 998, 997, 996, 995])
})

test('what is asked for stays', () => {
  const recent = createRecent<number>(10)
  recent.set('kept', 1)
  for (let index = 0; index < 1_000; index += 1) {
    recent.set(`k${index}`, index)
    expect(recent.get('kept')).toBe(1)
  }
})

test('the newest value of a key counts, and clear forgets all', () => {
  const recent = createRecent<number>(4)
  for (const [key, value] of [
    ['a', 1],
    ['b', 1],
    ['c', 1],
    ['a', 2],
  ] as const)
    recent.set(key, value)
  expect(recent.get('a')).toBe(2)
  recent.clear()
  expect([recent.get('a'), recent.get('c')]).toEqual([undefined, undefined])
})
