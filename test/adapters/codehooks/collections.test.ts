import { expect, test } from 'vitest'
import { withoutOurCollections } from '../../../src/adapters/codehooks/codehooks.js'
import type { CodehooksResponse } from '../../../src/adapters/codehooks/message.js'

/** The status that a request is answered with, or null when it goes on. */
function statusFor(path: string): unknown {
  let status: unknown = null
  const res: CodehooksResponse = {
    status: (code) => {
      status = code
    },
    setHeader() {},
    removeHeader() {},
    write() {},
    end() {},
  }
  const hook = withoutOurCollections((_req, _res, next) => next())
  void hook({ method: 'GET', headers: {}, apiPath: path, originalUrl: path }, res, () => {})
  return status
}

const encoded = (times: number) => `%${'25'.repeat(times)}6catchkey_users`

test.each([
  '/api/latchkey_users',
  '/api/Latchkey_users/1',
  '/api%2Flatchkey_users',
  `/api/${encoded(0)}`,
  `/api/${encoded(3)}`,
])('%s names a collection of ours', (path) => {
  expect(statusFor(path)).toBe(404)
})

test.each(['/api/notes', '/api/notes/100%25', '/api/notes/latchkey', '/api/notes/%e2%82%ac'])('%s does not', (path) => {
  expect(statusFor(path)).toBeNull()
})

test('a path encoded more often than anybody means costs no more than a few looks at it', () => {
  expect(statusFor(`/api/${'/'.repeat(200_000)}%${'25'.repeat(120_000)}`)).toBe(404)
})
