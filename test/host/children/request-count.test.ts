import { expect, test } from 'vitest'
import { countRequests } from '../../../src/host/children/start.js'

test('ATK-237 a request is to blame for the end of a process while it runs, and for five seconds after', () => {
  let now = 0
  const requests = countRequests(() => now)
  expect(requests.ranWithin(5_000)).toBe(false)
  const end = requests.begin()
  now = 60_000
  expect(requests.ranWithin(5_000)).toBe(true)
  end()
  now = 65_000
  expect(requests.ranWithin(5_000)).toBe(true)
  now = 65_001
  expect(requests.ranWithin(5_000)).toBe(false)
})
