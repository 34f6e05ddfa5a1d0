import { expect, test } from 'vitest'
import { readPairs } from '../../src/host/runner/exchange/request.js'

test('a name that comes more than once gets a list, and __proto__ is a name like any other', () => {
  const pairs = readPairs('a=1&b=2&a=3&a=&__proto__=4&c')
  expect(Object.entries(pairs)).toEqual([
    ['a', ['1', '3', '']],
    ['b', '2'],
    ['__proto__', '4'],
    ['c', ''],
  ])
})

test('ATK-155 a name that comes 300,000 times is read in one pass', () => {
  expect(readPairs('a=1&'.repeat(300_000)).a).toHaveLength(300_000)
})
