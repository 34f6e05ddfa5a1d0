import { expect, test } from 'vitest'
import { createRequestIds } from '../../src/lib/request-id.js'

test('names are never the same, also beyond what two digits count, and begin alike in one process', () => {
  const name = createRequestIds()
  const names = Array.from({ length: 5_000 }, name)
  expect(new Set(names).size).toBe(5_000)
  const [start = ''] = names[0]?.split(/-(?=[\da-z]{2,}$)/) ?? []
  expect(start).toHaveLength(12)
  for (const one of names) expect(one.slice(start.length)).toMatch(/^-[\da-z]{2,3}$/)
  expect(createRequestIds()().startsWith(start)).toBe(false)
})
