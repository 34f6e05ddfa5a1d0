import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { createTestClock, createTestRuntime } from '../../src/testing.js'
import { type TestAuth, testAuth } from '../support/auth.js'
import { issuerKey, type KeyServer, keyServer } from '../support/key-server.js'
import { readVectors } from '../support/vectors.js'

interface AttackToken {
  id: string
  verifier: string
  expect: string
  token: string
}
interface KeyDocument {
  id: string
  body: { generator?: string }
  expect: string
}
const forged = readVectors<{ jwks: { keys: { kid: string }[] }; tokens: AttackToken[] }>('jwt-attacks')
const { documents } = readVectors<{ documents: KeyDocument[] }>('jwks-attacks')
const { tests: wycheproof } = readVectors<{
  tests: { tcId: number; comment: string; jwks: unknown; jws: string; expect_rs256_jwks_verifier: string }[]
}>('wycheproof-jwks')
const control = forged.tokens.find(({ id }) => id === 'control-rs256')?.token ?? ''

const servers: KeyServer[] = []
afterAll(() => Promise.all(servers.map((server) => server.stop())))

async function server(): Promise<KeyServer> {
  const made = await keyServer()
  servers.push(made)
  return made
}

const now = Date.UTC(2026, 0, 1)
const inAnHour = now / 1000 + 3600

const one = issuerKey('one')
const two = issuerKey('two')
const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const claims = { iss: 'https://issuer.test', aud: 'test-app', sub: 'user-1', exp: inAnHour }

/** An application that trusts the key set of that server, by the real network. */
function trusting(url: string, jwks: object = {}, settings: Partial<LatchkeySettings> = {}): Promise<TestAuth> {
  const runtime = createTestRuntime({ clock: createTestClock(now), fetch: (input, init) => fetch(input, init) })
  return testAuth({ jwks: { url, issuer: 'https://issuer.test', audience: 'test-app', ...jwks }, ...settings }, runtime)
}

async function ask({ client }: TestAuth, token: string): Promise<[status: number, code: string | null]> {
  const { status, body } = await client({ as: 'server' }).get<{ code?: string }>('/api/x', {
    headers: { authorization: `Bearer ${token}` },
  })
  return [status, body.code ?? null]
}

/** Real sockets have answered what the clock made somebody ask. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !isSo(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(isSo()).toBe(true)
}

describe('ATK-108 tokens', () => {
  const ofJwks = forged.tokens.filter(({ verifier }) => verifier === 'rs256-jwks' || verifier === 'both')

  test('ATK-108 forged ones are refused, the control passes, and nothing but the key set is ever asked for', async () => {
    const keys = await server()
    keys.publish(forged.jwks)
    const app = await trusting(keys.url)
    const wrong: string[] = []
    for (const { id, token, expect: wanted } of ofJwks) {
      const [status] = await ask(app, token)
      if (status !== (wanted === 'accept' ? 200 : 401)) wrong.push(`${id}: ${status}`)
    }
    expect(ofJwks.length).toBeGreaterThan(60)
    expect(wrong).toEqual([])
    expect(app.passed.map(({ principal }) => principal)).toEqual([
      expect.objectContaining({ kind: 'jwt', subject: 'user-1', issuer: 'https://issuer.test' }),
    ])
    // Once at the start, once for all the unknown key ids together.
    expect(keys.asked).toBeLessThanOrEqual(2)
  })

  test('are checked once however the scheme is spelled, so nobody pays us with spelling it in turns', async () => {
    const keys = await server()
    keys.publish(forged.jwks)
    const app = await trusting(keys.url)
    for (const scheme of ['bearer', 'BEARER', 'Bearer', 'bearer'])
      await app.client({ as: 'server' }).get('/api/x', { headers: { authorization: `${scheme} ${control}` } })
    expect(app.passed).toHaveLength(4)
    // What is remembered is the same, to the object.
    expect(new Set(app.passed.map(({ principal }) => principal)).size).toBe(1)
  })

  test.each(wycheproof)('ATK-108 wycheproof $tcId $comment is refused', async ({ jwks, jws }) => {
    const keys = await server()
    keys.publish(jwks)
    // "accept" is of the signature: the payload is no JSON.
    expect(await ask(await trusting(keys.url), jws)).toEqual([401, 'unauthenticated'])
  })

  const good = [
    'ok-one',
    'ok-two-rotation',
    'mixed-oct-rsa-same-kid',
    'duplicate-kid',
    'extra-members',
    'keys-array-of-junk',
  ]
  const noSet = ['root-array', 'root-null', 'single-jwk-root', 'body-50MB', 'body-gzip-bomb']

  test.each(documents)('ATK-108 the key set $id: $expect', async ({ id, body }) => {
    const keys = await server()
    if (body?.generator === undefined) keys.publish(body)
    else if (id === 'body-50MB') keys.answer((_request, response) => response.end(`${' '.repeat(5e7)}{"keys":[]}`))
    else {
      const bomb = gzipSync(Buffer.alloc(1e7, '0'))
      keys.answer((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb))
    }
    const wanted = noSet.includes(id) ? 503 : good.includes(id) ? 200 : 401
    expect((await ask(await trusting(keys.url), control))[0]).toBe(wanted)
  })

  test.each([
    ['expired', { exp: now / 1000 - 61 }, 'token_expired'],
    ['without exp', { exp: undefined }, 'unauthenticated'],
    ['with exp as text', { exp: String(inAnHour) }, 'unauthenticated'],
    ['not yet valid', { nbf: now / 1000 + 61 }, 'unauthenticated'],
    ['of another issuer', { iss: 'https://issuer.test/' }, 'unauthenticated'],
    ['for another audience', { aud: ['other-app'] }, 'unauthenticated'],
    ['without audience', { aud: undefined }, 'unauthenticated'],
    ['without sub', { sub: undefined }, 'unauthenticated'],
    ['with an empty sub', { sub: '' }, 'unauthenticated'],
    ['with a number as sub', { sub: 7 }, 'unauthenticated'],
  ])('ATK-108 one %s is refused', async (_what, change, code) => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const app = await trusting(keys.url)
    expect(await ask(app, one.token({ ...claims, ...change }))).toEqual([401, code])
    const soon = { ...claims, aud: ['else', 'test-app'], nbf: now / 1000 + 59, exp: now / 1000 - 59 }
    expect((await ask(app, one.token(soon)))[0]).toBe(200)
  })

  test.each([
    ['crit', { crit: ['b64'], b64: true }],
    ['an unknown crit', { crit: ['x'], x: 1 }],
    ['an algorithm that was not configured', { alg: 'PS256' }],
  ])('ATK-108 a header with %s is refused', async (_what, header) => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    expect(await ask(await trusting(keys.url), one.token(claims, header))).toEqual([401, 'unauthenticated'])
  })

  test('ATK-108 claims are frozen to the bottom, and a token that was seen before is decided at once until it expires', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const app = await trusting(keys.url)
    const token = one.token({ ...claims, groups: [{ name: 'a' }] })
    expect((await ask(app, token))[0]).toBe(200)
    const { principal } = app.passed[0] ?? {}
    const groups: unknown = principal?.kind === 'jwt' ? principal.claims.groups : null
    expect([principal, groups, Array.isArray(groups) && groups[0]].every(Object.isFrozen)).toBe(true)
    expect((await ask(app, token))[0]).toBe(200)
    expect(app.passed[1]?.principal).toBe(principal)
    await app.runtime.clock.advance('61m')
    expect(await ask(app, token)).toEqual([401, 'token_expired'])
  })

  test('ATK-108 a token of ours that is remembered already is none where the key set is exclusive', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const app = await trusting(keys.url, { exclusive: true })
    await app.client({ mailbox: app.mailbox }).signUp({ email: 'ada@example.test', password: 'correct horse battery' })
    const program = app.client({ as: 'token' })
    await program.signIn({ email: 'ada@example.test', password: 'correct horse battery' })
    for (const [path, status] of [
      ['/auth/me', 200],
      ['/api/x', 401],
      ['/auth/me', 200],
      ['/api/x', 401],
    ] as const) {
      expect((await program.get(path)).status).toBe(status)
    }
  })

  test('ATK-108 a token that was accepted counts no more once another key set is in force, and again with its own', async () => {
    const [keys, others] = [await server(), await server()]
    keys.publish({ keys: [one.jwk] })
    others.publish({ keys: [two.jwk] })
    const app = await trusting(keys.url, { allowPrivate: true })
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    await app.auth.access.setJwks(others.url)
    expect(await ask(app, one.token(claims))).toEqual([401, 'unauthenticated'])
    expect((await ask(app, two.token(claims)))[0]).toBe(200)
    await app.auth.access.setJwks(null)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    expect(await ask(app, two.token(claims))).toEqual([401, 'unauthenticated'])
  })

  test('ATK-108 a check that another key set overtakes is worth nothing', async () => {
    const [keys, others] = [await server(), await server()]
    others.publish({ keys: [two.jwk] })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    keys.answer((_request, response) => void held.then(() => response.end(JSON.stringify({ keys: [one.jwk] }))))
    const app = await trusting(keys.url, { allowPrivate: true })
    const asked = ask(app, one.token(claims))
    await until(() => keys.asked === 1)
    await app.auth.access.setJwks(others.url)
    release()
    expect(await asked).toEqual([401, 'unauthenticated'])
  })

  test('ATK-108 other credentials stay good beside the key set, unless it is exclusive', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    for (const [exclusive, wanted] of [
      [false, 200],
      [true, 401],
    ] as const) {
      const app = await trusting(keys.url, { exclusive })
      const browser = app.client({ mailbox: app.mailbox })
      await browser.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
      expect((await browser.get('/api/x')).status).toBe(wanted)
      // Nor is a page led to the sign-in page, which would find the session alive and lead right back.
      const opened = await browser.get('/api/x', { headers: navigation })
      expect([opened.status, opened.headers.get('location')]).toEqual([wanted, null])
      const program = app.client({ as: 'token' })
      await program.signIn({ email: 'ada@example.test', password: 'correct horse battery' })
      expect((await program.get('/api/x')).status).toBe(wanted)
      expect((await program.get('/auth/me')).status).toBe(200)
      expect((await ask(app, one.token(claims)))[0]).toBe(200)
      const { token } = await app.auth.apiTokens.create({ name: 'nightly' })
      const script = app.client({ as: 'server', headers: { 'x-apikey': token } })
      expect((await script.get('/api/x')).status).toBe(wanted)
    }
  })

  test('ATK-108 a token of the other issuer is nobody on our own routes', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const { client } = await trusting(keys.url)
    const headers = { authorization: `Bearer ${one.token(claims)}` }
    expect((await client({ as: 'server' }).get('/auth/me', { headers })).status).toBe(401)
  })
})

describe('ATK-109 the endpoint', () => {
  test('ATK-109 nobody there at the start is 503 with Retry-After, and later it is found', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    await keys.stop()
    const app = await trusting(keys.url)
    expect(await ask(app, one.token(claims))).toEqual([503, 'jwks_unavailable'])
    const headers = { authorization: `Bearer ${one.token(claims)}` }
    expect((await app.client({ as: 'server' }).get('/api/x', { headers })).headers.get('retry-after')).toBe('30')
    await keys.start()
    await app.runtime.clock.advance('30s')
    await until(() => keys.asked > 0)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
  })

  test('ATK-109 the last good set serves through an outage of a day, and not longer, also for tokens seen before', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const app = await trusting(keys.url)
    const token = one.token({ ...claims, exp: inAnHour + 3 * 86_400 })
    expect((await ask(app, token))[0]).toBe(200)
    keys.answer((_request, response) => response.writeHead(500).end())
    await app.runtime.clock.advance('23h')
    expect((await ask(app, token))[0]).toBe(200)
    await app.runtime.clock.advance('1h')
    expect(await ask(app, token)).toEqual([503, 'jwks_unavailable'])
  })

  test('ATK-109 after a sleep longer than the set may live, it is read again at once, and a key that was withdrawn meanwhile is none', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk, two.jwk] }, 'max-age=43200')
    const app = await trusting(keys.url)
    const later = { ...claims, exp: inAnHour + 5 * 86_400 }
    const seen = one.token(later)
    expect((await ask(app, seen))[0]).toBe(200)
    // The wall clock has gone on, the monotonic one and its timers have not.
    app.runtime.clock.step(25 * 3_600_000)
    expect((await ask(app, seen))[0]).toBe(200)
    expect((await ask(app, one.token({ ...later, jti: 'awake' })))[0]).toBe(200)
    expect(keys.asked).toBe(2)

    keys.publish({ keys: [two.jwk] })
    app.runtime.clock.step(13 * 3_600_000)
    await ask(app, two.token(later))
    await until(() => keys.asked === 3)
    await expect.poll(() => ask(app, one.token(later))).toEqual([401, 'unauthenticated'])
    expect((await ask(app, two.token(later)))[0]).toBe(200)
  })

  test('ATK-109 a new key is found by its first token, and the old one is good while it is published', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] })
    const app = await trusting(keys.url)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    keys.publish({ keys: [one.jwk, two.jwk] })
    expect((await ask(app, two.token(claims)))[0]).toBe(200)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    expect(keys.asked).toBe(2)
  })

  test('ATK-109 a removed key is worth nothing after the next read, nor is a token of it that was seen before', async () => {
    const keys = await server()
    keys.publish({ keys: [one.jwk, two.jwk] }, 'public, max-age=120')
    const app = await trusting(keys.url)
    const token = one.token(claims)
    expect((await ask(app, token))[0]).toBe(200)
    keys.publish({ keys: [two.jwk] })
    expect((await ask(app, token))[0]).toBe(200)
    await app.runtime.clock.advance('120s')
    await until(() => keys.asked === 2)
    await expect.poll(() => ask(app, token)).toEqual([401, 'unauthenticated'])
  })

  test.each([
    ['max-age=0', '60s'],
    ['max-age=315360000', '12h'],
    [undefined, '10m'],
    ['no-store', '10m'],
    ['max-age=-1', '10m'],
  ])('ATK-109 Cache-Control: %s is kept for %s', async (cacheControl, kept) => {
    const keys = await server()
    keys.publish({ keys: [one.jwk] }, cacheControl)
    const app = await trusting(keys.url)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    const seconds = { '60s': 60, '10m': 600, '12h': 43_200 }[kept] ?? 0
    await app.runtime.clock.advance((seconds - 1) * 1000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(keys.asked).toBe(1)
    await app.runtime.clock.advance(1000)
    await until(() => keys.asked === 2)
  })

  test.each([
    ['a set without the key', { keys: [two.jwk] }],
    ['an empty set', { keys: [] }],
    ['a set that cannot be read again', null],
  ])('ATK-109 a flood of unknown key ids has %s asked for once in 30 s', async (_what, published) => {
    const keys = await server()
    keys.publish(published ?? { keys: [two.jwk] })
    const app = await trusting(keys.url)
    await until(() => keys.asked === 1)
    if (published === null) keys.answer((_request, response) => response.writeHead(500).end())
    const flood = () => Promise.all(Array.from({ length: 50 }, (_, n) => ask(app, one.token(claims, { kid: `k${n}` }))))
    for (const [status] of await flood()) expect(status).toBe(401)
    await flood()
    expect(keys.asked).toBe(2)
    await app.runtime.clock.advance('29s')
    await flood()
    expect(keys.asked).toBe(2)
  })

  const faults: [string, Parameters<KeyServer['answer']>[0]][] = [
    [
      'a redirect',
      (request, response) => {
        if (request.url === '/moved') response.end(JSON.stringify({ keys: [one.jwk] }))
        else response.writeHead(302, { location: '/moved' }).end()
      },
    ],
    ['an empty answer', (_request, response) => response.writeHead(204).end()],
    ['an error', (_request, response) => response.writeHead(500).end(JSON.stringify({ keys: [one.jwk] }))],
    ['HTML', (_request, response) => response.end('<html>')],
    [
      'half an answer',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"keys":[')
        setTimeout(() => response.destroy(), 10)
      },
    ],
  ]
  test.each(faults)('ATK-109 %s is no key set', async (_what, answerer) => {
    const keys = await server()
    keys.answer(answerer)
    const app = await trusting(keys.url)
    expect(await ask(app, one.token(claims))).toEqual([503, 'jwks_unavailable'])
    expect(keys.asked).toBe(1)
  })

  test('ATK-222 a key that was published with its private part is refused, and the log says so once', async () => {
    const events: unknown[] = []
    const logger = { warn: () => {}, error: ({ event }: { event?: unknown }) => void events.push(event) }
    const leaked = { ...two.jwk, d: 'AQAB' }
    const keys = await server()
    keys.answer((_request, response) => response.end(JSON.stringify({ keys: [one.jwk, leaked] })))
    const app = await trusting(keys.url, {}, { logger })
    expect(await ask(app, two.token(claims))).toEqual([401, 'unauthenticated'])
    expect((await ask(app, one.token(claims)))[0]).not.toBe(401)
    await app.runtime.clock.advance('11m')
    await until(() => keys.asked > 1)
    expect(events.filter((event) => event === 'jwks_private_key')).toHaveLength(1)
  })

  test('ATK-109 one that answers slower than 5 s is given up', async () => {
    const keys = await server()
    keys.answer((_request, response) => void response.write('{"keys":['))
    const app = await trusting(keys.url)
    await until(() => keys.asked === 1)
    const answer = ask(app, one.token(claims))
    await new Promise((resolve) => setTimeout(resolve, 50))
    await app.runtime.clock.advance('5s')
    expect(await answer).toEqual([503, 'jwks_unavailable'])
  })

  const hosts = [
    [
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      'fd00::1',
      'fe80::1',
      '::ffff:10.0.0.1',
    ],
    ['198.18.0.1', '224.0.0.1', '2002:a00:1::', '64:ff9b::a00:1', '8.8.8.8, 127.0.0.1', ''],
  ].flat()
  test.each(hosts)('ATK-109 a host that is at %s is never asked', async (addresses) => {
    const asked: string[] = []
    const lookup = async () => addresses.split(', ').filter((address) => address !== '')
    const runtime = createTestRuntime({
      lookup,
      fetch: async (input) => {
        asked.push(String(input))
        return Response.json({ keys: [one.jwk] })
      },
    })
    const url = 'https://keys.example.test/jwks.json'
    const app = await testAuth({ jwks: { url, audience: 'test-app' } }, runtime)
    expect(await ask(app, one.token(claims))).toEqual([503, 'jwks_unavailable'])
    expect(asked).toEqual([])

    const open = await testAuth({ jwks: { url, audience: 'test-app', allowPrivate: true } }, runtime)
    expect((await ask(open, one.token(claims)))[0]).toBe(200)
  })

  test('ATK-109 a name is looked up before every read, so one that moves inside is not followed', async () => {
    let address = '8.8.8.8'
    let asked = 0
    const runtime = createTestRuntime({
      lookup: async () => [address],
      fetch: async () => {
        asked += 1
        return Response.json({ keys: [one.jwk] })
      },
    })
    const app = await testAuth({ jwks: { url: 'https://keys.example.test/jwks.json', audience: 'test-app' } }, runtime)
    expect((await ask(app, one.token(claims)))[0]).toBe(200)
    address = '10.0.0.1'
    await runtime.clock.advance('10m')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(asked).toBe(1)
  })
})
