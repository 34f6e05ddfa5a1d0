import { describe, expect, test } from 'vitest'
import { createTestRuntime } from '../../src/testing.js'
import { testAuth } from '../support/auth.js'
import { issuerKey } from '../support/key-server.js'

const key = issuerKey('one')
const account = { email: 'ada@example.test', password: 'correct horse battery' }

async function scene(settings: Parameters<typeof testAuth>[0] = {}) {
  const app = await testAuth(settings, createTestRuntime({ fetch: async () => Response.json({ keys: [key.jwk] }) }))
  const explained = async (headers: Record<string, string>, options: { ip?: string; method?: 'get' | 'post' } = {}) => {
    const client = app.client({ as: 'server', ...(options.ip ? { ip: options.ip } : {}) })
    const answer = await (options.method === 'post'
      ? client.post('/api/x', {}, { headers })
      : client.get('/api/x', { headers }))
    return answer.headers.get('x-latchkey-explain')
  }
  return { ...app, explained }
}

describe('X-Latchkey-Explain', () => {
  test('says in development which check refused, and never what was sent', async () => {
    const { explained, client } = await scene({
      allowList: ['127.0.0.1'],
      jwks: { url: 'https://keys.example.test/k', audience: 'app' },
      authenticate: ({ headers }) => (headers['x-refuse'] ? false : undefined),
    })
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const claims = { sub: 'u', aud: 'app', exp: 4_000_000_000 }
    expect(await explained({}, { ip: '192.0.2.1' })).toBe('allow-list: not on it')
    expect(await explained({}, { ip: 'nowhere' })).toBe('allow-list: the client address cannot be known')
    expect(await explained({ origin: 'https://evil.example' }, { method: 'post' })).toMatch(/^origin rule: /)
    expect(await explained({ 'x-refuse': '1' })).toBe('hook: refused')
    expect(await explained({})).toBe('no credential was sent')
    expect(await explained({ cookie: 'access-token=a; access-token=b' })).toBe('cookie: empty, or sent more than once')
    expect(await explained({ authorization: 'Bearer ' })).toMatch(/^bearer: empty/)
    expect(await explained(bearer('secret-token'))).toBe('access token: not one of ours')
    expect(await explained(bearer(key.token({ ...claims, aud: 'other' })))).toBe('bearer: audience')
    expect(await explained(bearer(key.token({ ...claims, exp: 1 })))).toBe('bearer: expired')
    expect(await explained(bearer(key.token(claims, { kid: 'two' })))).toBe('bearer: unknown key')
    expect(await explained(bearer(`${key.token(claims).slice(0, -6)}AAAAAA`))).toBe('bearer: signature')

    const browser = client()
    await browser.signUp(account)
    const token = browser.cookies.get('access-token') ?? ''
    await browser.signOut()
    expect(await explained(bearer(token))).toBe('access token: its session has ended')
  })

  test('says it on our own routes as well, in development', async () => {
    const { client } = await scene()
    const stranger = client({ as: 'server' })
    const answer = await stranger.post('/auth/login', account, { headers: { origin: 'http://localhost:5173' } })
    expect(answer.body).toMatchObject({ code: 'csrf_rejected' })
    expect(answer.headers.get('x-latchkey-explain')).toMatch(/^origin rule: /)
    const live = await scene({ baseUrl: 'https://app.example.test' })
    const silent = await live.client({ as: 'server' }).post('/auth/login', account, { headers: { origin: 'null' } })
    expect([silent.status, silent.headers.get('x-latchkey-explain')]).toEqual([403, null])
  })

  test('says it of API tokens', async () => {
    const { explained, auth } = await scene()
    const reader = await auth.apiTokens.create({ name: 'reader', access: 'READ' })
    const elsewhere = await auth.apiTokens.create({ name: 'elsewhere', cidrs: ['192.0.2.0/24'] })
    expect(await explained({ 'x-apikey': 'secret-token' })).toBe('API token: not a UUID')
    expect(await explained({ 'x-apikey': crypto.randomUUID() })).toBe('API token: unknown, expired or removed')
    expect(await explained({ 'x-apikey': reader.token }, { method: 'post' })).toBe('API token: it may only read')
    expect(await explained({ 'x-apikey': elsewhere.token })).toBe('API token: not for this network')
    expect(await explained({ 'x-apikey': reader.token, 'sec-fetch-site': 'none' })).toBe('api_token_in_browser')
  })

  test('says the code where nobody has more to say', async () => {
    const { client, auth } = await scene()
    const browser = client()
    const { body } = await browser.signUp(account)
    await auth.users.update(body.user.id, { roles: ['B'] })
    const answer = await browser.get('/api/x')
    expect(answer.headers.get('x-latchkey-explain')).toBe('access token: its user has changed since')
  })

  test('is silent outside development, and about what passes', async () => {
    const { client } = await scene()
    const browser = client()
    await browser.signUp(account)
    expect((await browser.get('/api/x')).headers.has('x-latchkey-explain')).toBe(false)
    const live = await scene({ baseUrl: 'https://app.example.test' })
    const answer = await live.client({ as: 'server', baseUrl: 'https://app.example.test' }).get('/api/x')
    expect([answer.status, answer.headers.has('x-latchkey-explain')]).toEqual([401, false])
  })
})
