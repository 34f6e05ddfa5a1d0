import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect as openSocket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import connectPackage from 'connect'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { connect } from '../../../src/adapters/node/connect.js'
import { node } from '../../../src/adapters/node/node.js'
import type { Handle, Pass, Verdict, Watch } from '../../../src/http/verdict.js'
import type { Principal } from '../../../src/model/principal.js'
import { type AppRoute, adapterContract, type Running, type Scene } from '../../contracts/adapter.js'
import { rawRequest } from '../../support/raw-http.js'

const mounting = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}
const traits = { prefix: false, ownsSocket: true, parentParser: false, resolvesDots: false }
const principal: Principal = { kind: 'hook', subject: 'ada', claims: {} }
const pass: Pass = { kind: 'pass', principal, spoofedHeaders: [], query: null, forwarded: null, responseHeaders: null }
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: { 'x-why': 'no' }, body: 'refused' } }

adapterContract('node:http', serveNode, traits)
adapterContract('connect', serveConnect, { ...traits, prefix: true })

describe('node:http', () => {
  test('a listener that comes later stands behind the layer as well, and several hear of what passes', async () => {
    const heard: string[] = []
    const server = createServer(() => void heard.push('first'))
    node.mount(server, (request) => (request.path === '/api/open' ? pass : refusal), mounting)
    server.on('request', (_req, res) => {
      heard.push('second')
      res.end('app')
    })
    const { port } = await listening(server)
    expect(await text(port, '/api/secret')).toBe('refused')
    expect(await text(port, '/api/open')).toBe('app')
    expect(heard).toEqual(['first', 'second'])
  })

  test('a request that waits for 100 Continue is judged before anybody is told', async () => {
    let told = 0
    const server = createServer()
    server.on('checkContinue', (_req, res) => {
      told += 1
      res.writeContinue()
      res.end('leaked')
    })
    node.mount(server, () => refusal, mounting)
    const { port } = await listening(server)
    const answer = await rawRequest(
      port,
      'POST /api/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect([answer.status, told]).toEqual([401, 0])
  })

  test.each(['request', 'checkContinue', 'checkExpectation'])(
    'a %s that node did not make is judged as well',
    async (event) => {
      const told: string[] = []
      const server = createServer()
      node.mount(server, ({ path }) => (path === '/api/open' ? pass : refusal), mounting)
      server.on(event, (req, res) => {
        told.push(req.url)
        res.end('app')
      })
      // As hosts of functions do it, and what tests an application without a socket.
      function ask(url: string): unknown {
        const ended: unknown[] = []
        const res = { setHeader: () => res, end: (text: unknown) => void ended.push(text) }
        server.emit(event, Object.assign(Readable.from([]), { method: 'GET', url, headers: {}, rawHeaders: [] }), res)
        return ended
      }
      expect([ask('/api/secret'), ask('/api/open')]).toEqual([['refused'], ['app']])
      expect(server.emit(event, {}, {})).toBe(false)
      expect(told).toEqual(['/api/open'])
    },
  )

  test('a server for our own routes alone answers 404 to what is not ours', async () => {
    const server = createServer()
    node.mount(server, () => ({ ...pass, principal: null }), mounting)
    const { port } = await listening(server)
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
  })

  test('headersDistinct that somebody read before are without what the client made up, too', async () => {
    const seen: object[] = []
    const server = createServer((req, res) => {
      seen.push(req.headersDistinct)
      res.end()
    })
    const judge: Handle = (request) => {
      seen.push(Reflect.get(request, 'req').headersDistinct)
      return { ...pass, spoofedHeaders: ['x-real-ip'] }
    }
    node.mount(server, judge, mounting)
    const { port } = await listening(server)
    await rawRequest(port, 'GET /api/open HTTP/1.1\r\nX-Real-IP: 6.6.6.6\r\nHost: x\r\n\r\n')
    expect(seen).toEqual([{ host: ['x'], 'x-real-ip': ['6.6.6.6'] }, { host: ['x'] }])
  })

  test('servers are recognised, other things are not', () => {
    expect(node.recognises(createServer())).toBe(true)
    for (const other of [{}, () => {}, null, undefined, 'app', connectPackage()])
      expect(node.recognises(other)).toBe(false)
    expect(connect.recognises(connectPackage())).toBe(true)
    for (const other of [{}, () => {}, null, undefined, 'app', createServer()])
      expect(connect.recognises(other)).toBe(false)
  })
})

describe('upgrades', () => {
  test.each<[string, (verdict: Verdict) => Verdict | Promise<Verdict>]>([
    ['at once', (verdict) => verdict],
    ['later', (verdict) => new Promise((resolve) => setImmediate(resolve, verdict))],
  ])('a refused one never reaches whoever takes sockets (%s)', async (_when, wrap) => {
    const { port, sockets } = await withSockets(() => wrap(refusal))
    const answer = await rawRequest(port, upgradeOf('/api/live'))
    expect([answer.status, answer.headers['x-why'], answer.body.toString()]).toEqual([401, ['no'], 'refused'])
    expect(sockets).toEqual([])
  })

  test('one that passes is opened with its principal', async () => {
    const { port, sockets } = await withSockets(() => pass)
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`)
    const message = await new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
    expect(message).toBe('hello')
    expect(sockets).toEqual([principal])
    socket.terminate()
  })

  test('it is closed when its principal may be here no more, and the watch ends with the socket', async () => {
    const watched: { close(): void; ended: boolean }[] = []
    const watch: Watch = (_principal, close) => {
      const entry = { close, ended: false }
      watched.push(entry)
      return () => {
        entry.ended = true
      }
    }
    const { port } = await withSockets(() => pass, watch)
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`)
    await new Promise((resolve) => socket.once('message', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    watched[0]?.close()
    await closed
    await expect.poll(() => watched.map(({ ended }) => ended)).toEqual([true])
  })

  test('a client that goes away before the verdict does no harm', async () => {
    let decide: (verdict: Verdict) => void = () => {}
    const asked = new Promise<void>((resolve) => {
      handle = () => {
        resolve()
        return new Promise<Verdict>((settle) => {
          decide = settle
        })
      }
    })
    const { port, sockets } = await withSockets((request) => handle(request))
    const socket = openSocket(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(upgradeOf('/api/live'))
    await asked
    socket.resetAndDestroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
    decide(pass)
    await new Promise((resolve) => setImmediate(resolve))
    expect(sockets).toEqual([])
  })

  test('an answer with a header that cannot be sent ends the socket', async () => {
    const { port } = await withSockets(() => ({
      kind: 'answer',
      response: { status: 401, headers: { a: 'x\r\nb: y' }, body: null },
    }))
    await expect(rawRequest(port, upgradeOf('/api/live'))).rejects.toThrow()
  })
})

let handle: Handle = () => refusal

function upgradeOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
}

async function withSockets(judge: Handle, watch: Watch = () => () => {}) {
  const sockets: unknown[] = []
  const server = createServer()
  const taking = new WebSocketServer({ noServer: true })
  server.on('upgrade', (req, socket, head) => {
    sockets.push(Reflect.get(req, 'auth'))
    taking.handleUpgrade(req, socket, head, (opened) => opened.send('hello'))
  })
  node.mount(server, judge, { ...mounting, watch })
  onTestFinished(() => taking.close())
  return { ...(await listening(server)), sockets }
}

async function text(port: number, path: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).text()
}

async function listening(served: Server): Promise<Running> {
  const running = await listen(served)
  onTestFinished(running.close)
  return running
}

/** The routes of the scene without any framework. */
function listenerOf(routes: readonly AppRoute[]): RequestListener {
  return async (req: IncomingMessage, res: ServerResponse) => {
    const path = (req.url ?? '').split('?')[0]
    const route = routes.find((candidate) => candidate.path === path && candidate.method.toUpperCase() === req.method)
    if (!route) return void res.writeHead(404).end()
    const { headers, rawHeaders, headersDistinct, url: address = '' } = req
    const body = (await buffer(req)).toString()
    const auth = Reflect.get(req, 'auth')
    const answered = route.answer({ auth, headers, rawHeaders, headersDistinct, body, address })
    for (const [name, value] of Object.entries(answered.headers)) res.setHeader(name, value)
    res.end(answered.body)
  }
}

async function serveNode({ handle, before, after }: Scene): Promise<Running> {
  const server = createServer(listenerOf([...before, ...after]))
  node.mount(server, handle, mounting)
  return listen(server)
}

async function serveConnect({ handle, before, after, prefix }: Scene): Promise<Running> {
  const app = connectPackage()
  app.use(listenerOf([...before, ...after]))
  connect.mount(app, handle, mounting)
  if (prefix === '') return listen(createServer(app))
  const parent = connectPackage()
  parent.use(prefix, app)
  return listen(createServer(parent))
}

async function listen(server: Server): Promise<Running> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
