import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Auth, createAuth, init } from '../../src/index.js'
import { createTestClient, createTestRuntime, testSettings } from '../../src/testing.js'
import { temporaryFolder, testAuth } from '../support/auth.js'

const firstCalls: [string, (auth: Auth<unknown>) => Promise<unknown>][] = [
  ['fetch', (auth) => auth.fetch(new Request('http://localhost:3000/auth/me'))],
  ['fetch of a page that is not guarded', (auth) => auth.fetch(new Request('http://localhost:3000/about'))],
  ['ready', (auth) => auth.ready()],
  ['principal', (auth) => auth.principal(new Request('http://localhost:3000/'))],
  ['users', (auth) => auth.users.findByEmail('ada@example.test')],
  ['health', (auth) => auth.health()],
]

test.each(firstCalls)('createAuth opens no store before the first call, here %s', async (_name, call) => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const auth = createAuth(testSettings({ database: `sqlite:${file}` }), createTestRuntime())
  onTestFinished(() => auth.close())
  auth.require({ roles: ['ADMIN'] })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(existsSync(file)).toBe(false)
  await call(auth)
  await expect.poll(() => existsSync(file)).toBe(true)
})

test('init opens the store at once', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const auth = init(createServer(), testSettings({ database: `sqlite:${file}` }), createTestRuntime())
  onTestFinished(() => auth.close())
  await expect.poll(() => existsSync(file)).toBe(true)
})

test('without a store the auth routes and the API are 503, and everything else is served', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'gone', 'latchkey.db')}`
  const logger = { warn: () => {}, error: () => {} }
  const auth = createAuth(testSettings({ database, logger, baseUrl: 'https://app.example.test' }), createTestRuntime())
  onTestFinished(() => auth.close())
  const next = () => Response.json({ served: true })
  const client = createTestClient(auth, { next, baseUrl: 'https://app.example.test' })

  const refused = [await client.get('/api/notes'), await client.post('/auth/login', {}), await client.get('/auth/none')]
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ status: 503, code: 'store_unavailable' })
    expect(headers.get('strict-transport-security')).not.toBeNull()
  }
  expect(new Set(refused.map(({ headers }) => headers.get('x-request-id'))).size).toBe(3)
  expect((await client.get('/about')).body).toEqual({ served: true })
  await auth.close()
  expect((await client.get('/api/notes')).status).toBe(503)
  expect((await client.get('/about')).body).toEqual({ served: true })
})

test('ATK-105 a public route is served without a store, and nothing that the client says of itself gets by', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'gone', 'latchkey.db')}`
  const logger = { warn: () => {}, error: () => {} }
  const settings = testSettings({
    database,
    logger,
    publicRoutes: ['/api/health'],
    trustedOrigins: ['https://web.test'],
  })
  const auth = createAuth(settings, createTestRuntime())
  onTestFinished(() => auth.close())
  const next = ({ headers, url }: Request, principal: unknown) =>
    Response.json({ principal, url, headers: Object.fromEntries(headers) })
  const spoofedHeaders = { 'x-real-ip': '127.0.0.1', 'x-user-id': '1', 'x-api-key': 'x' }
  const from = (headers: Record<string, string>) => createTestClient(auth, { next, ip: '203.0.113.9', headers })
  const served = await from(spoofedHeaders).get<{ headers: object }>('/api/health?apikey=x&q=1')
  expect(served).toMatchObject({ status: 200, body: { principal: null, headers: { 'x-real-ip': '203.0.113.9' } } })
  expect(served.body).toMatchObject({ url: expect.stringMatching(/\/api\/health\?q=1$/) })
  expect(Object.keys(served.body.headers)).not.toEqual(expect.arrayContaining(['x-user-id']))
  expect(Object.keys(served.body.headers)).not.toEqual(expect.arrayContaining(['x-api-key']))

  const headers = { origin: 'https://web.test', 'access-control-request-method': 'POST' }
  const preflight = new Request('http://localhost:3000/api/health', { method: 'OPTIONS', headers })
  const answer = await auth.fetch(preflight, { next: () => new Response('seen by the application') })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, 'https://web.test'])
  expect((await from({}).get('/api/notes')).status).toBe(503)
})

test.each(['https://web.example.test', 'https://evil.test'])(
  'a preflight of %s has the headers that every answer of ours has, and never reaches the application',
  async (origin) => {
    const settings = { trustedOrigins: ['https://web.example.test'], publicRoutes: ['/api/open'] }
    const { auth } = await testAuth({ ...settings, baseUrl: 'https://app.example.test' })
    const headers = { origin, 'access-control-request-method': 'POST' }
    for (const path of ['/auth/login', '/api/notes', '/api/open']) {
      const request = new Request(`https://app.example.test${path}`, { method: 'OPTIONS', headers })
      const answer = await auth.fetch(request, { next: () => Response.json({ served: true }) })
      expect(answer.status).toBe(204)
      expect(answer.headers.get('x-request-id')).not.toBeNull()
      expect(answer.headers.get('strict-transport-security')).not.toBeNull()
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin.includes('evil') ? null : origin)
    }
  },
)
