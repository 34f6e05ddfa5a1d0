import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { RequestHandler } from 'express'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type CreatedApiToken, createAuth } from '../../src/index.js'
import { routes } from '../../src/routes/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'
import { sharedSettings } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { readVectors } from '../support/vectors.js'

interface TokenCase {
  id: string
  send: string[]
  expect: string
}

const { cases } = readVectors<{ cases: TokenCase[] }>('api-keys')

const logged: unknown[] = []
const log = (...parts: unknown[]) => void logged.push(parts)
const moves: RequestHandler = (_req, res) => res.redirect('/api/secret')
const server = await attackServer({
  file: true,
  settings: { publicRoutes: ['/api/open'], logger: { warn: log, error: log } },
  before(app, handler) {
    app.get('/api/moved', moves)
    app.all(['/api/secret', '/api/open'], handler)
  },
})
afterAll(() => server.close())
beforeEach(() => {
  server.calls.length = 0
  logged.length = 0
})

let writer: CreatedApiToken
let reader: CreatedApiToken
beforeAll(async () => {
  writer = await server.auth.apiTokens.create({ name: 'writer' })
  reader = await server.auth.apiTokens.create({ name: 'reader', access: 'READ' })
})

/** The vector's token, whole or in parts, as ours. */
function asOurs(text: string, token: string): string {
  if (/3F0C2D1E/.test(text))
    return asOurs(
      text.replace(/[\dA-F]{8}-[\w-]{27}/, (found) => found.toLowerCase()),
      token.toUpperCase(),
    )
  const [a = '', b = '', c = '', d = '', e = ''] = token.split('-')
  const parts = { '3f0c2d1e': a, '9a4b': b, '4c6d': c, '8e7f': d, '0a1b2c3d4e5f': e, '0a1b2c3d4e5': e.slice(0, 11) }
  return Object.entries(parts).reduce((filled, [theirs, ours]) => filled.replaceAll(theirs, ours), text)
}

/** Sends what a case says: header lines, a query, a body; these very bytes. */
function send(lines: readonly string[], { method = 'GET', path = '/api/secret' } = {}) {
  const query = lines.filter((line) => line.startsWith('?')).join('')
  const body = lines.find((line) => line.startsWith('{')) ?? ''
  const headers = lines.filter((line) => /^[\w-]+:/.test(line))
  if (body !== '') headers.push('content-type: application/json', `content-length: ${body.length}`)
  const target = `${path}${query.replaceAll('{', '%7B').replaceAll('}', '%7D').replaceAll('"', '%22')}`
  const start = `${body === '' ? method : 'POST'} ${target} HTTP/1.1`
  return server.raw([start, 'Host: 127.0.0.1', ...headers, '', body].join('\r\n'))
}

function vector(id: string): TokenCase {
  const found = cases.find((one) => one.id === id)
  if (!found) throw new Error(`no vector ${id}`)
  return found
}

const allowed = ['query', 'header-case', 'upper-value', 'query-encoded-name', 'query-q-mix']
const unauthenticated = [
  'alt-header-name',
  'braces',
  'urn',
  'no-dashes',
  'inner-space',
  'prefix',
  'longer',
  'nil',
  'empty',
  'two-headers',
  'header-and-query-differ',
  'query-twice',
  'query-array',
  'query-operator',
  'query-empty',
  'body',
  'authorization-apikey',
  'bearer',
]
const fromBrowsers = ['browser-origin', 'browser-sec-fetch', 'browser-navigate']
/** With a test of their own below. */
const apart = [
  'preflight',
  'redirect-leak',
  'log-leak',
  'error-leak',
  'read-get',
  'read-post',
  'read-post-override',
  'read-get-override',
  'read-lowercase-method',
  'revoked',
  'other-space',
  'expired',
  'timing',
  'enumerate',
  'admin-token-as-apikey',
]
/** The tool and its tokens are not there yet. */
const later = ['apikey-as-admintoken', 'admin-token-for-add-token']

test('ATK-100 every vector has its place here', () => {
  const placed = [...allowed, ...unauthenticated, ...fromBrowsers, ...apart, ...later]
  expect(cases.map(({ id }) => id).toSorted()).toEqual(placed.toSorted())
})

describe('ATK-100 how a token is presented', () => {
  test.each(allowed.map(vector))(
    'ATK-100 $id is let in, and the application sees no apikey',
    async ({ send: lines }) => {
      const answer = await send(lines.map((line) => asOurs(line, writer.token)))
      expect(answer.status, answer.text).toBe(200)
      expect(server.calls).toHaveLength(1)
      const [call] = server.calls
      expect(call?.principal).toEqual({ kind: 'apiToken', tokenId: writer.id, name: 'writer', access: 'READWRITE' })
      expect(call?.path).not.toMatch(/(?<!%22)apikey|%61pikey/i)
      expect(String(call?.headers['x-api-key']).toLowerCase()).toBe(writer.token)
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    },
  )

  test('ATK-100 the database query goes on, letter for letter', async () => {
    await send(vector('query-q-mix').send.map((line) => asOurs(line, writer.token)))
    expect(server.calls[0]?.path).toBe('/api/secret?q=%7B%22apikey%22:%22x%22%7D')
  })

  test.each(unauthenticated.map(vector))('ATK-100 $id is no credential', async ({ send: lines }) => {
    const answer = await send(lines.map((line) => asOurs(line, writer.token)))
    expectRefusal(answer, 401)
    expect(answer.body).toMatchObject({ code: 'unauthenticated' })
    expect(server.calls).toEqual([])
  })

  test.each([
    ['in a cookie', (token: string) => [`Cookie: apikey=${token}; x-apikey=${token}`]],
    ['as Basic', (token: string) => [`Authorization: Basic ${Buffer.from(`${token}:`).toString('base64')}`]],
    ['as a URL-encoded header', (token: string) => [`x-apikey: ${token.replace('-', '%2d')}`]],
    ['with a comma', (token: string) => [`x-apikey: ${token},`]],
    ['twice in one header', (token: string) => [`x-apikey: ${token}, ${token}`]],
    ['in both places', (token: string) => [`x-apikey: ${token}`, `?apikey=${token}`]],
    ['under another name', (token: string) => [`?api_key=${token}&ApiKey=${token}&APIKEY=${token}`]],
    ['in the fragment', (token: string) => [`?x=1#apikey=${token}`]],
  ])('ATK-100 %s it is no credential', async (_how, lines) => {
    expectRefusal(await send(lines(writer.token)), 400, 401)
    expect(server.calls).toEqual([])
  })

  test('ATK-100 an admin token in its place is none', async () => {
    expectRefusal(await send(['x-apikey: 3f0c2d1e9a4b4c6d-8e7f0a1b2c3d4e5f']), 401)
  })

  test('ATK-100 a bad one never falls through to the session beside it, and a good one decides', async () => {
    const client = server.client()
    await client.signUp(ada)
    const { access } = heldTokens(client)
    for (const beside of [`Cookie: access-token=${access}`, `Authorization: Bearer ${access}`]) {
      expectRefusal(await send([`x-apikey: ${randomUUID()}`, beside]), 401)
      expect((await send([`x-apikey: ${writer.token}`, beside])).status).toBe(200)
    }
    expect(server.calls.map(({ principal }) => principal?.kind)).toEqual(['apiToken', 'apiToken'])
  })

  test('ATK-100 x-api-key of the client never reaches the application, on public routes either', async () => {
    const forged = ['x-api-key: forged', `X-API-Key: ${writer.token}`]
    await send([`x-apikey: ${writer.token}`, ...forged])
    await send([...forged, `?apikey=${writer.token}`], { path: '/api/open' })
    expect(server.calls.map(({ headers }) => headers['x-api-key'])).toEqual([writer.token, undefined])
    expect(server.calls[1]?.path).toBe('/api/open')
  })
})

describe('ATK-099 a READ token', () => {
  test.each(['GET', 'HEAD', 'OPTIONS'])('ATK-099 may %s', async (method) => {
    expect((await send([`x-apikey: ${reader.token}`], { method })).status).toBe(200)
    expect(server.calls).toMatchObject([{ method, principal: { tokenId: reader.id, access: 'READ' } }])
  })

  const writes = ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MKCOL', 'LOCK']
  test.each(writes)('ATK-099 may not %s, whatever says that it is a GET', async (method) => {
    const overrides = ['X-HTTP-Method-Override: GET', 'X-HTTP-Method: GET', 'X-Method-Override: GET']
    for (const lines of [[], overrides, ['?_method=GET']]) {
      const answer = await send([`x-apikey: ${reader.token}`, 'content-length: 0', ...lines], { method })
      expectRefusal(answer, 403)
      expect(answer.body).toMatchObject({ code: 'insufficient_access' })
      expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    }
    expect(server.calls).toEqual([])
  })

  test('ATK-099 that calls itself a DELETE is a GET, for the application, too', async () => {
    await send([`x-apikey: ${reader.token}`, 'X-HTTP-Method-Override: DELETE', '?_method=DELETE'])
    expect(server.calls).toMatchObject([{ method: 'GET' }])
  })

  test.each(['post', 'Post', 'get', 'delete'])('ATK-099 with the method %s changes nothing', async (method) => {
    const answer = await send([`x-apikey: ${reader.token}`, 'content-length: 0'], { method })
    expect(answer.status).toBe(400)
    expect(server.calls).toEqual([])
  })

  test('ATK-099 opens no WebSocket, through which anything can be sent', async () => {
    const upgrade = ['Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    for (const protocol of ['websocket', 'WebSocket', 'foo, websocket', 'h2c, websocket', 'tunnel']) {
      const lines = [`x-apikey: ${reader.token}`, ...upgrade, `Upgrade: ${protocol}`]
      expectRefusal(await send(lines), 403)
    }
    expect(server.calls).toEqual([])
    const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']
    expect((await send([`x-apikey: ${reader.token}`, ...offer])).status).toBe(200)
  })
})

describe('ATK-101 a token from a browser', () => {
  test.each(fromBrowsers.map(vector))(
    'ATK-101 $id is refused before anything is looked up',
    async ({ send: lines }) => {
      for (const token of [writer.token, randomUUID()]) {
        const answer = await send(lines.map((line) => asOurs(line, token)))
        expectRefusal(answer, 403)
        expect(answer.body).toMatchObject({ code: 'api_token_in_browser' })
        expect(answer.headers.get('access-control-allow-headers')).toBeNull()
      }
      expect(server.calls).toEqual([])
    },
  )

  test('ATK-101 no preflight allows the header', async () => {
    const lines = [`Origin: ${server.url}`, 'Access-Control-Request-Method: GET', ...vector('preflight').send.slice(1)]
    const answer = await send(lines, { method: 'OPTIONS' })
    expect(answer.headers.get('access-control-allow-headers') ?? '').not.toMatch(/apikey/i)
    expect(server.calls).toEqual([])
  })

  test('ATK-101 an answer that redirects hands nothing of the address on', async () => {
    const answer = await send([`?apikey=${writer.token}&a=1`], { path: '/api/moved' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/api/secret'])
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('ATK-101 the way to the sign-in page does not either, where browsers are not refused', async () => {
    const lenient = await attackServer({ settings: { apiTokens: { refuseBrowsers: false } } })
    onTestFinished(() => lenient.close())
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }
    const answer = await lenient.ask('GET', `/api/secret?a=1&apikey=${randomUUID()}`, { headers })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/auth/login?redirect=%2Fapi%2Fsecret'])
    const { token } = await lenient.auth.apiTokens.create({ name: 'x' })
    expect((await lenient.ask('GET', `/api/secret?apikey=${token}`, { headers })).status).toBe(200)
  })

  test('ATK-101 a refusal does not repeat the address', async () => {
    const unknown = randomUUID()
    const texts: string[] = []
    for (const [token, path] of [
      [unknown, '/api/secret'],
      [unknown, '/auth/nothing'],
      [unknown, '/auth/me'],
      [writer.token, '/api/nothing'],
      [writer.token, '/auth/me'],
    ] as const) {
      const answer = await send([`?apikey=${token}`], { path })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      texts.push(answer.text, JSON.stringify([...answer.headers]))
    }
    expect(texts.join()).not.toMatch(/apikey/)
    for (const token of [unknown, writer.token]) expect(texts.join()).not.toContain(token)
  })

  test('ATK-101 no log of ours holds the address, also where a request fails', async () => {
    const database = failingDatabase()
    const failing = await attackServer({ settings: { database: database.dialect, logger: { warn: log, error: log } } })
    onTestFinished(() => failing.close())
    database.failAfter(0)
    const unknown = randomUUID()
    expect((await failing.ask('GET', `/api/secret?apikey=${unknown}`)).status).toBe(503)
    await failing.runtime.clock.advance('11s')
    expect((await failing.ask('GET', `/api/secret?apikey=${unknown}`)).status).toBe(503)
    database.failAfter(Number.POSITIVE_INFINITY)
    expect(JSON.stringify(logged)).toContain('request_failed')
    expect(JSON.stringify(logged)).not.toMatch(/apikey|api\/secret/)
    expect(JSON.stringify(logged)).not.toContain(unknown)
  })

  test('ATK-101 without inUrl a token in the address is none', async () => {
    const strict = await attackServer({ settings: { apiTokens: { inUrl: false } } })
    onTestFinished(() => strict.close())
    const { token } = await strict.auth.apiTokens.create({ name: 'x' })
    expectRefusal(await strict.ask('GET', `/api/secret?apikey=${token}`), 401)
    expect((await strict.ask('GET', '/api/secret', { headers: { 'x-apikey': token } })).status).toBe(200)
  })
})

describe('ATK-102 guessing, and tokens at rest', () => {
  test('ATK-102 guesses all get one answer, then 429; a right token from there still passes', async () => {
    const limited = await attackServer({ settings: { limits: {} } })
    onTestFinished(() => limited.close())
    const { token } = await limited.auth.apiTokens.create({ name: 'x' })
    const lapsed = await limited.auth.apiTokens.create({ name: 'y', expiresAt: '2026-01-01T00:00:10Z' })
    const removed = await limited.auth.apiTokens.create({ name: 'z' })
    await limited.auth.apiTokens.remove(removed.id)
    await limited.runtime.clock.advance('10s')
    const ask = (guess: string) => limited.ask('GET', '/api/secret', { headers: { 'x-apikey': guess } })

    const nearMisses = [
      `${token[0] === '0' ? '1' : '0'}${token.slice(1)}`,
      `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
    ]
    const guesses = [lapsed.token, removed.token, ...nearMisses, ...Array.from({ length: 26 }, () => randomUUID())]
    const told = new Set<string>()
    for (const guess of guesses) {
      const answer = await ask(guess)
      expectRefusal(answer, 401)
      told.add(answer.text.replace(/"requestId":"[^"]*"/, ''))
    }
    expect(told.size).toBe(1)
    for (const guess of [randomUUID(), lapsed.token, removed.token]) {
      const answer = await ask(guess)
      expectRefusal(answer, 429)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await ask(token)).status).toBe(200)
    await limited.runtime.clock.advance('1m')
    expectRefusal(await ask(randomUUID()), 401)
  })

  test('ATK-102 a token that is removed or has expired is nobody’s at once', async () => {
    const lapsing = await server.auth.apiTokens.create({
      name: 'x',
      expiresAt: new Date(server.runtime.clock.now() + 5_000),
    })
    const removed = await server.auth.apiTokens.create({ name: 'y' })
    const ask = async ({ token }: CreatedApiToken) => (await send([`x-apikey: ${token}`])).status
    expect([await ask(lapsing), await ask(removed)]).toEqual([200, 200])
    await server.auth.apiTokens.remove(removed.id)
    await server.runtime.clock.advance('5s')
    expect([await ask(lapsing), await ask(removed)]).toEqual([401, 401])
  })

  test('ATK-102 a token of another installation is none', async () => {
    const other = await attackServer()
    onTestFinished(() => other.close())
    const { token } = await other.auth.apiTokens.create({ name: 'x' })
    expectRefusal(await send([`x-apikey: ${token}`]), 401)
  })

  test('ATK-102 a stolen copy of the database holds no token, and no plain hash of one', async () => {
    const [{ file = '' } = {}] = server.sql<{ file: string }>('pragma database_list')
    const bytes = Buffer.concat(
      [file, `${file}-wal`].filter((path) => existsSync(path)).map((path) => readFileSync(path)),
    )
    expect(bytes.includes('writer')).toBe(true)
    for (const { token } of [writer, reader]) {
      const bare = token.replaceAll('-', '')
      const hashes = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(token))
      const digests = hashes.map((hash) => hash.digest())
      const traces = [token, token.toUpperCase(), bare, Buffer.from(bare, 'hex'), Buffer.from(token).toString('base64')]
      const plain = digests.flatMap((digest) => [digest, digest.toString('hex'), digest.toString('base64url')])
      expect([...traces, ...plain].filter((trace) => bytes.includes(trace))).toEqual([])
    }
    const rows = server.sql<{ token_hash: string }>('select token_hash from latchkey_api_tokens')
    for (const { token_hash } of rows) expect(token_hash).toMatch(/^[\w-]{8}\.[\w-]{43}$/)
  })
})

describe('ATK-103 who makes tokens', () => {
  test('ATK-103 no route of users does: that is the application’s own code, or an administrator’s', async () => {
    expect(routes.filter(({ path, control }) => !control && /(?<!open)api|(?<!pass)key/i.test(path))).toEqual([])
    const before = (await server.auth.apiTokens.list()).items
    const client = server.client()
    await client.signIn(ada)
    const body = { name: 'x', access: 'READWRITE', userId: 'other', owner: 'other' }
    for (const path of ['/auth/api-tokens', '/auth/apiTokens', '/auth/tokens', '/auth/api-keys', '/auth/keys']) {
      for (const ask of [client.get, client.post, client.delete]) {
        expect((await Reflect.apply(ask, client, [path, body])).status).toBe(404)
      }
      expectRefusal(await send([`x-apikey: ${reader.token}`, JSON.stringify(body)], { path }), 404)
    }
    expect((await server.auth.apiTokens.list()).items).toEqual(before)
  })

  test('ATK-103 a token is no session: our own routes do not take it', async () => {
    for (const [method, path] of [
      ['GET', '/auth/me'],
      ['DELETE', '/auth/sessions'],
      ['GET', '/auth/sessions'],
    ] as const) {
      expectRefusal(await send([`x-apikey: ${writer.token}`], { method, path }), 403)
    }
  })
})

describe('ATK-105 the networks of a token', () => {
  test('ATK-105 hold it to where it may come from, whatever the client says of itself', async () => {
    const [near, far] = [
      await server.auth.apiTokens.create({ name: 'near', cidrs: ['127.0.0.0/8', '::1'] }),
      await server.auth.apiTokens.create({ name: 'far', cidrs: ['192.0.2.0/24'] }),
    ]
    const forged = ['X-Forwarded-For: 192.0.2.1', 'X-Real-IP: 192.0.2.1', 'Forwarded: for=192.0.2.1']
    for (const round of [1, 2]) {
      expect((await send([`x-apikey: ${near.token}`])).status, String(round)).toBe(200)
      const answer = await send([`x-apikey: ${far.token}`, ...forged])
      expectRefusal(answer, 403)
      expect(answer.body).toMatchObject({ code: 'ip_not_allowed' })
    }
    expect(server.calls).toHaveLength(2)
  })

  test('ATK-105 refuse a client whose address nobody knows, and believe a trusted proxy', async () => {
    const proxied = await attackServer({ settings: { trustedProxies: ['127.0.0.1'] } })
    onTestFinished(() => proxied.close())
    const { token } = await proxied.auth.apiTokens.create({ name: 'x', cidrs: ['192.0.2.0/24'] })
    const from = async (address: string) =>
      (await proxied.ask('GET', '/api/secret', { headers: { 'x-apikey': token, 'x-forwarded-for': address } })).status
    expect([await from('192.0.2.1'), await from('198.51.100.1'), await from('nobody')]).toEqual([200, 403, 403])
    const request = new Request(`${proxied.url}/api/secret`, { headers: { 'x-apikey': token } })
    expect((await proxied.auth.fetch(request, { next: () => new Response('in') })).status).toBe(403)
  })

  test('ATK-105 are not given behind a count of proxies, where anybody may have written the address, and refuse there', async () => {
    const shared = sharedSettings()
    const [known, counted] = [0, 1].map((trustedProxies) => {
      const auth = createAuth(testSettings({ ...shared, trustedProxies }), createTestRuntime())
      onTestFinished(() => auth.close())
      return auth
    })
    const { token, id } = (await known?.apiTokens.create({ name: 'x', cidrs: ['192.0.2.0/24'] })) ?? {}
    const headers = { 'x-apikey': String(token), 'x-forwarded-for': '192.0.2.5' }
    const ask = () => {
      const request = new Request('http://localhost:3000/api/x', { headers })
      return counted?.fetch(request, { ip: '203.0.113.9', next: () => new Response('in') })
    }
    expect((await ask())?.status).toBe(403)
    await expect(counted?.apiTokens.create({ name: 'y', cidrs: ['192.0.2.0/24'] })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ path: 'cidrs' }] },
    })
    headers['x-apikey'] = String((await counted?.apiTokens.rotate(String(id)))?.token)
    expect((await ask())?.status).toBe(403)
    headers['x-apikey'] = String((await counted?.apiTokens.create({ name: 'y' }))?.token)
    expect((await ask())?.status).toBe(200)
  })
})
