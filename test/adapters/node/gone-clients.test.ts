import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import connectPackage from 'connect'
import express5 from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createListener } from '../../../src/adapters/node/listener.js'
import { peerAddress } from '../../../src/adapters/node/peer-address.js'
import { untouched } from '../../../src/http/verdict.js'
import { type Auth, init, type LatchkeySettings } from '../../../src/index.js'
import { createTestMailbox, createTestRuntime, type TestMailbox, testSettings } from '../../../src/testing.js'

const express4: typeof express5 = createRequire(import.meta.url)('express4')

interface World {
  auth: Auth
  mailbox: TestMailbox
  /** Addresses of what reached the application. */
  served: string[]
  /** A port, or the path of a Unix socket. */
  place: number | string
}

type Install = (made: (app: object) => Auth, served: string[]) => Promise<Server> | Server

const frameworks: [string, Install][] = [
  ['node:http', onNode],
  ['connect', (made, served) => onListener(made, served, connectPackage())],
  ['Express 5', (made, served) => onListener(made, served, express5())],
  ['Express 4', (made, served) => onListener(made, served, express4())],
  ['Fastify', onFastify],
  ['Hono', onHono],
]

describe.each(frameworks)('%s', (_name, install) => {
  test('ATK-021 who resets the connection behind a registration is not served, and so escapes no limit', async () => {
    const { place, mailbox, auth } = await serve(install, { limits: {} })
    const bodies = Array.from({ length: 12 }, (_, index) => credentials(`victim-${index}@example.test`))
    for (const body of bodies) await askAndReset(place, post('/auth/register', body))
    await auth.close()
    expect(mailbox.mails).toEqual([])
  })

  test('nor does it reach the application past the guard, whatever credential it shows', async () => {
    const { place, auth, served } = await serve(install, { publicRoutes: ['/api/open'] })
    const { token } = await auth.apiTokens.create({ name: 'reader' })
    await askAndReset(place, `GET /api/secret HTTP/1.1\r\nHost: x\r\nX-Apikey: ${token}\r\n\r\n`)
    await askAndReset(place, 'GET /api/open HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(served).toEqual([])
    await ask(place, `GET /api/secret HTTP/1.1\r\nHost: x\r\nX-Apikey: ${token}\r\n\r\n`)
    expect(served).toEqual(['/api/secret'])
  })

  test('behind a Unix socket there is no address, and the word of a trusted proxy counts', async () => {
    const { place, served, auth } = await serve(install, { trustedProxies: ['unix'], allowList: ['192.0.2.1'] }, true)
    const { token } = await auth.apiTokens.create({ name: 'reader' })
    const head = `GET /api/secret HTTP/1.1\r\nHost: x\r\nX-Apikey: ${token}\r\n`
    await ask(place, `${head}X-Forwarded-For: 192.0.2.2\r\n\r\n`)
    expect(served).toEqual([])
    await ask(place, `${head}X-Forwarded-For: 192.0.2.1\r\n\r\n`)
    expect(served).toEqual(['/api/secret'])
  })

  test('ATK-105 a client that resets a TCP connection is not taken for the proxy on a Unix socket', async () => {
    const { place, served, auth } = await serve(install, { trustedProxies: ['unix'], allowList: ['192.0.2.1'] })
    const { token } = await auth.apiTokens.create({ name: 'reader' })
    const head = `GET /api/secret HTTP/1.1\r\nHost: x\r\nX-Apikey: ${token}\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`
    await askAndReset(place, head)
    expect(served).toEqual([])
  })
})

test('an address is that of the other end, null where there is none, and nobody’s once a socket is gone', () => {
  const unix = { remoteAddress: undefined, localAddress: undefined, destroyed: false }
  expect(peerAddress({ remoteAddress: '192.0.2.1', localAddress: '192.0.2.9', destroyed: true })).toBe('192.0.2.1')
  expect(peerAddress(unix)).toBeNull()
  expect(() => peerAddress({ ...unix, localAddress: '192.0.2.9' })).toThrow('malformed')
  expect(() => peerAddress({ ...unix, destroyed: true })).toThrow('malformed')
})

test('an address that a server in front has written onto a connection counts for each request anew', () => {
  const seen: unknown[] = []
  const layer = createListener(({ ip }) => {
    seen.push(ip)
    return untouched
  })
  const socket = new Socket()
  for (const value of ['192.0.2.1', '192.0.2.2']) {
    Object.defineProperty(socket, 'remoteAddress', { value, configurable: true })
    const request = new IncomingMessage(socket)
    layer(request, new ServerResponse(request), () => {})
  }
  expect(seen).toEqual(['192.0.2.1', '192.0.2.2'])
})

async function serve(install: Install, settings: Partial<LatchkeySettings>, unix = false): Promise<World> {
  const mailbox = createTestMailbox()
  const served: string[] = []
  const made: Auth[] = []
  const full = testSettings({ mailbox, baseUrl: 'http://127.0.0.1', logger: { warn() {}, error() {} }, ...settings })
  const server = await install((app) => {
    const auth = init(app, full, createTestRuntime())
    made.push(auth)
    return auth
  }, served)
  const [auth] = made
  if (auth === undefined) throw new Error('nothing was installed')
  await auth.ready()
  const folder = unix ? mkdtempSync(join(tmpdir(), 'latchkey-gone-')) : null
  await new Promise<void>((resolve) => {
    if (folder === null) server.listen(0, '127.0.0.1', resolve)
    else server.listen(join(folder, 's'), resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await auth.close()
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  })
  return { auth, mailbox, served, place: folder === null ? (server.address() as AddressInfo).port : join(folder, 's') }
}

function onNode(made: (app: object) => Auth, served: string[]) {
  const server = createServer((req, res) => {
    served.push(req.url ?? '')
    res.end()
  })
  made(server)
  return server
}

function onListener(
  made: (app: object) => Auth,
  served: string[],
  app: RequestListener & { use(handler: RequestListener): unknown },
) {
  made(app)
  app.use((req, res) => {
    served.push(req.url ?? '')
    res.end()
  })
  return createServer(app)
}

async function onFastify(made: (app: object) => Auth, served: string[]) {
  const app = Fastify()
  made(app)
  app.all('/*', async (request) => {
    served.push(request.url)
    return ''
  })
  await app.ready()
  return app.server
}

function onHono(made: (app: object) => Auth, served: string[]) {
  const app = new Hono()
  made(app)
  app.all('*', (c) => {
    served.push(c.req.path)
    return c.text('')
  })
  return createServer(getRequestListener(app.fetch))
}

function credentials(email: string): string {
  return JSON.stringify({ email, password: 'correct horse battery' })
}

function post(path: string, body: string): string {
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\n\r\n${body}`
}

/** Sends it and breaks the connection at once, so that nothing of it can come back. */
async function askAndReset(place: number | string, bytes: string): Promise<void> {
  const socket = typeof place === 'number' ? connect(place, '127.0.0.1') : connect(place)
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(bytes, () => socket.resetAndDestroy())
  await closed
  await new Promise((resolve) => setTimeout(resolve, 20))
}

async function ask(place: number | string, bytes: string): Promise<void> {
  const socket = typeof place === 'number' ? connect(place, '127.0.0.1') : connect(place)
  socket.write(bytes)
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  socket.destroy()
}
