import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import connect, { type Server as Connect, type NextHandleFunction } from 'connect'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Auth, init, type LatchkeySettings } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { express4 } from '../support/attack-server.js'
import { rawConnection, rawRequest } from '../support/raw-http.js'

const quiet = { warn: () => {}, error: () => {} }

/** Middleware that moves what lies below one prefix to another. */
function rewrite(from: string, to: string): NextHandleFunction {
  return (req, _res, next) => {
    if (req.url?.startsWith(from)) req.url = to + req.url.slice(from.length)
    next()
  }
}

const skip: NextHandleFunction = (_req, _res, next) => next()

interface Arranged {
  settings?: Partial<LatchkeySettings>
  before?(app: Connect, handler: Handler): void
  after?(app: Connect, handler: Handler): void
  /** Where a parent mounts the application. */
  at?: string
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void

/** A connect application with the guard, whose handler notes the principals of what it was called with. */
async function serve({ settings = {}, before, after, at = '/' }: Arranged) {
  const served: unknown[] = []
  const handler: Handler = (req, res) => {
    served.push(Reflect.get(req, 'auth'))
    res.end('served')
  }
  const app = connect()
  before?.(app, handler)
  const auth = install(app, settings)
  after?.(app, handler)
  const port = await listen(createServer(at === '/' ? app : connect().use(at, app)))
  return { ...(await asked(auth, port)), served }
}

function install(app: unknown, settings: Partial<LatchkeySettings> = {}): Auth {
  const auth = init(app, testSettings({ baseUrl: 'http://127.0.0.1', logger: quiet, ...settings }), createTestRuntime())
  onTestFinished(() => auth.close())
  return auth
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

async function asked(auth: Auth, port: number) {
  await auth.ready()
  const { token: reader } = await auth.apiTokens.create({ name: 'reader', access: 'READ' })
  const { token: writer } = await auth.apiTokens.create({ name: 'writer' })
  /** The status of a GET. */
  async function ask(target: string, token?: string): Promise<number> {
    const line = token === undefined ? '' : `X-Apikey: ${token}\r\n`
    return (await rawRequest(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}\r\n`)).status
  }
  return { ask, reader, writer, port }
}

const cases: readonly (readonly [string, Arranged & { target: string }])[] = [
  [
    'by middleware before init',
    { target: '/v1/x', before: (app, handler) => app.use(rewrite('/v1', '/api')).use('/api', handler) },
  ],
  [
    'by middleware after init',
    { target: '/v1/x?a=1', after: (app, handler) => app.use(rewrite('/v1', '/api')).use('/api', handler) },
  ],
  [
    'for a handler without a mount',
    { target: '/v1/x', after: (app, handler) => app.use(rewrite('/v1', '/api')).use(handler) },
  ],
  [
    'so that the path below the mount is the one that was judged',
    { target: '/x', after: (app, handler) => app.use(rewrite('/x', '/api/x')).use('/api', handler) },
  ],
  [
    'to what connect takes for the mount',
    { target: '/v1/x', after: (app, handler) => app.use(rewrite('/v1/', '/API.')).use('/api', handler) },
  ],
  [
    'by middleware that waits',
    {
      target: '/v1/x',
      after(app, handler) {
        app.use((req, _res, next) => {
          setImmediate(() => {
            req.url = '/api/x'
            next()
          })
        })
        app.use('/api', handler)
      },
    },
  ],
  [
    'by middleware that was put into the stack',
    {
      target: '/v1/x',
      after(app, handler) {
        app.stack.push({ route: '', handle: rewrite('/v1', '/api') }, { route: '/api', handle: handler })
      },
    },
  ],
  [
    'within an application that was mounted after init',
    {
      target: '/v1/open/x',
      settings: { baseAPIRoutes: '/v1/admin' },
      after(app, handler) {
        const within = connect().use(rewrite('/open', '/admin')).use('/admin', handler)
        app.use('/v1', within)
      },
    },
  ],
  [
    'within an application that was filled after it was mounted',
    {
      target: '/v1/deep/open/x',
      settings: { baseAPIRoutes: '/v1/deep/admin' },
      after(app, handler) {
        const within = connect()
        app.use('/v1', within)
        const deep = connect()
        within.use('/deep', deep)
        deep.use(rewrite('/open', '/admin'))
        deep.use('/admin', handler)
      },
    },
  ],
  [
    'within an Express application that was mounted after init',
    {
      target: '/v1/open/x',
      settings: { baseAPIRoutes: '/v1/deep/admin' },
      after(app, handler) {
        const within = express()
        within.use(rewrite('/open', '/deep/admin') as express.RequestHandler)
        within.use('/deep', express.Router().use('/admin', handler))
        app.use('/v1', within as NextHandleFunction)
      },
    },
  ],
  [
    'within a router of Express that was mounted after init',
    {
      target: '/v1/open/x',
      settings: { baseAPIRoutes: '/v1/admin' },
      after(app, handler) {
        const within = express4.Router().use(rewrite('/open', '/admin') as express.RequestHandler)
        app.use('/v1', Object(within.use('/admin', handler)))
      },
    },
  ],
  [
    'by an application that leaves it to the parent, mounted before init',
    {
      target: '/v1/x',
      before(app, handler) {
        app.use(connect().use(rewrite('/v1', '/api')))
        app.use('/api', handler)
      },
    },
  ],
  [
    'by a layer that is mounted, which has failed',
    {
      target: '/v1/x',
      after(app, handler) {
        app.use('/v1', (req) => {
          Reflect.set(req, 'rewritten', true)
          throw new Error('mine')
        })
        app.use((_error: unknown, req: IncomingMessage, _res: ServerResponse, next: (error?: unknown) => void) => {
          req.url = '/api/x'
          next()
        })
        app.use('/api', handler)
      },
    },
  ],
  [
    'from a public route',
    {
      target: '/api/open/x',
      settings: { publicRoutes: ['/api/open/*'] },
      after: (app, handler) => app.use(rewrite('/api/open', '/api')).use('/api', handler),
    },
  ],
  [
    'by a handler that gives it to the application again',
    {
      target: '/v1/x',
      after(app, handler) {
        app.use('/v1', (req, res) => {
          req.url = '/api/x'
          app(req, res)
        })
        app.use('/api', handler)
      },
    },
  ],
  [
    'in an application that is mounted below a parent',
    { target: '/dev/v1/x', at: '/dev', after: (app, handler) => app.use(rewrite('/v1', '/api')).use('/api', handler) },
  ],
]

describe('a rewritten request in connect', () => {
  test.each(cases)('ATK-217 %s is judged again', async (_how, { target, ...arranged }) => {
    const { ask, served, reader } = await serve(arranged)
    expect([await ask(target), await ask(target, 'a'.repeat(36)), served]).toEqual([401, 401, []])
    // Waits for the store, then does not.
    expect([await ask(target, reader), await ask(target, reader)]).toEqual([200, 200])
    const principal = expect.objectContaining({ kind: 'apiToken', name: 'reader' })
    expect([await ask(target), served]).toEqual([401, [principal, principal]])
  })

  test('ATK-217 a read that became a write is judged as a write', async () => {
    const { ask, served, reader, writer } = await serve({
      after(app, handler) {
        app.use('/api', (req, _res, next) => {
          req.method = 'DELETE'
          next()
        })
        app.use('/api', handler)
      },
    })
    expect([await ask('/api/x', reader), served]).toEqual([403, []])
    expect([await ask('/api/x', writer), served.length]).toEqual([200, 1])
  })

  test('ATK-217 what is not rewritten is judged once, and public routes stay open', async () => {
    const asked: string[] = []
    const { ask, served } = await serve({
      settings: {
        publicRoutes: ['/api/open/*', '/api/health'],
        authenticate({ path }) {
          asked.push(path)
          return { kind: 'hook', subject: 'ada', claims: {} }
        },
      },
      before: (app) => app.use(skip).use('/api', skip),
      after(app, handler) {
        const within = connect().use(skip).use('/open', connect().use(skip).use(handler))
        app.use('/api', within)
        app.use('/api/health', handler)
        app.use('/api/v1', connect().use(rewrite('/old', '/new')).use('/new', handler))
      },
    })
    for (const path of ['/api/open/x', '/api/open/', '/api/health', '/api/v1/old/x']) {
      expect([path, await ask(path)]).toEqual([path, 200])
    }
    // The last one moved below the mount, so the hook is asked about both paths.
    expect([asked, served.length]).toEqual([['/api/v1/old/x', '/api/v1/new/x'], 4])
  })

  test('ATK-217 a mount in another case leaves an exact public route open, and no other', async () => {
    const { ask, served } = await serve({
      settings: { publicRoutes: ['/api/health', '/api/v1/open'] },
      after(app, handler) {
        app.use('/API', connect().use('/V1', handler).use('/old', skip))
        app.use('/Api', connect().use(rewrite('/other', '/health')).use('/health', handler))
      },
    })
    expect([await ask('/api/health'), await ask('/api/v1/open'), served.length]).toEqual([200, 200, 2])
    for (const path of ['/API/health', '/api/V1/open', '/api/v1/Open', '/api/other', '/api/v1/x']) {
      expect([path, await ask(path), served.length]).toEqual([path, 401, 2])
    }
  })

  test('ATK-217 with two inits nested each guards what it is for', async () => {
    const { ask, served, reader } = await serve({
      settings: { baseAPIRoutes: ['/api', '/in/guarded'] },
      after(app, handler) {
        const within = connect()
        app.use('/in', within)
        install(within, { baseAPIRoutes: '/admin' })
        within.use(rewrite('/own', '/admin')).use(rewrite('/outer', '/guarded'))
        within.use('/admin', handler).use('/guarded', handler)
        app.use(rewrite('/in/out', '/api')).use(rewrite('/in/free', '/admin'))
        app.use('/api', handler).use('/admin', handler)
      },
    })
    for (const path of ['/in/own/x', '/in/outer/x', '/in/out/x', '/in/admin/x', '/in/guarded/x']) {
      expect([path, await ask(path), served]).toEqual([path, 401, []])
    }
    for (const path of ['/in/outer/x', '/in/out/x', '/in/free/x'])
      expect([path, await ask(path, reader)]).toEqual([path, 200])
  })
})

describe('elsewhere', () => {
  test('ATK-217 what Fastify rewrites (rewriteUrl) is judged as it is routed', async () => {
    const app = Fastify({ rewriteUrl: ({ url = '' }) => url.replace('/v1/', '/api/') })
    const auth = install(app)
    app.get('/api/secret', async () => 'served')
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    const { ask, reader } = await asked(auth, (app.server.address() as AddressInfo).port)
    expect([await ask('/v1/secret'), await ask('/v1/secret', reader)]).toEqual([401, 200])
  })

  describe('in a guarded connect application that Express mounts', () => {
    async function mounted(at: string, publicRoutes: string[], fill: (app: Connect, handler: Handler) => void) {
      const served: string[] = []
      const app = connect()
      const auth = install(app, { publicRoutes })
      fill(app, (req, res) => {
        served.push(req.url ?? '')
        res.end('served')
      })
      const port = await listen(createServer(express().use(at, app)))
      return { ...(await asked(auth, port)), served }
    }

    test('ATK-217 the mount of Express is no part of a rewritten path', async () => {
      const { ask, reader, served } = await mounted('/public', ['/api/public/*'], (app, handler) => {
        app.use(rewrite('/open', '/api/secret')).use('/api', handler)
      })
      expect([await ask('/public/open'), served]).toEqual([401, []])
      expect([await ask('/public/open', reader), served]).toEqual([200, ['/secret']])
    })

    test('ATK-217 a public route stays open, also in Express below it', async () => {
      const { ask } = await mounted('/x', ['/api/health', '/api/v2/health'], (app, handler) => {
        const within = express().use('/v2', express.Router().get('/health', handler))
        app.use('/api', within).use('/api', handler)
      })
      expect([await ask('/x/api/health'), await ask('/x/api/v2/health')]).toEqual([200, 200])
      expect([await ask('/x/api/secret'), await ask('/x/api/v2/secret')]).toEqual([401, 401])
    })
  })

  test('ATK-217 a Hono application that routes by another path (getPath) serves nothing', async () => {
    const app = new Hono({ getPath: ({ url }) => new URL(url).pathname.replace('/v1/', '/api/') })
    const auth = install(app)
    let served = 0
    app.get('/api/secret', (c) => {
      served += 1
      return c.text('served')
    })
    app.onError((_error, c) => c.text('refused', 500))
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await new Promise<void>((resolve) => void server.once('listening', resolve))
    onTestFinished(() => void server.close())
    const { ask, reader } = await asked(auth, (server.address() as AddressInfo).port)
    expect([await ask('/v1/secret'), await ask('/v1/secret', reader), served]).toEqual([500, 500, 0])
  })

  test.each(['node:http', 'Fastify'])('ATK-217 CONNECT on a server of %s is guarded', async (name) => {
    const targets: string[] = []
    const { server, auth, port } = name === 'Fastify' ? await fastifyServer() : await plainServer()
    server.on('connect', (req, socket) => {
      targets.push(req.url ?? '')
      socket.end('HTTP/1.1 200 Connection Established\r\n\r\n')
    })
    const { reader, writer } = await asked(auth, port)
    async function tunnel(target: string, line = 'X-A: b'): Promise<number> {
      const connection = await rawConnection(port)
      connection.write(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`)
      const { status } = await connection.answer()
      connection.destroy()
      return status
    }
    for (const target of ['example.test:443', '127.0.0.1:80', 'x:1', 'api:443']) expect(await tunnel(target)).toBe(401)
    expect([await tunnel('example.test:443', `X-Apikey: ${reader}`), targets]).toEqual([403, []])
    expect([await tunnel('example.test:443', `X-Apikey: ${writer}`), targets]).toEqual([200, ['example.test:443']])
  })

  async function plainServer() {
    const server = createServer((_req, res) => void res.end())
    const auth = install(server)
    return { server, auth, port: await listen(server) }
  }

  async function fastifyServer() {
    const app = Fastify()
    const auth = install(app)
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return { server: app.server, auth, port: (app.server.address() as AddressInfo).port }
  }
})
