import { EventEmitter, once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuth, type LatchkeySettings } from '../../src/index.js'
import { createTestClient, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { readVectors } from '../support/vectors.js'

interface Vectors {
  addresses: { input: string; expect: string; canonical?: string }[]
  cidr: { cidr: string; ip: string; match: boolean }[]
  invalid_cidr: unknown[]
  forwarded_chains: {
    id: string
    trusted_proxies: string[] | { hops: number }
    peer: string | null
    headers: Record<string, unknown>
    expected_client: string
  }[]
}
const vectors = readVectors<Vectors>('ip-parsing')

type App = Awaited<ReturnType<typeof testAuth>>

async function statusOf({ client }: App, ip: string, headers: Record<string, string> = {}): Promise<number> {
  return (await client({ as: 'server', ip }).get('/api/x', { headers })).status
}

/** Signs up from an address that is on the list. */
async function signedIn(app: App, ip: string) {
  const browser = app.client({ ip })
  await browser.signUp(ada)
  return browser
}

describe('ATK-105 a hook that takes its time', () => {
  test('ATK-105 does not outlast the list: what was taken off it meanwhile is refused', async () => {
    const gate = new EventEmitter()
    const authenticate = async () => {
      await once(gate, 'open')
      return { kind: 'hook', subject: 'ada' } as const
    }
    const app = await testAuth({ authenticate })
    await app.auth.access.allow('192.0.2.1')
    await app.auth.access.allow('192.0.2.2')
    const asked = statusOf(app, '192.0.2.1')
    await app.auth.access.disallow('192.0.2.1')
    gate.emit('open')
    expect([await asked, app.passed]).toEqual([403, []])
  })
})

describe('ATK-105 the list of the settings', () => {
  test('ATK-105 a client that is on it is asked who it is, any other is refused before that', async () => {
    const app = await testAuth({ allowList: ['192.0.2.1', '2001:db8::/64'] })
    const inside = await signedIn(app, '192.0.2.1')
    expect((await inside.get('/api/x')).status).toBe(200)
    expect(await statusOf(app, '192.0.2.1')).toBe(401)
    expect(await statusOf(app, '2001:db8::77')).toBe(401)

    const token = inside.cookies.get('access-token') ?? ''
    const outside = app.client({ as: 'server', ip: '203.0.113.9' })
    const [bare, held] = await Promise.all([
      outside.get<Record<string, unknown>>('/api/x'),
      outside.get<Record<string, unknown>>('/api/x', { headers: { authorization: `Bearer ${token}` } }),
    ])
    expect([bare.status, held.status]).toEqual([403, 403])
    expect(bare.body.code).toBe('ip_not_allowed')
    expect({ ...held.body, requestId: null }).toEqual({ ...bare.body, requestId: null })
    expect(app.passed).toHaveLength(1)
  })

  test('ATK-105 whoever is signed in does nothing from outside, while signing in and public routes stay open', async () => {
    const app = await testAuth({ allowList: ['192.0.2.1'], publicRoutes: ['/api/health'] })
    await signedIn(app, '192.0.2.1')
    const outside = app.client({ ip: '203.0.113.9' })
    expect((await outside.signIn(ada)).status).toBe(200)
    for (const path of ['/auth/me', '/auth/sessions', '/api/x']) expect((await outside.get(path)).status).toBe(403)
    expect((await outside.get('/api/health')).status).toBe(200)
    const headers = { origin: 'https://other.example', 'access-control-request-method': 'GET' }
    const request = new Request('http://localhost:3000/api/x', { method: 'OPTIONS', headers })
    const preflight = await app.auth.fetch(request, { ip: '203.0.113.9' })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, null])
  })

  test('ATK-105 an address that cannot be known is on no list', async () => {
    const app = await testAuth({ allowList: ['0.0.0.0/0', '::/0'] })
    const request = new Request('http://localhost:3000/api/x')
    expect((await app.auth.fetch(request)).status).toBe(403)
    for (const ip of ['', 'unknown', '0300.0.2.1', '192.0.2.1 ']) {
      expect((await app.auth.fetch(request, { ip })).status).toBe(403)
    }
    expect((await app.auth.fetch(request, { ip: '192.0.2.1' })).status).toBe(401)
    expect(await app.auth.principal(request)).toBeNull()
  })

  test.each(vectors.cidr)('ATK-105 $ip against $cidr: $match', async ({ cidr, ip, match }) => {
    expect(await statusOf(await testAuth({ allowList: [cidr] }), ip)).toBe(match ? 401 : 403)
  })

  const spoofed = [
    'x-real-ip',
    'client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'x-client-ip',
    'x-forwarded-for',
    'forwarded',
  ]
  test.each(spoofed)('ATK-105 %s of a client lets nobody in', async (name) => {
    const app = await testAuth({ allowList: ['192.0.2.1'] })
    expect(await statusOf(app, '203.0.113.9', { [name]: name === 'forwarded' ? 'for=192.0.2.1' : '192.0.2.1' })).toBe(
      403,
    )
  })

  const chains = vectors.forwarded_chains.filter(
    ({ trusted_proxies: trusted }) => Array.isArray(trusted) && trusted.length > 0,
  )
  test.each(chains)('ATK-105 behind proxies, $id: the client is $expected_client', async (chain) => {
    const { trusted_proxies: trusted, peer, headers, expected_client: wanted } = chain
    const client = /^[\d.:a-f]+/.exec(wanted)?.[0]
    const lines = Object.entries(headers).map(([name, value]): [string, string] => {
      if (Array.isArray(value)) return [name, value.join(', ')]
      return [name, typeof value === 'string' ? value : `${'192.0.2.1,'.repeat(10_000)}203.0.113.9`]
    })
    const sent = { headers: lines }
    const ask = async (allowList: string[]) => {
      const proxies: LatchkeySettings['trustedProxies'] = Array.isArray(trusted) ? trusted : trusted.hops
      const app = await testAuth({ allowList, trustedProxies: proxies })
      const request = new Request('http://localhost:3000/api/x', sent)
      return (await app.auth.fetch(request, peer === null ? {} : { ip: peer })).status
    }
    // What the client wrote itself never counts; whom the header names, where it may, does.
    expect(await ask(['192.0.2.1', '192.0.2.0/24'])).toBe(403)
    if (client !== undefined && !wanted.includes('deny') && !wanted.includes('unless'))
      expect(await ask([client])).toBe(401)
  })
})

describe('ATK-105 the list at run time', () => {
  test('ATK-105 entries of settings and of run time are one list; only the latter can be taken away', async () => {
    const app = await testAuth({ allowList: ['192.0.2.1'] })
    const { access } = app.auth
    expect(await access.get()).toEqual({
      jwksUrl: null,
      fixedJwksUrl: null,
      allowList: { fixed: ['192.0.2.1'], added: [] },
    })
    expect(await statusOf(app, '198.51.100.7')).toBe(403)
    await access.allow('198.51.100.9/24')
    expect(await statusOf(app, '198.51.100.7')).toBe(401)
    await Promise.all([access.allow('198.51.100.0/24'), access.allow('::ffff:192.0.2.1')])
    expect((await access.get()).allowList).toEqual({ fixed: ['192.0.2.1'], added: ['198.51.100.0/24'] })

    await expect(access.disallow('192.0.2.1')).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ path: 'network', message: expect.stringContaining('the setting allowList') }] },
    })
    await access.disallow('198.51.100.0/24')
    expect(await statusOf(app, '198.51.100.7')).toBe(403)
    await expect(access.disallow('198.51.100.0/24')).rejects.toMatchObject({ code: 'not_found' })
    expect(await statusOf(app, '192.0.2.1')).toBe(401)

    const { items } = await app.auth.audit.list({ event: 'access_changed' })
    expect(items.map(({ detail }) => detail)).toEqual([
      { change: 'network_removed', network: '198.51.100.0/24' },
      { change: 'network_added', network: '198.51.100.0/24' },
    ])
    expect(await app.auth.audit.verify()).toMatchObject({ ok: true })
  })

  test('ATK-105 the first entry shuts everybody else out, and with the last one everybody may again', async () => {
    const app = await testAuth()
    expect(await statusOf(app, '203.0.113.9')).toBe(401)
    await app.auth.access.allow('192.0.2.1')
    expect(await statusOf(app, '203.0.113.9')).toBe(403)
    await app.auth.access.disallow('192.0.2.1')
    expect(await statusOf(app, '203.0.113.9')).toBe(401)
  })

  const bad = [
    ...vectors.invalid_cidr,
    ...vectors.addresses.filter((one) => one.expect === 'invalid').map((one) => one.input),
  ]
  test('ATK-105 nonsense is refused when it is set', async () => {
    const { auth } = await testAuth()
    for (const text of bad) {
      if (text === '192.0.2.1/32') continue // an address where one is asked for, and a CIDR here
      const call: unknown = Reflect.apply(auth.access.allow, null, [text])
      await expect(call, String(text)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    expect((await auth.access.get()).allowList.added).toEqual([])
  })

  test('ATK-105 behind a counted proxy there can be no list, since anybody might write the address', async () => {
    const { auth } = await testAuth({ trustedProxies: 1 })
    await expect(auth.access.allow('192.0.2.1')).rejects.toMatchObject({ code: 'invalid_request' })

    const shared = sharedSettings()
    await (await testAuth(shared)).auth.access.allow('192.0.2.1')
    const counted = await testAuth({ ...shared, trustedProxies: 1 })
    expect(await statusOf(counted, '10.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe(403)
  })

  test('ATK-105 a change is known to a process that runs within a second, and to one that starts', async () => {
    const shared = sharedSettings()
    const [one, other] = [await testAuth(shared), await testAuth(shared)]
    await one.auth.access.allow('192.0.2.1')
    expect(await statusOf(one, '203.0.113.9')).toBe(403)
    await other.runtime.clock.advance('1s')
    expect(await statusOf(other, '203.0.113.9')).toBe(403)
    expect(await statusOf(await testAuth(shared), '203.0.113.9')).toBe(403)
    await other.auth.access.disallow('192.0.2.1')
    await one.runtime.clock.advance('1s')
    expect(await statusOf(one, '203.0.113.9')).toBe(401)
  })

  test('ATK-105 a process that was paused for long decides by the list as it is now', async () => {
    const shared = sharedSettings()
    const [one, other] = [await testAuth(shared), await testAuth(shared)]
    await one.auth.access.allow('192.0.2.1')
    await one.runtime.clock.advance('1h')
    // Its timers have not run: this request is the first thing it does.
    other.runtime.clock.step(3_600_000)
    expect(await statusOf(other, '203.0.113.9')).toBe(403)
  })

  test('ATK-105 while a change that was heard of cannot be read, nobody gets in', async () => {
    const database = failingDatabase()
    const app = await testAuth({ database: database.dialect })
    const browser = await signedIn(app, '203.0.113.9')
    expect((await browser.get('/api/x')).status).toBe(200)
    const { heard } = await statementsOfOneChange(database, app)
    await app.auth.access.disallow('192.0.2.1')
    expect((await browser.get('/api/x')).status).toBe(200)

    // The change gets through, and nothing after it.
    database.failAfter(heard)
    const change = app.auth.access.allow('192.0.2.1').catch(() => 'failed')
    await new Promise((resolve) => setTimeout(resolve, 20))
    const answer = browser.get<{ code: string }>('/api/x')
    await new Promise((resolve) => setTimeout(resolve, 20))
    await app.runtime.clock.advance('1s')
    expect((await answer).status).toBe(503)
    database.failAfter(Number.POSITIVE_INFINITY)
    await app.runtime.clock.advance('1s')
    await change
    expect((await browser.get('/api/x')).status).toBe(403)
  })

  /** How many statements one change takes up to its commit: all but the one that reads the list anew, which are two. */
  async function statementsOfOneChange(database: ReturnType<typeof failingDatabase>, { auth }: App) {
    await auth.access.get()
    database.failAfter(Number.POSITIVE_INFINITY)
    const before = database.ran
    await auth.access.allow('192.0.2.1')
    return { heard: database.ran - before - 2 }
  }
})

/** What the message has to begin with: a fault of the setting `jwks.audience` is told as one. */
function whyNot(url: unknown): RegExp {
  if (typeof url !== 'string') return /^must be a URL or null$/
  return url.includes('googleapis') ? /^needs the setting jwks\.audience, which / : /^(?!needs the setting)/
}

describe('the key set at run time', () => {
  const keys = 'https://keys.example.test/jwks.json'

  test.each([
    'http://keys.example.test/jwks.json',
    'https://user:pass@keys.example.test/jwks.json',
    'https://10.0.0.1/jwks.json',
    'https://[fd00::1]/jwks.json',
    'https://2130706433/jwks.json',
    'https://0x7f.1/jwks.json',
    'https://localhost/jwks.json',
    'https://169.254.169.254/latest/meta-data/',
    'https://keys.example.test/jwks.json#x',
    'file:///etc/passwd',
    'keys',
    '',
    undefined,
    7,
    {},
    'https://www.googleapis.com/oauth2/v3/certs',
  ])('ATK-109 %s is refused when it is set', async (url) => {
    const app = await testAuth({ baseUrl: 'https://app.example.test' })
    await expect(Reflect.apply(app.auth.access.setJwks, null, [url])).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ path: 'url', message: expect.stringMatching(whyNot(url)) }] },
    })
    expect((await app.auth.access.get()).jwksUrl).toBeNull()
  })

  test('stands in place of the one in the settings until null, in every process', async () => {
    const asked: string[] = []
    const fetched = async (input: Parameters<typeof fetch>[0]) => {
      asked.push(String(input))
      return Response.json({ keys: [] })
    }
    const shared = { ...sharedSettings(), jwks: { url: 'https://fixed.example.test/jwks.json', audience: 'app' } }
    const one = await testAuth(shared, createTestRuntime({ fetch: fetched }))
    const other = await testAuth(shared, createTestRuntime({ fetch: fetched }))
    asked.length = 0
    await one.auth.access.setJwks(keys)
    await other.runtime.clock.advance('1s')
    expect(asked).toEqual([keys, keys])
    expect(await other.auth.access.get()).toMatchObject({ jwksUrl: keys, fixedJwksUrl: shared.jwks.url })
    asked.length = 0
    await one.auth.access.setJwks(keys)
    expect(asked).toEqual([])
    await one.auth.access.setJwks(null)
    await other.runtime.clock.advance('1s')
    expect(asked).toEqual([shared.jwks.url, shared.jwks.url])
    const { items } = await one.auth.audit.list({ event: 'access_changed' })
    expect(items.map(({ detail }) => detail)).toEqual([
      { change: 'jwks_url_removed' },
      { change: 'jwks_url_set', host: 'keys.example.test' },
    ])
  })

  test('that the settings would no longer take is not asked, and its tokens are not decided', async () => {
    const shared = sharedSettings()
    const google = 'https://www.googleapis.com/oauth2/v3/certs'
    const none = createTestRuntime({ fetch: async () => Response.json({ keys: [] }) })
    const first = await testAuth({ ...shared, jwks: { url: keys, audience: 'app' } }, none)
    await first.auth.access.setJwks(google)

    const lines: object[] = []
    const logger = { warn: () => {}, error: (fields: object) => void lines.push(fields) }
    let asked = 0
    const runtime = createTestRuntime({
      fetch: async () => {
        asked += 1
        return Response.json({ keys: [] })
      },
    })
    const auth = createAuth(testSettings({ ...shared, logger }), runtime)
    onTestFinished(() => auth.close())
    await auth.ready()
    expect(lines).toEqual([{ event: 'jwks_refused', setting: 'jwks.audience' }])
    const header = Buffer.from('{"alg":"RS256"}').toString('base64url')
    const answer = await createTestClient(auth, { as: 'server' }).get('/api/x', {
      headers: { authorization: `Bearer ${header}.e30.AAAA` },
    })
    expect([answer.status, asked]).toEqual([503, 0])
  })
})
