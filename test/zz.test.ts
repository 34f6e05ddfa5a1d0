import { createServer } from 'node:http'
import { connect as openSocket, type AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, it, onTestFinished, describe } from 'vitest'
import { init } from '../src/index.js'
import { testSettings, createTestMailbox, createTestRuntime } from '../src/testing.js'
import { ada, testAuth } from './support/auth.js'
import { adaAtGoogle, enterAs, goTo, landedAt, oauthWorld } from './support/oauth.js'

const silent = { warn: () => {}, error: () => {} }

it('E1 upgrade with POST', async () => {
  const server = createServer()
  server.on('upgrade', (_r, s) => s.end('HTTP/1.1 400 no\r\n\r\n'))
  const auth = init(server, testSettings({ mailbox: createTestMailbox(), logger: silent }), createTestRuntime())
  onTestFinished(() => auth.close())
  await auth.ready()
  await new Promise<void>((r) => server.listen(0, () => r()))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const body = '{"email":"a@b.test","password":"xxxxxxxxxxxxx"}'
  const got = await new Promise<string>((resolve) => {
    const s = openSocket(port, '127.0.0.1', () => s.write(`POST /auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`))
    let text = ''
    s.on('data', (d) => { text += d }).on('close', () => resolve(text))
    setTimeout(() => { resolve(`HANG ${text}`); s.destroy() }, 3000)
  })
  console.log('E1', got.slice(0, 200))
})

it('E2 hono getPath', async () => {
  const app = new Hono({ getPath: (r) => new URL(r.url).pathname.replace(/^\/v1/, '') })
  const auth = init(app as never, testSettings({ mailbox: createTestMailbox(), logger: silent }), createTestRuntime())
  onTestFinished(() => auth.close())
  app.get('/api/x', (c) => c.text('leaked'))
  console.log('E2', await (await app.request('http://localhost:3000/v1/api/x')).text())
})

it('E3 prefix', async () => {
  const { client } = await testAuth({ baseUrl: 'http://localhost:3000/app' })
  const a = await client().get('/api/notes', { headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } })
  console.log('E3', a.status, a.headers.get('location'))
})

it('E4 strict verify link', async () => {
  const { client, mailbox } = await testAuth({ cookies: { sameSite: 'strict' } })
  const b = client()
  const r = await b.post('/auth/register', ada)
  console.log('E4', r.status, r.cookies)
})

it('E8', async () => {
  const world = await oauthWorld({ redirectFailUrl: '/signin' })
  const b = world.client()
  const a = await enterAs(world, b, { id: '7', email: 'x@company.test', name: 'X' }, 'company')
  console.log('E8', landedAt(a))
  const r = await b.post('/auth/register/identity', { email: 'x@company.test' })
  console.log(r.status, world.mailbox.list?.().length)
})
