import { request as httpRequest } from 'node:http'
import { describe, expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import {
  absentChild,
  type FrontSettings,
  type SpacesUnderTest,
  type StubSpace,
  startChild,
  startFront,
  startSpaces,
} from '../../support/host-front.js'
import { rawConnection, rawRequest } from '../../support/raw-http.js'
import { readVectors } from '../../support/vectors.js'

interface World extends SpacesUnderTest {
  /** One request with the right host; status and code of a problem. */
  ask(
    target: string,
    lines?: readonly string[],
    method?: string,
  ): Promise<{ status: number; code: unknown; body: string }>
}

async function start(stub: Partial<StubSpace> = {}, settings: FrontSettings = {}): Promise<World> {
  const spaces = await startSpaces(await startChild(), stub, settings)
  return {
    ...spaces,
    async ask(target, lines = [spaces.host], method = 'GET') {
      const answer = await rawRequest(spaces.port, [`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
      return { status: answer.status, ...codeOf(answer.body.toString()) }
    },
  }
}

function codeOf(body: string): { code: unknown; body: string } {
  const parsed: unknown = body.startsWith('{') ? JSON.parse(body) : null
  return { code: parsed !== null && typeof parsed === 'object' && 'code' in parsed ? parsed.code : null, body }
}

describe('which space', () => {
  test('the guard and the child get the path as sent, the guard below the space', async () => {
    const { ask, judged, child } = await start()
    await ask('/dev/orders/caf%C3%A9?limit=1')
    await ask('/prod')
    expect(judged).toEqual([
      { space: 'dev', mount: '/dev', path: '/orders/caf%C3%A9' },
      { space: 'prod', mount: '/prod', path: '/' },
    ])
    expect(child.received.map(({ url }) => url)).toEqual(['/dev/orders/caf%C3%A9?limit=1', '/prod'])
  })

  test.each(['/', '/nope/x', '/DEV/x', '/dev%20', '/health/x', '/asleep/x'])('%s names no space', async (target) => {
    const { ask, child } = await start({}, { undeployed: ['asleep'] })
    const { status, code } = await ask(target)
    expect([status, code]).toEqual(target === '/dev%20' ? [400, 'invalid_request'] : [404, 'space_not_found'])
    expect(child.received).toEqual([])
  })

  test.each(['/dev/../prod/x', '/dev%2f..%2fprod', '//dev', '/dev;x', '/dev/%2e%2e/prod'])(
    'ATK-147 %s is refused before any guard',
    async (target) => {
      const { ask, judged, child } = await start()
      expect(await ask(target)).toMatchObject({ status: 400, code: 'invalid_request' })
      expect([judged, child.received]).toEqual([[], []])
    },
  )

  test('ATK-147 an absolute target reaches the child as a path, and one for another host is 421', async () => {
    const { ask, child, port } = await start()
    expect(await ask(`http://localhost:${port}/dev/x?y=1`)).toMatchObject({ status: 200 })
    expect(await ask('http://evil.example/dev/x')).toMatchObject({ status: 421, code: 'wrong_host' })
    expect(child.received.map(({ url }) => url)).toEqual(['/dev/x?y=1'])
  })

  test('ATK-147 the child gets the target of each vector as the guard judged it, or not at all', async () => {
    const { port, child, judged } = await start({}, { baseUrl: 'http://127.0.0.1:1' })
    const { cases } = readVectors<{ cases: { target: string; method: string }[] }>('path-bypass')
    for (const { target } of cases) {
      const bytes = `GET ${target.replace('/api', '/dev')} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n`
      await rawRequest(port, bytes).catch(() => null)
    }
    expect(judged.length).toBeGreaterThan(0)
    expect(child.received.map(({ url }) => url.split('?')[0])).toEqual(
      judged.map(({ mount, path }) =>
        path === '/' && !mount.endsWith('/') ? expect.stringMatching(/^\/dev\/?$/) : mount + path,
      ),
    )
  })
})

describe('the host', () => {
  test('answers for itself at /health', async () => {
    const { ask, judged } = await start()
    expect(await ask('/health')).toMatchObject({ status: 200, body: '{"status":"ok"}' })
    expect(judged).toEqual([])
  })

  test.each([
    ['missing', []],
    ['twice', ['Host: 127.0.0.1:PORT', 'Host: 127.0.0.1:PORT']],
    ['twice, differently', ['Host: 127.0.0.1:PORT', 'host: evil.example']],
    ['another site', ['Host: evil.example']],
    ['another port', ['Host: 127.0.0.1:1']],
    ['with a user', ['Host: x@127.0.0.1:PORT']],
    ['empty', ['Host:']],
    ['a list', ['Host: 127.0.0.1:PORT, evil.example']],
  ])('ATK-156 ATK-181 `Host` %s is 421', async (_, lines) => {
    const { ask, port, judged } = await start()
    const sent = lines.map((line) => line.replaceAll('PORT', String(port)))
    expect(await ask('/dev/x', sent)).toMatchObject({ status: 421, code: 'wrong_host' })
    expect(await ask('/health', sent)).toMatchObject({ status: 421 })
    expect(judged).toEqual([])
  })

  test('in development the loopback names count as one', async () => {
    const { ask, port } = await start()
    for (const host of ['localhost', '[::1]', 'LOCALHOST']) {
      expect(await ask('/dev/x', [`Host: ${host}:${port}`])).toMatchObject({ status: 200 })
    }
  })

  test('a refusal is a problem with an id, and with HSTS under https', async () => {
    const { port } = await start({}, { baseUrl: 'https://api.example.org' })
    const { headers } = await rawRequest(port, 'GET /nope HTTP/1.1\r\nHost: api.example.org\r\n\r\n')
    expect(headers['content-type']).toEqual(['application/problem+json'])
    expect(headers['x-request-id']?.[0]).toBeTruthy()
    expect(headers['strict-transport-security']).toHaveLength(1)
  })
})

describe('sizes', () => {
  test('a target of 16 KiB passes, a longer one is 414', async () => {
    const { ask } = await start()
    const prefix = '/dev/x?'
    expect(await ask(prefix.padEnd(16 * 1024, 'a'))).toMatchObject({ status: 200 })
    for (const length of [16 * 1024 + 1, 32 * 1024]) {
      expect(await ask(prefix.padEnd(length, 'a'))).toMatchObject({ status: 414, code: 'target_too_long' })
    }
  })

  test('headers over 32 KiB are 431, however many or long they are', async () => {
    const { ask, child, host } = await start()
    expect(await ask('/dev/x', [host, `a: ${'b'.repeat(30_000)}`])).toMatchObject({ status: 200 })
    const tooMany = Array.from({ length: 5_000 }, (_, n) => `a${n}: 12`)
    for (const lines of [[`a: ${'b'.repeat(33_000)}`], tooMany, [`a: ${'b'.repeat(300_000)}`]]) {
      expect(await ask('/dev/x', [host, ...lines])).toMatchObject({ status: 431, code: 'headers_too_large' })
    }
    expect(child.received).toHaveLength(1)
  })

  test('a body over the limit is 413: by its length before the child, by its bytes on the way', async () => {
    const { ask, port, child, host } = await start({ limits: { streamBytes: 1000 } })
    expect(await ask('/dev/x', [host, 'Content-Length: 1001'], 'POST')).toMatchObject({ status: 413 })
    expect(await ask('/dev/x', [host, 'Content-Length: 99999999999999999999'], 'POST')).toMatchObject({ status: 400 })
    expect(child.running() + child.received.length).toBe(0)
    const chunk = `3e9\r\n${'a'.repeat(1001)}\r\n`
    const answer = await rawRequest(
      port,
      `POST /dev/x HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    )
    expect([answer.status, codeOf(answer.body.toString()).code]).toEqual([413, 'payload_too_large'])
    expect(child.running()).toBe(0)
    const whole = await rawRequest(
      port,
      `POST /dev/x HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n${'a'.repeat(1000)}\r\n0\r\n\r\n`,
    )
    expect(whole.status).toBe(200)
  })
})

describe('the guard', () => {
  test('a refused request does not reach the child, and closes the connection when its body is large', async () => {
    const guard: StubSpace['guard'] = {
      decide: () =>
        Promise.resolve({ kind: 'answer', response: { status: 401, headers: { 'x-a': ['1', '2'] }, body: 'no' } }),
    }
    const { port, child, host } = await start({ guard })
    const small = await rawRequest(port, `POST /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\n\r\n`)
    expect([small.status, small.headers['x-a'], small.headers.connection]).toEqual([401, ['1', '2'], ['keep-alive']])
    const large = await rawRequest(port, `POST /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 500000\r\n\r\n`)
    expect([large.status, large.headers.connection]).toEqual([401, ['close']])
    expect(child.received).toEqual([])
  })

  test('a guard that throws is 500 without a detail, and an AuthError keeps its status and code', async () => {
    const secret = 'the secret of the guard'
    const thrown: unknown[] = [new Error(secret), new AuthError('busy')]
    const decide = () => {
      throw thrown.shift()
    }
    const { ask, log } = await start({ guard: { decide } })
    expect(await ask('/dev/x')).toMatchObject({ status: 500, code: 'internal_error' })
    expect(await ask('/dev/x')).toMatchObject({ status: 503, code: 'busy' })
    expect(JSON.stringify(log)).not.toContain(secret)
  })

  test('Expect: 100-continue is answered after the guard has accepted the request', async () => {
    const { port, child } = await start()
    const head = [
      'POST /dev/x HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Expect: 100-continue',
      'Content-Length: 4',
      '',
      '',
    ]
    const asked = httpRequest({ port, path: '/dev/x', method: 'POST', headers: { expect: '100-continue' } })
    const continued = new Promise((resolve) => asked.once('continue', resolve))
    asked.flushHeaders()
    await continued
    const answered = new Promise<number | undefined>((resolve) =>
      asked.once('response', (response) => resolve(response.resume().statusCode)),
    )
    asked.end('body')
    expect(await answered).toBe(200)
    expect(child.received).toMatchObject([{ body: 'body' }])
    expect(child.received[0]?.headers.map(([name]) => name)).not.toContain('expect')

    const refusing = await start({
      guard: { decide: () => ({ kind: 'answer', response: { status: 403, headers: {}, body: null } }) },
    })
    const connection = await rawConnection(refusing.port)
    connection.write(head.join('\r\n').replace(String(port), String(refusing.port)))
    const refused = await connection.answer()
    expect([refused.status, refused.headers.connection]).toEqual([403, ['close']])
    connection.destroy()
  })
})

describe('unsupported requests', () => {
  test('upgrades and tunnels are 501', async () => {
    const { ask, judged, host } = await start()
    const lines = [
      host,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: eDp5',
      'Sec-WebSocket-Version: 13',
    ]
    expect(await ask('/dev/x', lines)).toMatchObject({ status: 501, code: 'not_here' })
    expect(await ask('evil.example:443', ['Host: evil.example:443'], 'CONNECT')).toMatchObject({ status: 501 })
    expect(judged).toEqual([])
  })
})

describe('a space', () => {
  test('whose child does not listen is 503 application_starting with Retry-After', async () => {
    const { port } = await start({ child: absentChild() })
    const answer = await rawRequest(port, `GET /dev/x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    expect([answer.status, answer.headers['retry-after'], codeOf(answer.body.toString()).code]).toEqual([
      503,
      ['1'],
      'application_starting',
    ])
  })

  test('takes no more requests at once than its limit, and the other space is served', async () => {
    const open: (() => void)[] = []
    const child = await startChild((_request, response) => void open.push(() => response.end()))
    const front = await startFront({ dev: { child, limits: { connections: 3 } }, prod: { child: await startChild() } })
    const waiting = [1, 2, 3].map(() => fetch(`${front.url}/dev/x`))
    await expect.poll(() => open.length).toBe(3)
    const refused = await fetch(`${front.url}/dev/x`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${front.url}/prod/x`)).status).toBe(200)
    for (const end of open.splice(0)) end()
    await Promise.all(waiting)
    const next = fetch(`${front.url}/dev/x`)
    await expect.poll(() => open.length).toBe(1)
    open[0]?.()
    expect((await next).status).toBe(200)
    expect(child.running()).toBe(0)
  })
})
