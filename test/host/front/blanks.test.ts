import { describe, expect, test } from 'vitest'
import {
  type CookieSpace,
  cookiesFor,
  headersForClient,
  namedByConnection,
  setCookieOf,
} from '../../../src/host/front/headers.js'
import { startRawChild, startSpaces } from '../../support/host-front.js'
import { rawRequest } from '../../support/raw-http.js'

const space: CookieSpace = { name: 'dev', path: '/dev', isSpace: (name) => name === 'prod' }

/** Blanks for JavaScript or for people, and none of HTTP. U+2003 as the bytes of UTF-8, as a header carries it. */
const blanks = {
  'U+00A0': '\xa0',
  'U+2003': '\xe2\x80\x83',
  'U+FEFF': '\xef\xbb\xbf',
  NEL: '\x85',
}
const controls = { VT: '\v', FF: '\f', NUL: '\0', DEL: '\x7f', CR: '\r', LF: '\n', ESC: '\x1b' }

describe('ATK-240 blanks that are none of HTTP', () => {
  test.each(Object.entries(blanks))('%s makes no path that browsers do not read', (_, blank) => {
    for (const path of [`${blank}/dev/x`, `/dev/x${blank}`, `${blank}/x`, `/dev${blank}`]) {
      expect(setCookieOf(space, `a=1; Path=${path}; Secure`, '/dev')).toBe('a=1; Secure; Path=/dev')
    }
    for (const attribute of [`${blank}Path=/dev/x`, `Path${blank}=/dev/x`, `Domain${blank}=example.org`]) {
      expect(setCookieOf(space, `a=1;${attribute}`, '/dev')).toBe('a=1; Path=/dev')
      expect(setCookieOf(space, `__Host-a=1; Path=/; Secure;${attribute}`, '/dev')).toBe('__Host-a=1; Path=/; Secure')
    }
  })

  test.each(Object.entries(blanks))('%s is a part of a name', (_, blank) => {
    expect(setCookieOf(space, `${blank}access-token-prod=1; Path=/dev`, '/dev')).toContain(
      `${blank}access-token-prod=1`,
    )
    expect(namedByConnection(`x-a${blank}, \tx-b `)).toEqual(new Set([`x-a${blank}`, 'x-b']))
  })

  test('a path that is too long for browsers is none', () => {
    const long = `/dev/${'x'.repeat(1_100)}`
    expect(setCookieOf(space, `a=1; Path=${long}`, '/dev')).toBe('a=1; Path=/dev')
    expect(setCookieOf(space, `a=1; Path=/dev/x; Path=${long}`, '/dev')).toBe('a=1; Path=/dev/x')
  })

  test.each(Object.entries(controls))('a header with %s is dropped', (_, control) => {
    const raw = ['set-cookie', `a=1; Path=/dev${control}`, 'x-a', `1${control}`, 'x-b', '2']
    expect(headersForClient(raw, { cookies: space, requestPath: '/dev/x', added: null })?.list).toEqual(['x-b', '2'])
  })

  test('the answer of a child reaches the client without them', async () => {
    const child = await startRawChild((socket) => {
      const lines = ['a=1; Path=\xa0/x', 'b=1; Path=\xe2\x80\x83/x', 'c=1; Path=/x\xa0; HttpOnly']
      const head = lines.map((line) => `set-cookie: ${line}\r\n`).join('')
      socket.write(Buffer.from(`HTTP/1.1 200 OK\r\n${head}content-length: 2\r\n\r\nok`, 'latin1'))
    })
    const { port, host } = await startSpaces(child)
    const { headers } = await rawRequest(port, `GET /dev HTTP/1.1\r\n${host}\r\n\r\n`)
    expect(headers['set-cookie']).toEqual(['a=1; Path=/dev', 'b=1; Path=/dev', 'c=1; HttpOnly; Path=/dev'])
  })

  test('a control in the answer of a child is a bad answer, or dropped', async () => {
    for (const control of Object.values(controls)) {
      const child = await startRawChild((socket) => {
        socket.write(
          Buffer.from(`HTTP/1.1 200 OK\r\nset-cookie: a=1; Path=${control}/x\r\ncontent-length: 2\r\n\r\nok`, 'latin1'),
        )
      })
      const { port, host } = await startSpaces(child)
      const { status, headers } = await rawRequest(port, `GET /dev HTTP/1.1\r\n${host}\r\n\r\n`)
      expect([200, 502]).toContain(status)
      expect(headers['set-cookie']).toBeUndefined()
    }
  })
})

test('ATK-240 a long run of blanks in a cookie is read once, not once a blank', () => {
  // With a pattern each of these took seconds.
  const run = ' '.repeat(200_000)
  expect(cookiesFor(space, `a${run}b=1; access-token-host=x`)).toBe(`a${run}b=1`)
  expect(setCookieOf(space, `a${run}b=1; Path=/dev`, '/dev')).toBe(`a${run}b=1; Path=/dev`)
})
