import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { init } from '../../../src/index.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../../src/testing.js'
import { hostCodehooks, loadCodehooks } from '../../support/codehooks-host.js'

const host = Symbol.for('latchkey.host')
const token = Object.freeze({ kind: 'apiToken', tokenId: 't1', name: 'ci', access: 'READWRITE' })
const jwt = Object.freeze({
  kind: 'jwt',
  subject: 'ann',
  issuer: 'https://id.example',
  claims: Object.freeze({ a: 1 }),
})

afterEach(() => {
  Reflect.deleteProperty(globalThis, host)
})

async function start(principal: object | null, settings: Parameters<typeof testSettings>[0] = {}) {
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  const { app } = await loadCodehooks()
  const auth = init(app, testSettings({ logger: { warn() {}, error() {} }, ...settings }), createTestRuntime())
  onTestFinished(() => auth.close())
  app.get('/api/who', (req, res) => res.json(req.auth))
  app.get('/api/token', auth.require({ access: 'READWRITE', kinds: ['apiToken'] }), (_req, res) => res.end('in'))
  const running = await hostCodehooks(app.init(), { space: null, principal })
  onTestFinished(running.close)
  return `http://127.0.0.1:${running.port}`
}

test.each([
  ['apiToken', token],
  ['jwt', jwt],
])('the %s that the host found is the principal, and its store is not asked', async (_kind, principal) => {
  const url = await start(principal)
  for (const headers of [{}, { 'x-apikey': 'a-token-of-the-space' }, { authorization: 'Bearer a.foreign.token' }]) {
    const response = await fetch(`${url}/api/who`, { headers })
    expect([response.status, await response.json()]).toEqual([200, principal])
  }
})

test('a requirement of a route counts for it', async () => {
  expect((await fetch(`${await start(token)}/api/token`)).status).toBe(200)
  expect((await fetch(`${await start({ ...token, access: 'READ' })}/api/token`)).status).toBe(403)
})

test('ATK-164 without a principal of the host, and with one of another kind, the own credentials decide', async () => {
  for (const principal of [null, { kind: 'session', userId: 'admin' }, { kind: 'apiToken' }, {}]) {
    const url = await start(principal)
    const headers = { 'latchkey.host': JSON.stringify(token), 'x-latchkey-principal': 'e30' }
    expect((await fetch(`${url}/api/who`, { headers })).status).toBe(401)
  }
})

test('the address of the client is the one that the host wrote, and elsewhere the header counts for nothing', async () => {
  const url = await start(token, { allowList: ['203.0.113.1'] })
  const from = (ip: string) => fetch(`${url}/api/who`, { headers: { 'x-real-ip': ip } })
  expect((await from('203.0.113.1')).status).toBe(403)
  Reflect.set(globalThis, host, { space: 'dev' })
  expect((await from('203.0.113.1')).status).toBe(200)
  expect((await from('203.0.113.2')).status).toBe(403)
})

test('the allow-list of the application still holds', async () => {
  const url = await start(token, { allowList: ['203.0.113.1'] })
  expect((await fetch(`${url}/api/who`)).status).toBe(403)
})

test.each([
  ['the name of the space', {}, '-dev'],
  ['what the settings say', { suffix: 'own' }, '-own'],
  ['nothing, where the settings say so', { suffix: '' }, ''],
])('within a space the suffix of cookies is %s', async (_what, cookies, suffix) => {
  Reflect.set(globalThis, host, { space: 'dev' })
  const mailbox = createTestMailbox()
  const url = await start(null, { cookies, mailbox })
  const client = createTestClient(url, { headers: { origin: 'http://localhost:3000' }, mailbox })
  const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
  expect((await client.post('/auth/register', account)).status).toBe(202)
  const verified = await client.post('/auth/verify-email', {
    token: mailbox.token(await mailbox.waitFor(account.email)),
  })
  expect(verified.status).toBe(200)
  const header = client.cookies.header(new URL(`${url}/api`)) ?? ''
  expect(header).toMatch(new RegExp(`access-token${suffix}=`))
  expect((await client.get('/api/who')).status).toBe(200)
})
