import { describe, expect, test } from 'vitest'
import { attackServer } from '../support/attack-server.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { face, guess, inTurn, ipOf, leap, limitedAuth, times } from '../support/limits.js'
import { readVectors } from '../support/vectors.js'

const {
  rate_limit_keys: [keys],
} = readVectors<{ rate_limit_keys: { same_key: [string, string][]; different_key: [string, string][] }[] }>(
  'ip-parsing',
)

const someone = (index: number) => `someone-${index}@example.test`

describe('requests of one address', () => {
  test('ATK-012 thirty sign-ins a minute, whatever accounts they name', async () => {
    const world = await limitedAuth()
    const sprayer = world.client()
    expect(await inTurn(31, (index) => guess(sprayer, someone(index)))).toEqual([...times(30, 401), 429])
    expect((await guess(world.client({ ip: ipOf(1) }), someone(0))).status).toBe(401)
    await leap(world, 60)
    expect((await guess(sprayer, someone(0))).status).toBe(401)
  })

  test('headers tell of the bucket of the address, and of no account', async () => {
    const world = await limitedAuth()
    const client = world.client()
    const first = await guess(client, ada.email)
    expect(first.headers.get('ratelimit-policy')).toBe('"login";q=30;w=60')
    expect(first.headers.get('ratelimit')).toBe('"login";r=29;t=60')
    await leap(world, 20)
    await inTurn(9, () => guess(client, ada.email))
    const locked = await guess(client, ada.email)
    expect(locked.status).toBe(429)
    expect(locked.headers.get('ratelimit')).toBe('"login";r=19;t=40')
    expect(locked.headers.get('retry-after')).toBe('900')

    await inTurn(19, (index) => guess(client, someone(index)))
    const refused = await guess(client, someone(50))
    expect(refused.body).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(refused.headers.get('ratelimit')).toBe('"login";r=0;t=40')
    expect(refused.headers.get('retry-after')).toBe('40')
  })

  test.each([
    ['POST', '/auth/login', '"login";q=30;w=60'],
    ['DELETE', '/auth/me', '"login";q=30;w=60'],
    ['POST', '/auth/register', '"mail";q=10;w=60'],
    ['POST', '/auth/verify-email/resend', '"mail";q=10;w=60'],
    ['POST', '/auth/verify-email', '"guess";q=30;w=60'],
    ['POST', '/auth/refresh', '"refresh";q=120;w=60'],
    ['POST', '/auth/refreshtoken', '"refresh";q=120;w=60'],
    ['GET', '/auth/me', '"other";q=300;w=60'],
    ['HEAD', '/auth/verify-email', '"other";q=300;w=60'],
    ['POST', '/auth/logout', '"other";q=300;w=60'],
    ['PUT', '/auth/login', '"other";q=300;w=60'],
  ])('%s %s is limited as %s', async (method, path, policy) => {
    const { auth } = await limitedAuth()
    const answer = await auth.fetch(new Request(`http://localhost:3000${path}`, { method }), { ip: '192.0.2.1' })
    expect(answer.headers.get('ratelimit-policy')).toBe(policy)
  })

  test('kinds are counted apart', async () => {
    const { client } = await limitedAuth({ limits: { login: { ip: '1/1m' } } })
    const one = client()
    expect(await inTurn(2, () => guess(one, ada.email))).toEqual([401, 429])
    expect((await one.get('/auth/me')).status).toBe(401)
  })

  test('a form that names another method is counted for that too', async () => {
    const { client } = await limitedAuth({ limits: { login: { ip: '2/1m' } } })
    const browser = client()
    await browser.signUp(ada)
    const ask = () => browser.submit('/auth/me', { _method: 'DELETE', password: 'not the password' })
    const urls: string[] = []
    for (let time = 0; time < 3; time += 1) urls.push((await ask()).url.search)
    const wrong = '?error=invalid_credentials&at=delete'
    expect(urls).toEqual([wrong, wrong, '?error=rate_limited&at=delete'])
  })

  test('a form of a page is sent back to its page', async () => {
    const { client } = await limitedAuth({ limits: { guess: { ip: '1/1m' } } })
    const browser = client()
    const ask = () => browser.submit('/auth/verify-email', { token: 'unknown' })
    expect((await ask()).url.search).toBe('?error=invalid_token&proof=link')
    expect((await ask()).url.search).toBe('?error=rate_limited')
    // The page of another site is refused before anything is counted, and sent nowhere.
    const foreign = await browser.submit(
      '/auth/verify-email',
      { token: 'x' },
      { headers: { origin: 'https://evil.example' } },
    )
    expect([foreign.status, foreign.url.search]).toEqual([403, ''])
  })

  test('ATK-021 of a flood of registrations ten a minute are looked at; the rest is refused unread', async () => {
    const { auth, client } = await limitedAuth()
    const register = (index: number) => client().post('/auth/register', { ...ada, email: someone(index) })
    expect(await inTurn(100, register)).toEqual([...times(10, 202), ...times(90, 429)])

    const request = new Request('http://localhost:3000/auth/register', { method: 'POST', body: '{' })
    expect((await auth.fetch(request, { ip: '127.0.0.1' })).status).toBe(429)
    expect(request.bodyUsed).toBe(false)
  })

  test('an unknown address has no limit, which is said once', async () => {
    const warnings: unknown[] = []
    const logger = { warn: (fields: unknown) => void warnings.push(fields), error: () => {} }
    const { auth } = await limitedAuth({ logger, limits: { other: { ip: '1/1m' } } })
    const ask = () => auth.fetch(new Request('http://localhost:3000/auth/me'))
    for (let time = 0; time < 3; time += 1) {
      const answer = await ask()
      expect([answer.status, answer.headers.get('ratelimit')]).toEqual([401, null])
    }
    expect(warnings).toEqual([{ event: 'client_ip_unknown' }])
  })

  test('switched off by the test kit there are no headers', async () => {
    const { client } = await testAuth()
    const { headers } = await guess(client(), ada.email)
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  })
})

describe('what counts as one address', () => {
  const limits = { other: { ip: '1/1m' } }

  test.each(keys?.same_key ?? [])('ATK-016 %s and %s share a bucket', async (one, other) => {
    const { client } = await limitedAuth({ limits })
    expect((await client({ ip: one }).get('/auth/me')).status).toBe(401)
    expect((await client({ ip: other }).get('/auth/me')).status).toBe(429)
  })

  test.each(keys?.different_key ?? [])('ATK-016 %s and %s do not', async (one, other) => {
    const { client } = await limitedAuth({ limits })
    expect((await client({ ip: one }).get('/auth/me')).status).toBe(401)
    expect((await client({ ip: other }).get('/auth/me')).status).toBe(401)
  })

  test('ATK-011 forwarding headers of nobody we trust change nothing', async () => {
    const { client } = await limitedAuth({ limits })
    const ask = (index: number) =>
      client().get('/auth/me', { headers: { 'x-forwarded-for': ipOf(index), 'x-real-ip': ipOf(index) } })
    expect(await inTurn(3, ask)).toEqual([401, 429, 429])
  })

  test('ATK-015 however a path is written, it is the same bucket or no route', async () => {
    const server = await attackServer({ settings: { limits: { login: { ip: '1/1m' } } } })
    const body = JSON.stringify({ email: ada.email, password: 'not the password' })
    const post = async (target: string, version = '1.1') => {
      const head = [`POST ${target} HTTP/${version}`, `Host: 127.0.0.1:${server.port}`, 'Connection: close']
      const lines = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body]
      return (await server.raw(lines.join('\r\n'))).status
    }
    expect(await post('/auth/login')).toBe(401)
    expect(await post('/auth/login?x=1')).toBe(429)
    expect(await post('/auth/login', '1.0')).toBe(429)
    for (const target of [
      '//auth/login',
      '/AUTH/login',
      '/auth/login/',
      '/auth/%6cogin',
      '/auth/./login',
      '/auth//login',
    ]) {
      expect([404, 429], target).toContain(await post(target))
    }
    await server.close()
  })
})

describe('counters', () => {
  test('ATK-017 two instances on one store count together', async () => {
    const shared = sharedSettings()
    const [one, two] = [await limitedAuth(shared), await limitedAuth(shared)]
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        guess((index % 2 === 0 ? one : two).client({ ip: ipOf(index) }), ada.email),
      ),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([...times(10, 401), ...times(40, 429)])
  })

  test('ATK-018 who cannot be counted does not get in', async () => {
    const server = await attackServer({ file: true, settings: { limits: {} } })
    await server.client().signUp(ada)
    server.sql('drop table latchkey_counters')
    for (const [method, path] of [
      ['POST', '/auth/login'],
      ['GET', '/auth/verify-email'],
      ['POST', '/auth/logout'],
    ] as const) {
      const body = method === 'POST' ? ada : undefined
      const answer = await server.ask(method, path, body === undefined ? {} : { body })
      expect(answer.body).toMatchObject({ status: 503, code: 'store_unavailable' })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    await server.close()
  })

  test('a decision writes at most once, and a refused one not at all', async () => {
    const database = failingDatabase()
    const { client } = await limitedAuth({ database: database.dialect, limits: { other: { ip: '2/1m' } } })
    const statements = async () => {
      database.failAfter(Number.POSITIVE_INFINITY)
      await client().post('/auth/logout')
      return database.wrote
    }
    expect([await statements(), await statements(), await statements(), await statements()]).toEqual([1, 1, 0, 0])
  })

  test('what is counted stands in the store as a digest', async () => {
    const server = await attackServer({ file: true, settings: { limits: {} } })
    await guess(server.client(), ada.email)
    const rows = server.sql<{ id: string }>('select id from latchkey_counters')
    expect(rows).toHaveLength(2)
    for (const { id } of rows) expect(id).toMatch(/^[\w-]{43}$/)
    await server.client().signUp(ada)
    const [device] = server.sql<{ token_hash: string }>('select token_hash from latchkey_devices')
    expect(device?.token_hash).toMatch(/^[\w-]{8}\.[\w-]{43}$/)
    await server.close()
  })

  test('counters that are over are swept away', async () => {
    const server = await attackServer({ file: true, settings: { limits: {} } })
    const world = { runtime: server.runtime }
    const client = server.client()
    await client.get('/auth/me')
    await client.post('/auth/refresh')
    expect(server.sql('select id from latchkey_counters')).toHaveLength(2)
    await leap(world, 15 * 60)
    await expect.poll(() => server.sql('select id from latchkey_counters')).toEqual([])
    await server.close()
  })

  test('a refusal looks the same from every instance', async () => {
    const shared = sharedSettings()
    const limits = { other: { ip: '1/1m' } }
    const [one, two] = [await limitedAuth({ ...shared, limits }), await limitedAuth({ ...shared, limits })]
    await one.client().get('/auth/me')
    expect(face(await one.client().get('/auth/me'))).toEqual(face(await two.client().get('/auth/me')))
  })
})
