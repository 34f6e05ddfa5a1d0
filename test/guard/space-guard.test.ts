import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestRuntime, type TestRuntime } from '../../src/testing.js'
import { sharedSettings } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { dev, hostAuth, spaceRequest } from '../support/host-auth.js'
import { issuerKey, keyServer } from '../support/key-server.js'

type Host = Awaited<ReturnType<typeof hostAuth>>

/** A host whose administrator sets what belongs to the space `dev`. */
async function host(settings: Parameters<typeof hostAuth>[0] = {}) {
  const made = await hostAuth(settings)
  const admin = made.client()
  const { body } = await admin.signUp({ email: 'admin@example.test', password: 'correct horse battery' })
  made.rights.set(body.user.id, 'ADMIN')
  const post = (path: string, sent: object) => admin.post(`/auth/admin/api/spaces/dev${path}`, sent)
  return {
    ...made,
    admin,
    post,
    async removeTokens(): Promise<void> {
      const { body: page } = await admin.get<{ items: { id: string }[] }>('/auth/admin/api/spaces/dev/tokens')
      for (const { id } of page.items) await admin.delete(`/auth/admin/api/spaces/dev/tokens/${id}`)
    },
    async token(input: object = {}): Promise<string> {
      return (await admin.post<{ token: string }>('/auth/admin/api/spaces/dev/tokens', { name: 'ci', ...input })).body
        .token
    },
  }
}

/** What the guard of `dev` decides: the principal of a pass, or the code of a refusal. */
async function decided(made: Pick<Host, 'space'>, ...request: Parameters<typeof spaceRequest>) {
  const verdict = await made.space('dev').guard.decide(spaceRequest(...request))
  if (verdict.kind === 'pass') return { principal: verdict.principal?.kind ?? null }
  return { status: verdict.response.status, code: JSON.parse(String(verdict.response.body)).code }
}

const passes = (principal: 'apiToken' | 'jwt' | null) => ({ principal })
const refused = (status: number, code: string) => ({ status, code })

/** The time of the test runtime, and its network: the key server alone. */
async function withKeys(rules: object = {}) {
  const runtime: TestRuntime = createTestRuntime({ fetch: globalThis.fetch, lookup: async () => ['127.0.0.1'] })
  const keys = await keyServer()
  onTestFinished(() => keys.stop())
  const key = issuerKey('k1')
  keys.publish({ keys: [key.jwk] })
  const made = await host({ runtime, origin: 'http://localhost:4310' })
  expect((await made.post('/access/jwks', { url: keys.url, ...rules })).status).toBe(200)
  const at = Math.floor(runtime.now() / 1000)
  const jwt = (claims: object = {}) => key.token({ sub: 'u1', exp: at + 600, ...claims })
  return { ...made, keys, key, jwt, bearer: (claims?: object) => ({ authorization: `Bearer ${jwt(claims)}` }) }
}

const ownBearer = { authorization: `Bearer ${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.x` }

describe('the table of a request to a space', () => {
  test('an address that is not on a list is refused before everything', async () => {
    const made = await host()
    const token = await made.token()
    await made.post('/access/networks', { network: '198.51.100.0/24', force: true, confirm: '127.0.0.1' })
    expect(await decided(made, { 'x-apikey': token })).toEqual(refused(403, 'ip_not_allowed'))
    expect(await decided(made, {})).toEqual(refused(403, 'ip_not_allowed'))
    expect(await decided(made, { 'x-apikey': token }, { ip: '198.51.100.7' })).toEqual(passes('apiToken'))
  })

  test('a bad API token never falls through', async () => {
    const made = await withKeys()
    const token = await made.token({ access: 'READ' })
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const bad of [unknown, 'x', '']) {
      expect(await decided(made, { 'x-apikey': bad, ...made.bearer() })).toEqual(refused(401, 'unauthenticated'))
      expect(await decided(made, {}, { query: `apikey=${bad}` })).toEqual(refused(401, 'unauthenticated'))
    }
    const twice = { query: `apikey=${token}&apikey=${token}` }
    expect(await decided(made, {}, twice)).toEqual(refused(401, 'unauthenticated'))
    expect(await decided(made, { 'x-apikey': token }, { query: `apikey=${token}` })).toEqual(
      refused(401, 'unauthenticated'),
    )
    const page = { 'x-apikey': token, origin: 'https://api.example.test' }
    expect(await decided(made, page)).toEqual(refused(403, 'api_token_in_browser'))
    expect(await decided(made, { 'x-apikey': token }, { method: 'POST' })).toEqual(refused(403, 'insufficient_access'))
  })

  test('a good API token is the principal, in the header and in the URL, from which it is taken', async () => {
    const made = await host()
    const token = await made.token()
    expect(await decided(made, { 'x-apikey': token })).toEqual(passes('apiToken'))
    const verdict = await made
      .space('dev')
      .guard.decide(spaceRequest({}, { query: `limit=1&apikey=${token}&q=%7B%7D` }))
    expect(verdict).toMatchObject({
      kind: 'pass',
      principal: { kind: 'apiToken', name: 'ci', access: 'READWRITE' },
      query: 'limit=1&q=%7B%7D',
      forwarded: {
        'x-api-key': token,
        'x-real-ip': '192.0.2.1',
        'x-forwarded-for': '192.0.2.1',
        'x-forwarded-host': 'api.example.test',
        'x-forwarded-port': '443',
        'x-forwarded-proto': 'https',
      },
      responseHeaders: { 'cache-control': 'private, no-store' },
    })
  })

  test('the token of one space counts for nothing in another', async () => {
    const made = await host()
    const request = spaceRequest({ 'x-apikey': await made.token() })
    expect(await made.space('prod').guard.decide(request)).toMatchObject({ response: { status: 401 } })
  })

  test('with a key set, a bearer token of another algorithm than HS256 is the principal or refused', async () => {
    const made = await withKeys({ issuer: 'https://issuer.test', audience: ['api', 'web'], algorithms: ['RS256'] })
    const good = { iss: 'https://issuer.test', aud: 'web' }
    expect(await decided(made, made.bearer(good))).toEqual(passes('jwt'))
    expect(await decided(made, made.bearer({ ...good, aud: 'other' }))).toEqual(refused(401, 'unauthenticated'))
    expect(await decided(made, made.bearer({ ...good, iss: 'https://evil.test' }))).toEqual(
      refused(401, 'unauthenticated'),
    )
    const expired = { ...good, exp: Math.floor(made.runtime.now() / 1000) - 120 }
    expect(await decided(made, made.bearer(expired))).toEqual(refused(401, 'token_expired'))
  })

  test('with a key set and no such bearer token there is no principal', async () => {
    const made = await withKeys()
    for (const headers of [{}, ownBearer, { authorization: 'Bearer opaque' }, { authorization: 'Bearer ' }]) {
      expect(await decided(made, headers)).toEqual(passes(null))
    }
    const { authorization } = made.bearer()
    const twice = { rawHeaders: ['authorization', authorization, 'Authorization', 'Bearer x'] }
    expect(await decided(made, { authorization }, twice)).toEqual(refused(401, 'unauthenticated'))
  })

  test('with `exclusive` nothing but such a bearer token counts', async () => {
    const made = await withKeys({ exclusive: true })
    const token = await made.token()
    for (const headers of [{}, ownBearer, { 'x-apikey': token }]) {
      expect(await decided(made, headers)).toEqual(refused(401, 'unauthenticated'))
    }
    expect(await decided(made, made.bearer())).toEqual(passes('jwt'))
  })

  test('without a key set any bearer token and any cookie is the application’s own', async () => {
    const made = await host()
    const session = { cookie: '__Host-latchkey-access=stolen' }
    const foreign = { authorization: `Bearer ${issuerKey('k').token({ sub: 'x' })}` }
    for (const headers of [{}, session, ownBearer, foreign]) expect(await decided(made, headers)).toEqual(passes(null))
  })

  test('claims of an identity are named, so that the front removes them', async () => {
    const made = await host()
    const headers = { 'x-user-id': '1', 'x-api-key': 'x', 'x-forwarded-for': '10.0.0.1' }
    const verdict = await made.space('dev').guard.decide(spaceRequest(headers))
    expect(verdict).toMatchObject({
      spoofedHeaders: ['x-user-id', 'x-api-key', 'x-forwarded-for'],
      forwarded: { 'x-api-key': null },
    })
  })
})

describe('what the guard of a space knows', () => {
  test('it decides without waiting while data is fresh and the token was seen before', async () => {
    const made = await host()
    const request = spaceRequest({ 'x-apikey': await made.token() })
    const { decide } = made.space('dev').guard
    await decide(request)
    expect(decide(request)).toMatchObject({ kind: 'pass', principal: { kind: 'apiToken' } })
    expect(decide(spaceRequest())).toMatchObject({ kind: 'pass', principal: null })
  })

  test('stale revocation data is 503, for requests without a credential too', async () => {
    const database = failingDatabase()
    const made = await host({ settings: { database: database.dialect } })
    const token = await made.token()
    expect(await decided(made, { 'x-apikey': token })).toEqual(passes('apiToken'))
    database.failAfter(0)
    await made.runtime.clock.advance('11s')
    for (const headers of [{ 'x-apikey': token }, {}]) {
      expect(await decided(made, headers)).toEqual(refused(503, 'store_unavailable'))
    }
  })

  test('what another process changes is in force within a second', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const writer = await host({ settings: shared, runtime })
    const reader = await hostAuth({ settings: shared, runtime })
    const token = await writer.token()
    expect(await decided(reader, { 'x-apikey': token })).toEqual(passes('apiToken'))

    await writer.removeTokens()
    await writer.post('/access/jwks', { url: 'https://issuer.example/keys', exclusive: true })
    await runtime.clock.advance('1s')
    expect(await decided(reader, { 'x-apikey': token })).toEqual(refused(401, 'unauthenticated'))
    expect(await decided(reader, {})).toEqual(refused(401, 'unauthenticated'))

    await writer.post('/access/networks', { network: '198.51.100.1', force: true, confirm: '127.0.0.1' })
    await runtime.clock.advance('1s')
    expect(await decided(reader, {})).toEqual(refused(403, 'ip_not_allowed'))
    const { guard } = reader.space('prod')
    expect(await guard.decide(spaceRequest())).toMatchObject({ kind: 'pass' })
  })

  test('a long answer ends when its token is removed', async () => {
    const made = await host()
    const token = await made.token()
    const verdict = await made.space('dev').guard.decide(spaceRequest({ 'x-apikey': token }))
    if (verdict.kind !== 'pass' || verdict.principal === null) throw new Error('refused')
    const close = vi.fn()
    made.space('dev').guard.watch(verdict.principal, close)
    await made.runtime.clock.advance('2s')
    expect(close).not.toHaveBeenCalled()
    await made.removeTokens()
    expect(close).toHaveBeenCalledOnce()
  })

  test('a guard that was closed follows no more changes', async () => {
    const made = await host()
    const { guard, close } = made.space('dev')
    await close()
    await made.store.at(dev.id).accessSettings.setJwksUrl('https://issuer.example/keys', {
      ...{ id: 'e1', atMs: made.runtime.now(), event: 'access_changed', outcome: 'success', actor: null },
      ...{ userId: null, sessionId: null, ip: null, userAgent: null, detail: {} },
    })
    expect(await guard.decide(spaceRequest())).toMatchObject({ kind: 'pass' })
  })
})

describe('the key set of a space', () => {
  test('is shown with its rules, and goes with them', async () => {
    const made = await host()
    const rules = { issuer: 'https://i.test', audience: ['a', 'b'], algorithms: ['ES256'], exclusive: true }
    const url = 'https://issuer.example/keys'
    const set = await made.post('/access/jwks', { url, ...rules })
    expect(set).toMatchObject({ status: 200, body: { jwksUrl: url, fixedJwksUrl: null, jwksRules: rules } })
    const events = async () => (await made.events()).filter(({ event }) => event === 'access_changed')
    expect(await events()).toMatchObject([{ detail: { space: 'dev', exclusive: true, algorithms: 'ES256' } }])
    // The same once more is no change; another rule is one.
    await made.post('/access/jwks', { url, ...rules })
    expect(await events()).toHaveLength(1)
    await made.post('/access/jwks', { url, ...rules, exclusive: false })
    expect(await events()).toHaveLength(2)
    const gone = await made.post('/access/jwks', { url: null })
    expect(gone).toMatchObject({ status: 200, body: { jwksUrl: null } })
    expect(gone.body).not.toHaveProperty('jwksRules')
  })

  test.each([
    ['algorithms', { algorithms: ['HS256'] }],
    ['algorithms', { algorithms: ['none'] }],
    ['issuer', { issuer: 'x'.repeat(513) }],
    ['audience', { audience: ['x'.repeat(513)] }],
    ['audience', { url: 'https://www.googleapis.com/oauth2/v3/certs' }],
    ['url', { url: 'http://issuer.example/keys' }],
    ['exclusive', { exclusive: 'perhaps' }],
    ['issuer', { url: null, issuer: 'https://i.test' }],
  ])('a bad value is 400 and names %s', async (path, sent) => {
    const made = await host()
    const answer = await made.post('/access/jwks', { url: 'https://issuer.example/keys', ...sent })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(JSON.stringify(answer.body)).toContain(`"path":"${path}`)
  })
})
