import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import express from 'express'
import fastify, { type FastifyServerOptions } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createAuth, init, type LatchkeySettings } from '../../src/index.js'
import { createTestClient, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, sharedSettings } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { issuerKey, keyServer } from '../support/key-server.js'

const baseUrl = 'http://127.0.0.1'

describe('sockets that outlive their request', () => {
  it('close within a second of what another process has revoked', async () => {
    const shared = sharedSettings()
    const { auth, runtime, socketOf } = await start(shared)
    const elsewhere = createAuth(testSettings({ baseUrl, ...shared }), runtime)
    onTestFinished(() => elsewhere.close())
    const user = await auth.users.create({ ...ada, emailVerified: true })
    const closed = closing(await socketOf(ada))

    await elsewhere.users.disable(user.id)
    await runtime.clock.advance(1_000)
    await closed
  })

  it('close when nobody can tell any more: the store is down for longer than news may be old', async () => {
    const database = failingDatabase()
    const { auth, runtime, socketOf } = await start({ database: database.dialect })
    await auth.users.create({ ...ada, emailVerified: true })
    const socket = await socketOf(ada)
    const closed = closing(socket)
    database.failAfter(0)
    await runtime.clock.advance('9s')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await runtime.clock.advance('2s')
    await closed
    database.failAfter(Number.POSITIVE_INFINITY)
  })

  it('close with Latchkey', async () => {
    const { auth, socketOf } = await start()
    await auth.users.create({ ...ada, emailVerified: true })
    const closed = closing(await socketOf(ada))
    await auth.close()
    await closed
  })

  it('close once their session must have ended, of which nobody hears', async () => {
    const lifetimes = { sessionLifetime: '1h', refreshTokenLifetime: '1h', accessTokenLifetime: '55m' } as const
    const { auth, runtime, port } = await start(lifetimes)
    await auth.users.create({ ...ada, emailVerified: true })
    const client = createTestClient(`http://127.0.0.1:${port}`, { headers: { origin: baseUrl } })
    await client.signIn(ada)
    const cookie = client.cookies.all().map(({ name, value }) => `${name}=${value}`)
    // In steps, so that the news is read meanwhile.
    const pass = async (minutes: number) => {
      for (let passed = 0; passed < minutes; passed += 5) await runtime.clock.advance('5m')
    }
    await pass(50)
    const socket = await opened(port, { cookie: cookie.join('; '), origin: baseUrl })
    const closed = closing(socket)
    await pass(55)
    // A session is not always as old as its sign-in.
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await runtime.clock.advance('5m')
    await runtime.clock.advance('1s')
    await closed
  })

  it.each(['revoked', 'over'])('ATK-175 close when an impersonation is %s', async (how) => {
    const admin = { emails: ['admin@example.test'], twoFactor: false, impersonation: { lifetime: '3m' } } as const
    const { auth, runtime, port } = await start({ admin })
    const administrator = { email: 'admin@example.test', password: ada.password }
    const { id: adminId } = await auth.users.create({ ...administrator, emailVerified: true })
    const { id } = await auth.users.create({ ...ada, emailVerified: true })
    const client = createTestClient(`http://127.0.0.1:${port}`, { headers: { origin: baseUrl } })
    await client.signIn(administrator)
    const reason = 'The user asked for help.'
    expect((await client.post(`/auth/admin/api/users/${id}/impersonate`, { reason })).status).toBe(200)
    const cookie = client.cookies.all().map(({ name, value }) => `${name}=${value}`)
    const socket = await opened(port, { cookie: cookie.join('; '), origin: baseUrl })
    const closed = closing(socket)
    await runtime.clock.advance('2m')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    if (how === 'revoked') await auth.sessions.revokeAll(adminId)
    else await runtime.clock.advance('61s')
    await runtime.clock.advance('1s')
    await closed
  })

  it.each([
    ['disabled', 'POST', '/disable', { reason: 'chargeback' }],
    ['deleted', 'DELETE', '', { confirm: ada.email }],
    ['signed out', 'DELETE', '/sessions', {}],
    ['asked for a new password', 'POST', '/reset-password', {}],
  ] as const)(
    'close within a second when an administrator, in another process, has the user %s',
    async (_name, method, path, body) => {
      const shared = { ...sharedSettings(), admin: { emails: ['admin@example.test'], twoFactor: false } }
      const { auth, runtime, socketOf } = await start(shared)
      const elsewhere = createAuth(testSettings({ baseUrl, ...shared }), runtime)
      onTestFinished(() => elsewhere.close())
      const administrator = { email: 'admin@example.test', password: ada.password }
      await auth.users.create({ ...administrator, emailVerified: true })
      const { id } = await auth.users.create({ ...ada, emailVerified: true })
      const [closed, kept] = [closing(await socketOf(ada)), await socketOf(administrator)]

      const client = createTestClient(elsewhere, { baseUrl })
      await client.signIn(administrator)
      const url = `/auth/admin/api/users/${id}${path}`
      const answer = await (method === 'POST' ? client.post(url, body) : client.delete(url, body))
      expect(answer.status).toBeLessThan(300)
      await runtime.clock.advance(1_000)
      await closed
      expect(kept.readyState).toBe(WebSocket.OPEN)
    },
  )

  it('stay open while others are revoked', async () => {
    const { auth, socketOf } = await start()
    await auth.users.create({ ...ada, emailVerified: true })
    const other = await auth.users.create({ email: 'bob@example.test', password: ada.password, emailVerified: true })
    const socket = await socketOf(ada)
    await auth.users.disable(other.id)
    expect(socket.readyState).toBe(WebSocket.OPEN)
  })
})

describe('sockets that an API token opened', () => {
  it('are opened by a token that may write, and by no other', async () => {
    const { auth, port } = await start()
    const { token } = await auth.apiTokens.create({ name: 'reader', access: 'READ' })
    await expect(opened(port, { 'x-apikey': token })).rejects.toThrow('403')
    await expect(opened(port, { 'x-apikey': token.replace(/^./, 'g') })).rejects.toThrow('401')
    const writer = await auth.apiTokens.create({ name: 'writer' })
    expect((await opened(port, { 'x-apikey': writer.token })).readyState).toBe(WebSocket.OPEN)
  })

  it('close within a second when another process removes or rotates it, and open again while it lives on', async () => {
    const shared = sharedSettings()
    const { auth, runtime, port } = await start(shared)
    const elsewhere = createAuth(testSettings({ baseUrl, ...shared }), runtime)
    onTestFinished(() => elsewhere.close())
    const { id, token } = await auth.apiTokens.create({ name: 'writer' })
    const other = await auth.apiTokens.create({ name: 'other' })
    const untouched = await opened(port, { 'x-apikey': other.token })
    const first = closing(await opened(port, { 'x-apikey': token }))
    await elsewhere.apiTokens.rotate(id, { overlap: '1h' })
    await runtime.clock.advance(1_000)
    await first
    const second = closing(await opened(port, { 'x-apikey': token }))
    await elsewhere.apiTokens.remove(id)
    await runtime.clock.advance(1_000)
    await second
    expect(untouched.readyState).toBe(WebSocket.OPEN)
  })

  it('close when the token expires', async () => {
    const { auth, runtime, port } = await start()
    const expiresAt = new Date(runtime.clock.now() + 60_000)
    const { token } = await auth.apiTokens.create({ name: 'writer', expiresAt })
    const socket = await opened(port, { 'x-apikey': token })
    const closed = closing(socket)
    await runtime.clock.advance('58s')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await runtime.clock.advance('3s')
    await closed
  })
})

describe('sockets that a JWT of another issuer opened', () => {
  it('close when the token expires, later than it says by what clocks may differ', async () => {
    const { runtime, open } = await trusting()
    const socket = await open(60)
    const closed = closing(socket)
    await runtime.clock.advance('119s')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await runtime.clock.advance('2s')
    await closed
  })

  it('close when another key set is in force, also where that was said by another process', async () => {
    const { shared, runtime, open } = await trusting()
    const elsewhere = createAuth(testSettings({ baseUrl, ...shared }), runtime)
    onTestFinished(() => elsewhere.close())
    const socket = await open(3600)
    const closed = closing(socket)
    await runtime.clock.advance('10s')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await elsewhere.access.setJwks('http://127.0.0.1:9/jwks.json')
    await runtime.clock.advance('1s')
    await runtime.clock.advance('1s')
    await closed
  })
})

describe('upgrades that go through the routes of Fastify, as @fastify/websocket has them', () => {
  it('are judged once when somebody is found, with the token that is out of the address then', async () => {
    const { auth, port } = await startFastify()
    const { token } = await auth.apiTokens.create({ name: 'writer' })
    expect((await opened(port, {}, `/api/live?apikey=${token}`)).readyState).toBe(WebSocket.OPEN)
    expect((await opened(port, { 'x-apikey': token })).readyState).toBe(WebSocket.OPEN)
    await expect(opened(port, {})).rejects.toThrow('401')
  })

  it('are judged again by the path that they are routed by', async () => {
    const rewriteUrl = ({ url = '' }) => url.replace('/v1', '')
    const { auth, port } = await startFastify({ rewriteUrl })
    const { token } = await auth.apiTokens.create({ name: 'writer' })
    await expect(opened(port, {}, '/v1/api/live')).rejects.toThrow('401')
    expect((await opened(port, { 'x-apikey': token }, '/v1/api/live')).readyState).toBe(WebSocket.OPEN)
  })
})

describe('auth.upgrade, where a server is not seen', () => {
  it('tells who it is, or refuses on the socket', async () => {
    const app = express()
    const runtime = createTestRuntime()
    const auth = init(app, testSettings({ baseUrl }), runtime)
    const server = createServer(app)
    const { socketOf, port } = await serve(auth, server, async (request, socket) => auth.upgrade(request, socket))
    const user = await auth.users.create({ ...ada, emailVerified: true })
    await expect(opened(port, {})).rejects.toThrow('401')
    const closed = closing(await socketOf(ada))
    await auth.sessions.revokeAll(user.id)
    await closed
  })

  it('leaves no API token in the address, and nothing that the client said of itself', async () => {
    const app = express()
    const auth = init(app, testSettings({ baseUrl }), createTestRuntime())
    const seen: unknown[] = []
    const { port } = await serve(auth, createServer(app), async (request, socket) => {
      const principal = await auth.upgrade(request, socket)
      seen.push(principal?.kind, request.url, request.headers['x-user-id'], request.headers['x-real-ip'])
      return principal
    })
    const { token } = await auth.apiTokens.create({ name: 'writer' })
    await opened(port, { 'x-user-id': '1', 'x-real-ip': '192.0.2.1' }, `/api/live?room=7&apikey=${token}`)
    expect(seen).toEqual(['apiToken', '/api/live?room=7', undefined, '127.0.0.1'])
  })
})

type Auth = Pick<ReturnType<typeof createAuth>, 'users' | 'sessions' | 'apiTokens' | 'close'>
type Judge = (...upgrade: Parameters<ReturnType<typeof createAuth>['upgrade']>) => Promise<unknown>

/** A server of node's with the layer before it. */
async function start(settings: Partial<LatchkeySettings> = {}, runtime = createTestRuntime()) {
  const server = createServer()
  const auth = init(server, testSettings({ baseUrl, ...settings }), runtime)
  return { auth, runtime, ...(await serve(auth, server, async () => true)) }
}

/** The same with a key set of another issuer's; `open` opens with one of its tokens. */
async function trusting() {
  const keys = await keyServer()
  onTestFinished(() => keys.stop())
  const issuer = issuerKey('one')
  keys.publish({ keys: [issuer.jwk] })
  const shared = { ...sharedSettings(), jwks: { url: keys.url, issuer: 'https://issuer.test', audience: 'api' } }
  const runtime = createTestRuntime({ fetch: (input, init) => fetch(input, init) })
  const started = await start(shared, runtime)
  const open = (seconds: number) => {
    const exp = Math.floor(runtime.clock.now() / 1000) + seconds
    const token = issuer.token({ iss: 'https://issuer.test', aud: 'api', sub: 'user-1', exp })
    return opened(started.port, { authorization: `Bearer ${token}` })
  }
  return { ...started, shared, open }
}

async function startFastify(options: FastifyServerOptions = {}) {
  const app = fastify(options)
  const auth = init(app, testSettings({ baseUrl }), createTestRuntime())
  const taking = new WebSocketServer({ noServer: true })
  const upgrades = new WeakMap<IncomingMessage, [socket: Duplex, head: Buffer]>()
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    upgrades.set(request, [socket, head])
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.once('finish', () => socket.end(() => socket.destroy()))
    app.routing(request, response)
  })
  app.get('/api/live', ({ raw }, reply) => {
    const [socket, head] = upgrades.get(raw) ?? []
    if (!socket || !head) return void reply.send('no upgrade')
    reply.hijack()
    taking.handleUpgrade(raw, socket, head, (opened) => opened.send('hello'))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await auth.close()
    for (const client of taking.clients) client.terminate()
    app.server.closeAllConnections()
    await app.close()
  })
  const { port } = app.server.address() as AddressInfo
  return { auth, port }
}

async function serve(auth: Auth, server: Server, judge: Judge) {
  const taking = new WebSocketServer({ noServer: true })
  server.on('upgrade', async (request, socket, head) => {
    if (await judge(request, socket)) taking.handleUpgrade(request, socket, head, (socket) => socket.send('hello'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await auth.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    async socketOf(credentials: typeof ada): Promise<WebSocket> {
      const client = createTestClient(`http://127.0.0.1:${port}`, { headers: { origin: baseUrl } })
      await client.signIn(credentials)
      const pairs = client.cookies.all().map(({ name, value }) => `${name}=${value}`)
      return opened(port, { cookie: pairs.join('; '), origin: baseUrl })
    },
  }
}

async function opened(port: number, headers: Record<string, string>, path = '/api/live'): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  return socket
}

function closing(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}
