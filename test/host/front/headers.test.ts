import { describe, expect, test } from 'vitest'
import type { Principal } from '../../../src/model/principal.js'
import {
  type FrontSettings,
  hopKey,
  type StubSpace,
  startChild,
  startRawChild,
  startSpaces,
} from '../../support/host-front.js'
import { type RawAnswer, rawRequest } from '../../support/raw-http.js'

const apiToken: Principal = { kind: 'apiToken', tokenId: 't1', name: 'ci', access: 'READ' }

/** What the child of the space `dev` got for these header lines. */
async function receive(
  lines: readonly string[],
  { target = '/dev/x', ...rest }: FrontSettings & Omit<StubSpace, 'child'> & { target?: string } = {},
) {
  const { port, host, child } = await startSpaces(await startChild(), rest, rest)
  const answer = await rawRequest(port, [`GET ${target} HTTP/1.1`, host, ...lines, '', ''].join('\r\n'))
  expect(answer.status).toBe(200)
  const [received] = child.received
  if (received === undefined || child.received.length !== 1) throw new Error('not one request')
  return {
    ...received,
    valuesOf: (name: string) => received.headers.flatMap(([n, value]) => (n === name ? [value] : [])),
  }
}

/** What the client gets when the child answers with these bytes. */
async function answerOf(
  head: string,
  body: string,
  { pass, ...settings }: Pick<StubSpace, 'pass'> & Pick<FrontSettings, 'baseUrl'> = {},
): Promise<RawAnswer> {
  const answer = Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`, 'latin1')
  const child = await startRawChild((socket) => socket.write(answer))
  const { port, host } = await startSpaces(child, { ...(pass && { pass }) }, settings)
  return rawRequest(port, `GET /dev/x/y HTTP/1.1\r\n${host}\r\n\r\n`)
}

const ok = 'HTTP/1.1 200 OK\ncontent-length: 2'

describe('the headers that the child gets', () => {
  test('are those of the specification, names and values', async () => {
    const token = '9c3f7a52-6d0f-4f9e-8a4e-0d3b1a2c4e5f'
    const lines = ['Accept: application/json', 'User-Agent: curl/8.5.0', `x-apikey: ${token}`]
    const { headers } = await receive(lines, { baseUrl: 'https://api.example.org', principal: apiToken })
    // These belong to the hop, not to the client.
    const ofTheHop = ['connection', 'x-latchkey-hop', 'x-latchkey-principal']
    expect(Object.fromEntries(headers.filter(([name]) => !ofTheHop.includes(name)))).toEqual({
      host: 'api.example.org',
      'x-request-id': 'request-1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'api.example.org',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      'x-forwarded-scheme': 'https',
      'x-scheme': 'https',
      accept: 'application/json',
      'user-agent': 'curl/8.5.0',
      'x-api-key': token,
      'x-apikey': token,
    })
    expect(new Set(headers.map(([name]) => name)).size).toBe(headers.length)
  })

  test('accept and user-agent that were not sent stay absent, and so does x-api-key', async () => {
    const { headers } = await receive([])
    const names = headers.map(([name]) => name)
    for (const absent of ['accept', 'user-agent', 'x-api-key', 'content-length', 'x-latchkey-principal']) {
      expect(names).not.toContain(absent)
    }
  })

  test('everything else passes as sent: order, repetition, bytes', async () => {
    const lines = [
      'Authorization: Basic eDp5',
      'Cookie: a=1',
      'X-Own: 1',
      'x-own: 2',
      'X-Latin: caf\xe9',
      'cookie: b=2',
    ]
    const { valuesOf } = await receive([...lines, 'Content-Type: text/x; q="a"', 'Origin: https://app.example.org'])
    expect(valuesOf('authorization')).toEqual(['Basic eDp5'])
    expect(valuesOf('cookie')).toEqual(['a=1', 'b=2'])
    expect(valuesOf('x-own')).toEqual(['1', '2'])
    expect(valuesOf('x-latin')).toEqual(['caf\xe9'])
    expect(valuesOf('content-type')).toEqual(['text/x; q="a"'])
    expect(valuesOf('origin')).toEqual(['https://app.example.org'])
  })

  test('the principal travels as base64url of JSON beside the key of the hop', async () => {
    const principal: Principal = {
      kind: 'jwt',
      subject: 'é\r\nx: y',
      issuer: 'https://idp.example',
      claims: { a: [1] },
    }
    const { valuesOf } = await receive([], { principal })
    expect(valuesOf('x-latchkey-hop')).toEqual([hopKey])
    const [sent = ''] = valuesOf('x-latchkey-principal')
    expect(JSON.parse(Buffer.from(sent, 'base64url').toString())).toEqual(principal)
  })

  test('ATK-148 planted headers are gone or overwritten, in any case, twice, and named by Connection', async () => {
    const { headers, valuesOf } = await receive(
      [
        'X-Latchkey-Principal: eyJraW5kIjoic2Vzc2lvbiJ9',
        'x-latchkey-hop: forged',
        'X-LATCHKEY-HOP: forged',
        'X-Latchkey-Anything: 1',
        'X-Api-Key: forged',
        'x-API-key: forged',
        'X-Real-IP: 203.0.113.9',
        'X-Forwarded-For: 203.0.113.9, 10.0.0.1',
        'x-forwarded-FOR: 203.0.113.9',
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Anything: 1',
        'X-Scheme: gopher',
        'X-Request-Id: forged',
        'X-User: root',
        'X-User-Id: 1',
        'Forwarded: for=203.0.113.9',
        'Remote-User: root',
        'Connection: X-Real-IP, x-latchkey-hop, Host, X-Request-Id, content-length',
      ],
      { baseUrl: 'https://api.example.org' },
    )
    expect(JSON.stringify(headers)).not.toMatch(/forged|203\.0\.113|evil|gopher|root|eyJraW5k|anything/i)
    for (const name of ['x-real-ip', 'x-latchkey-hop', 'host', 'x-request-id', 'x-forwarded-for']) {
      expect(valuesOf(name)).toHaveLength(1)
    }
    expect(headers.map(([name]) => name).filter((name) => /^(x-user|forwarded|remote-user)/.test(name))).toEqual([])
  })

  test('ATK-148 headers of the connection end here, and those that Connection names', async () => {
    const { headers } = await receive([
      'Connection: keep-alive, X-Internal , x-other',
      'X-Internal: 1',
      'x-other: 1',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic eDp5',
      'TE: trailers',
      'Trailer: x-latchkey-hop',
      'X-Kept: 1',
    ])
    const names = headers.map(([name]) => name)
    expect(names.filter((name) => !name.startsWith('x-'))).toEqual(['host', 'connection'])
    expect(names).toContain('x-kept')
    expect(names).not.toContain('x-internal')
    expect(names).not.toContain('x-other')
  })

  test('ATK-148 of very many headers, the last ones are judged too', async () => {
    const { headers } = await receive([
      ...Array.from({ length: 2_100 }, (_, n) => `a${n}: 1`),
      'X-Real-IP: 203.0.113.9',
    ])
    expect(JSON.stringify(headers)).not.toContain('203.0.113')
  })

  test('the API token leaves the query, the rest of which stays as sent', async () => {
    const target = '/dev/x?q=%7B%22a%22:1%7D&%61pikey=t1&h={}'
    expect(await receive([], { target, principal: apiToken })).toMatchObject({ url: '/dev/x?q=%7B%22a%22:1%7D&h={}' })
    expect(await receive([], { target: '/dev?apikey=t', principal: apiToken })).toMatchObject({ url: '/dev' })
  })

  test('ATK-180 ATK-188 the child sees no cookie of the host and none of another space', async () => {
    const cookie = 'a=1; __Host-access-token-host=h; access-token-host=h; __Host-access-token-prod=p; __Host-otp-dev=d'
    const { valuesOf } = await receive([`Cookie: ${cookie}`, 'Cookie: __Secure-refresh-token-prod=p'])
    expect(valuesOf('cookie')).toEqual(['a=1; __Host-otp-dev=d'])
  })

  test('ATK-187 X-Forwarded-For counts from a trusted proxy only, and reaches the child as one address', async () => {
    const lines = ['X-Forwarded-For: 198.51.100.7, 203.0.113.9']
    const untrusted = await receive(lines)
    expect(untrusted.valuesOf('x-forwarded-for')).toEqual(['127.0.0.1'])
    const trusted = await receive(lines, { trustedProxies: { kind: 'cidrs', cidrs: ['127.0.0.0/8'] } })
    expect(trusted.valuesOf('x-forwarded-for')).toEqual(['203.0.113.9'])
    expect(trusted.valuesOf('x-real-ip')).toEqual(['203.0.113.9'])
  })

  test('a guard that leaves the headers of the client in place is a fault, and the child gets nothing', async () => {
    const { url, child } = await startSpaces(await startChild(), { pass: { forwarded: null } })
    const answer = await fetch(`${url}/dev/x`)
    expect([answer.status, child.received]).toEqual([500, []])
  })
})

describe('the headers that the client gets', () => {
  test('are those of the application, without those of the hop', async () => {
    const answer = await answerOf(
      `${ok}\nX-Own: 1\nx-own: 2\nConnection: keep-alive, x-hop\nx-hop: 1\nKeep-Alive: timeout=9\nLocation: https://other.example/\ndate: x`,
      'ok',
    )
    expect(answer.headers).toEqual({
      'content-length': ['2'],
      'x-own': ['1', '2'],
      location: ['https://other.example/'],
      date: ['x'],
      connection: ['keep-alive'],
      'keep-alive': ['timeout=65'],
    })
    expect(answer.body.toString()).toBe('ok')
  })

  test('ATK-189 nothing commands the proxy in front or the whole origin', async () => {
    const commands = [
      ...['X-Accel-Redirect', 'X-Accel-Buffering', 'X-Sendfile', 'X-SENDFILE-TEMPORARY', 'X-Sendfile2'],
      ...['X-Lighttpd-Send-File', 'X-Reproxy-URL', 'Service-Worker-Allowed', 'Clear-Site-Data', 'Alt-Svc', 'NEL'],
      ...['Report-To', 'Strict-Transport-Security'],
    ]
    const answer = await answerOf(`${ok}\n${commands.map((name) => `${name}: /x`).join('\n')}\nX-Kept: 1`, 'ok')
    expect(answer.headers['x-kept']).toEqual(['1'])
    const dropped = commands.map((name) => name.toLowerCase())
    expect(Object.keys(answer.headers).filter((name) => dropped.includes(name))).toEqual([])
  })

  test('ATK-156 ATK-180 ATK-188 cookies stay in the space, and foreign ones are dropped', async () => {
    const lines = [
      'a=1; Path=/; Domain=example.org; HttpOnly',
      '__Host-access-token-dev=t; Path=/; Secure',
      '__Host-access-token-prod=t; Path=/; Secure',
      'access-token-host=t; Path=/',
      'b=2; Path=/prod/auth',
    ]
    const answer = await answerOf(`${ok}\n${lines.map((line) => `Set-Cookie: ${line}`).join('\n')}`, 'ok')
    expect(answer.headers['set-cookie']).toEqual([
      'a=1; HttpOnly; Path=/dev',
      '__Host-access-token-dev=t; Path=/; Secure',
      'b=2; Path=/dev',
    ])
  })

  test('the path of baseUrl, which a proxy strips, is part of the path of cookies', async () => {
    const answer = await answerOf('HTTP/1.1 204 x\nset-cookie: a=1; Path=/', '', {
      baseUrl: 'https://example.org/api/',
    })
    expect(answer.headers['set-cookie']).toEqual(['a=1; Path=/api/dev'])
  })

  test('the guard adds a header where the application sent none of that name, and adds to Vary', async () => {
    const added = { 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer', vary: 'Origin' }
    const answer = await answerOf(`${ok}\ncache-control: public\nvary: Accept`, 'ok', {
      pass: { responseHeaders: added },
    })
    expect(answer.headers).toMatchObject({
      'cache-control': ['public'],
      'referrer-policy': ['no-referrer'],
      vary: ['Accept', 'Origin'],
    })
  })
})
