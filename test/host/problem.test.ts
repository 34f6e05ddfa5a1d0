import { expect, test } from 'vitest'
import { AuthError, errorTable } from '../../src/errors.js'
import { problem } from '../../src/host/runner/exchange/problem.js'
import { problem as problemOfFront } from '../../src/http/problem.js'

const codes = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'payload_too_large',
  'internal_error',
  'not_here',
  'store_unavailable',
  'application_timeout',
] as const

test.each(codes)('a child answers %s with the status, headers and fields that the front would send', (code) => {
  const { status, headers, body } = problemOfFront(new AuthError(code), 'request-1')
  const sent = problem(code, 'request-1', errorTable[code][1])
  expect({ status: sent.status, headers: sent.headers, body: JSON.parse(sent.text) }).toEqual({
    status,
    headers,
    body: JSON.parse(String(body)),
  })
})

test('a problem without a request id has neither the header nor the field', () => {
  const { headers, text } = problem('forbidden', undefined)
  expect([headers['x-request-id'], JSON.parse(text).requestId]).toEqual([undefined, undefined])
})
