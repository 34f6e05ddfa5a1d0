import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import connect from 'connect'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { init, type Principal } from '../src/index.js'
import { createTestClient, createTestRuntime, type TestClient, testSettings } from '../src/testing.js'
import { ada } from './support/auth.js'

interface Auth {
  users: ReturnType<typeof init>['users']
  sessions: ReturnType<typeof init>['sessions']
  close(): Promise<void>
}

interface World {
  auth: Auth
  port: number
  client: TestClient
}

const settings = testSettings({ baseUrl: 'http://127.0.0.1' })

/** An application of each framework with the routes `/open`, `/api/me` and `/api/admin`, which asks for a role. */
const frameworks: Readonly<Record<string, () => Promise<{ auth: Auth; server: Server }>>> = {
  async Express() {
    const app = express()
    const auth = init(app, settings, createTestRuntime())
    app.get('/open', (_req, res) => void res.json({ auth: null }))
    app.get(
      '/api/me',
      async (req, res) => void res.json({ auth: Reflect.get(req, 'auth'), asked: await auth.principal(req) }),
    )
    app.get('/api/admin', auth.require({ roles: ['OWNER'] }), (_req, res) => void res.json({ admin: true }))
    return { auth, server: await listen(createServer(app)) }
  },
  async Fastify() {
    const app = Fastify({ forceCloseConnections: true })
    const auth = init(app, settings, createTestRuntime())
    app.get('/open', async () => ({ auth: null }))
    app.get('/api/me', async (request) => ({
      auth: Reflect.get(request, 'auth'),
      asked: await auth.principal(request),
    }))
    app.get('/api/admin', { preHandler: auth.require({ roles: ['OWNER'] }) }, async () => ({ admin: true }))
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return { auth, server: app.server }
  },
  async Hono() {
    const app = new Hono<{ Variables: { auth: Principal | null } }>()
    const auth = init(app, settings, createTestRuntime())
    app.get('/open', (c) => c.json({ auth: null }))
    app.get('/api/me', async (c) => c.json({ auth: c.get('auth'), asked: await auth.principal(c) }))
    app.get('/api/admin', auth.require({ roles: ['OWNER'] }), (c) => c.json({ admin: true }))
    const server = serveNode({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    if (!server.listening) await new Promise<void>((resolve) => void server.once('listening', resolve))
    onTestFinished(() => void server.close())
    return { auth, server: server as Server }
  },
  async 'node:http'() {
    const server = createServer((req, res) => void answer(req, res))
    const auth = init(server, settings, createTestRuntime())
    const answer = plainRoutes(auth)
    return { auth, server: await listen(server) }
  },
  async connect() {
    const app = connect()
    const auth = init(app, settings, createTestRuntime())
    app.use(plainRoutes(auth))
    return { auth, server: await listen(createServer(app)) }
  },
}

describe.each(Object.keys(frameworks))('Latchkey in %s', (name) => {
  it('signs in, guards, tells who it is and asks for more on single routes', async () => {
    const { auth, client } = await start(name)
    await auth.users.create({ ...ada, emailVerified: true })
    expect((await client.get('/api/me')).status).toBe(401)
    expect(await client.get('/open')).toMatchObject({ status: 200, body: { auth: null } })

    await client.signIn(ada)
    const me = { kind: 'session', email: ada.email }
    expect(await client.get('/api/me')).toMatchObject({ status: 200, body: { auth: me, asked: me } })
    expect(await client.get('/api/admin')).toMatchObject({ status: 403, body: { code: 'forbidden' } })

    const user = await auth.users.findByEmail(ada.email)
    await auth.users.update(user?.id ?? '', { roles: ['OWNER'] })
    await client.refresh()
    expect(await client.get('/api/admin')).toMatchObject({ status: 200, body: { admin: true } })
    expect((await client.refresh()).status).toBe(200)
    expect((await client.signOut()).status).toBe(204)
    expect((await client.get('/api/me')).status).toBe(401)
  })
})

describe.each(['node:http', 'Fastify'])('a WebSocket in %s', (name) => {
  it('opens for who is signed in, and closes when the session ends', async () => {
    const { auth, client, port, server } = await start(name)
    const taking = new WebSocketServer({ noServer: true })
    server.on('upgrade', (req, socket, head) => {
      taking.handleUpgrade(req, socket, head, (opened) => opened.send(JSON.stringify(Reflect.get(req, 'auth'))))
    })
    await auth.users.create({ ...ada, emailVerified: true })
    await client.signIn(ada)
    const cookie = client.cookies
      .all()
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const headers = { cookie, origin: 'http://127.0.0.1' }

    await expect(opened(port, {})).rejects.toThrow('401')
    await expect(opened(port, { cookie, origin: 'https://evil.test' })).rejects.toThrow('403')
    const socket = await opened(port, headers)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await client.signOut()
    await closed
    await expect(opened(port, headers)).rejects.toThrow('401')
  })
})

async function opened(port: number, headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, { headers })
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  return socket
}

async function start(name: string): Promise<World & { server: Server }> {
  const started = await frameworks[name]?.()
  if (!started) throw new Error(`there is no ${name} here`)
  const { auth, server } = started
  onTestFinished(() => auth.close())
  const { port } = server.address() as AddressInfo
  const client = createTestClient(`http://127.0.0.1:${port}`, { headers: { origin: 'http://127.0.0.1' } })
  return { auth, server, port, client }
}

function plainRoutes(auth: ReturnType<typeof init>): RequestListener {
  const admins = auth.require({ roles: ['OWNER'] })
  return async (req, res) => {
    res.setHeader('content-type', 'application/json')
    if (req.url === '/open') return void res.end('{"auth":null}')
    if (req.url === '/api/me')
      return void res.end(JSON.stringify({ auth: Reflect.get(req, 'auth'), asked: await auth.principal(req) }))
    await admins(req, res, () => void res.end('{"admin":true}'))
  }
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}
