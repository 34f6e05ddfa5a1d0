import { createServer, type RequestListener, Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import express5, {
  type ErrorRequestHandler,
  type Express,
  type Response as ExpressResponse,
  type Request,
  type RequestHandler,
} from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { express as adapter } from '../../../src/adapters/node/express.js'
import type { Handle, Pass, Verdict } from '../../../src/http/verdict.js'
import { type AppRoute, adapterContract, type Running, type Scene } from '../../contracts/adapter.js'
import { rawRequest } from '../../support/raw-http.js'

/** The same calls as Express 5, and no types of its own. */
const express4: typeof express5 = createRequire(import.meta.url)('express4')

const paths = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}
const traits = { prefix: true, ownsSocket: true, parentParser: true, resolvesDots: false }
const pass: Pass = {
  kind: 'pass',
  principal: null,
  spoofedHeaders: [],
  query: null,
  forwarded: null,
  responseHeaders: null,
}
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: {}, body: 'refused' } }

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('%s', (name, express) => {
  adapterContract(name, (scene) => serve(express, scene), traits)

  test('a synchronous handle leads to the route without a detour through promises', async () => {
    const order: string[] = []
    const app = express()
    app.get('/api/secret', (_req, res) => {
      order.push('route')
      res.end()
    })
    mount(app, () => {
      queueMicrotask(() => order.push('microtask'))
      return pass
    })
    await ask(app, '/api/secret')
    expect(order).toEqual(['route', 'microtask'])
  })

  test('a principal that middleware of a parent put there is overwritten', async () => {
    const app = express()
    mount(app, () => pass)
    app.get('/api/secret', (req, res) => void res.json({ auth: Reflect.get(req, 'auth') }))
    const parent = express()
    parent.use((req, _res, next) => {
      Reflect.set(req, 'auth', { kind: 'session', userId: 'planted' })
      next()
    })
    parent.use(app)
    expect(await ask(parent, '/api/secret').then((response) => response.json())).toEqual({ auth: null })
  })

  test.each<[string, unknown, unknown]>([
    ['its own', 'extended', { a: { b: '1' }, x: ['1', '2?3'] }],
    ['a simple one', 'simple', { 'a[b]': '1', x: ['1', '2?3'] }],
    ['one that the application brings', (query: string) => ({ query }), { query: 'a[b]=1&x=1&x=2?3' }],
    ['none', false, {}],
  ])(
    'a hook that is shown the request sees, and leaves, the query as it is parsed by %s',
    async (_what, parser, query) => {
      const app = express()
      app.set('query parser', parser)
      const shown: unknown[] = []
      mount(app, ({ native }) => {
        shown.push(Reflect.get(native?.request ?? {}, 'query'))
        return pass
      })
      app.get('/api/secret', (req, res) => void res.json(req.query))
      const answer = await ask(app, '/api/secret?a[b]=1&x=1&x=2?3')
      expect([await answer.json(), shown]).toEqual([query, [query]])
      expect(await (await ask(app, '/api/secret')).json()).toEqual('query' in Object(query) ? expect.anything() : {})
    },
  )

  test.each<[string, (app: Express, seen: unknown[]) => RequestListener]>([
    ['by itself', (app) => app],
    [
      'in another application',
      (app, seen) => express().use('/:site', station('before', seen), app, station('after', seen)),
    ],
    [
      'behind a server that names another URL',
      (app) => (req, res) => app(Object.assign(req, { originalUrl: '/x' }), res),
    ],
  ])('handlers find on request and response what they find there without us: %s', async (_where, within) => {
    const found = async (handle: Handle | null) => {
      const seen: unknown[] = []
      const app = tour(express, seen)
      if (handle !== null) mount(app, handle)
      const { port, close } = await listen(within(app, seen))
      onTestFinished(close)
      for (const path of ['/plain', '/users/7/posts/8?a=1', '/below/x/deep?b=2', '/failing', '/nowhere?c=3']) {
        for (const method of ['GET', 'OPTIONS']) {
          const prefix = within.length === 2 ? '/here' : ''
          const response = await fetch(`http://127.0.0.1:${port}${prefix}${path}`, { method })
          seen.push(method, path, response.status, await response.text())
        }
      }
      return seen
    }
    const bare = await found(null)
    const merged = { name: 'merged', params: expect.objectContaining({ user: '7', post: '8' }), query: { a: '1' } }
    expect(bare).toContainEqual(expect.objectContaining(merged))
    expect(await found(() => pass)).toEqual(bare)
    expect(await found(async () => pass)).toEqual(bare)
  })

  test('a hook that is shown the request finds there what the first handler finds', async () => {
    const seen: unknown[] = []
    const app = express()
    mount(app, ({ native }) => {
      const { request, response } = Object(native)
      seen.push({ ...sight('first', request, response), calls: 'function' })
      return pass
    })
    app.use(station('first', seen))
    await ask(app, '/api/secret?a=1')
    expect(seen).toHaveLength(2)
    expect(seen[0]).toEqual({ ...Object(seen[1]), has: expect.arrayContaining(['params', 'baseUrl', 'originalUrl']) })
  })

  test('an error of the application is handled by the application', async () => {
    const app = express()
    mount(app, () => pass)
    app.get('/api/secret', () => {
      throw new Error('mine')
    })
    const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(418).send(error.message)
    app.use(onError)
    const response = await ask(app, '/api/secret')
    expect([response.status, await response.text()]).toEqual([418, 'mine'])
  })

  test('an asynchronous pass leaves errors to the application as well', async () => {
    const app = express()
    mount(app, async () => pass)
    app.get('/api/secret', () => {
      throw new Error('mine')
    })
    const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(418).send(error.message)
    app.use(onError)
    expect((await ask(app, '/api/secret')).status).toBe(418)
  })

  test('our Vary is added to that of a parent', async () => {
    const app = express()
    mount(app, () => ({ ...pass, responseHeaders: { vary: 'Origin' } }))
    app.get('/api/secret', (_req, res) => void res.end())
    const parent = express()
    parent.use((_req, res, next) => {
      res.vary('Accept-Encoding')
      next()
    })
    parent.use(app)
    expect((await ask(parent, '/api/secret')).headers.get('vary')).toBe('Accept-Encoding, Origin')
  })

  test('everything that was there stands behind the layer: middleware, routers, parameters, mounted applications', async () => {
    const reached: string[] = []
    const app = express()
    app.use((_req, _res, next) => {
      reached.push('middleware')
      next()
    })
    app.param('id', (_req, _res, next) => {
      reached.push('parameter')
      next()
    })
    app.get('/api/:id', (_req, res) => void res.end('leaked'))
    app.use(
      '/api',
      express.Router().get('/secret', (_req, res) => void res.end('leaked')),
    )
    app.use(
      '/api',
      express().get('/secret', (_req, res) => void res.end('leaked')),
    )
    app.use(express.static('.'))
    mount(app, () => refusal)
    for (const path of ['/api/secret', '/api/1', '/package.json', '/API/secret']) {
      expect(await ask(app, path).then((response) => response.text())).toBe('refused')
    }
    expect(reached).toEqual([])
  })

  test('the layer holds from the moment it is mounted on a server that already runs', async () => {
    const app = express()
    app.get('/api/secret', (_req, res) => void res.end('leaked'))
    const { port, close } = await listen(app)
    onTestFinished(close)
    mount(app, () => refusal)
    expect((await fetch(`http://127.0.0.1:${port}/api/secret`)).status).toBe(401)
  })

  test.each([
    ['/:tenant', '/ada/auth', '/ada'],
    ['/:tenant', '/ada', '/ada', '/'],
    ['/:tenant', '/caf%C3%A9/auth', '/caf%C3%A9'],
    ['/:tenant', '/x;domain=evil.example/auth', ''],
    ['/:tenant', '/../auth', ''],
    ['/:a/:b', '/a/b/auth', '/a/b'],
  ])(
    'below %s the target %s has the mount %s, never more than a plain path',
    async (pattern, target, mounted, path = '/auth') => {
      const seen: string[] = []
      const app = express()
      mount(app, (request) => {
        seen.push(request.mount, request.path)
        return refusal
      })
      const parent = express()
      parent.use(pattern, app)
      const { port, close } = await listen(parent)
      onTestFinished(close)
      await rawRequest(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
      expect(seen).toEqual([mounted, path])
    },
  )

  test('a path that a parent rewrote has no mount', async () => {
    const seen: string[] = []
    const app = express()
    mount(app, (request) => {
      seen.push(request.mount, request.path)
      return refusal
    })
    const parent = express()
    parent.use((req, _res, next) => {
      req.url = '/api/secret'
      next()
    })
    parent.use(app)
    await ask(parent, '/old')
    expect(seen).toEqual(['', '/api/secret'])
  })

  test('an answer after somebody else has answered is dropped', async () => {
    let decided: () => void = () => {}
    const afterVerdict = new Promise<void>((resolve) => {
      decided = resolve
    })
    const app = express().disable('x-powered-by')
    mount(app, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      setImmediate(decided)
      return { kind: 'answer', response: { status: 401, headers: { 'x-late': '1' }, body: 'late' } }
    })
    const parent = express()
    parent.use((_req, res, next) => {
      res.end('early')
      next()
    })
    parent.use(app)
    expect(await ask(parent, '/api/secret').then((response) => response.text())).toBe('early')
    await afterVerdict
  })

  test('HEAD is answered on a server that is strict about bodies', async () => {
    const app = express()
    mount(app, () => refusal)
    const { port, close } = await listen(createServer({ rejectNonStandardBodyWrites: true }, app))
    onTestFinished(close)
    const response = await fetch(`http://127.0.0.1:${port}/api/secret`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length')]).toEqual([401, '7'])
  })
})

test('an answer that cannot be finished ends the connection and nothing else', async () => {
  const app = express5()
  mount(app, async ({ path }) =>
    path === '/empty' ? { ...refusal, response: { status: 204, headers: {}, body: 'x' } } : refusal,
  )
  const { port, close } = await listen(createServer({ rejectNonStandardBodyWrites: true }, app))
  onTestFinished(close)
  await expect(fetch(`http://127.0.0.1:${port}/empty`)).rejects.toThrow('fetch failed')
  expect((await fetch(`http://127.0.0.1:${port}/api/secret`)).status).toBe(401)
})

test('Express applications are recognised, their routers and other servers are not', () => {
  expect([express5(), express4()].map(adapter.recognises)).toEqual([true, true])
  const others = [express5.Router(), express4.Router(), createServer(), {}, () => {}, null, undefined, 'app']
  expect(others.map(adapter.recognises)).toEqual(others.map(() => false))
})

const names = ['_parsedUrl', 'next', 'baseUrl', 'originalUrl', 'params', 'route', 'query', 'body']

/** What stands on a request and its response. */
function sight(name: string, req: Request, res: ExpressResponse) {
  const { url, path, baseUrl, originalUrl, params, query, route } = req
  const has = names.filter((one) => one in req)
  const locals = Object.keys(res.locals)
  return {
    name,
    url,
    path,
    baseUrl,
    originalUrl,
    params,
    query,
    route: route?.path,
    calls: typeof req.next,
    has,
    locals,
  }
}

/** A handler that tells what it sees, and leaves something for the next one. */
function station(name: string, seen: unknown[]): RequestHandler {
  return (req, res, next) => {
    seen.push(sight(name, req, res))
    res.locals[name] = true
    next()
  }
}

/** An application with a station wherever Express looks different. */
function tour(express: typeof express5, seen: unknown[]): Express {
  const app = express()
  const at = (name: string) => station(name, seen)
  const answer: RequestHandler = (req, res) => void res.json([req.route.path, req.params, Object.keys(res.locals)])
  app.use(at('middleware'))
  app.get('/plain', at('route'), answer)
  app.use('/users/:user', express.Router({ mergeParams: true }).get('/posts/:post', at('merged'), answer))
  app.use('/below/:one', express().use(at('mounted')).get('/deep', at('deep'), answer))
  app.get('/failing', () => {
    throw new Error('mine')
  })
  app.use(at('last'))
  const onError: ErrorRequestHandler = (error, req, res, _next) => {
    seen.push(sight('error', req, res))
    res.status(418).json([error.message, req.baseUrl])
  }
  return app.use(onError)
}

function mount(app: Express, handle: Handle): void {
  adapter.mount(app, handle, paths)
}

async function ask(app: Express, path: string): Promise<Response> {
  const { port, close } = await listen(app)
  onTestFinished(close)
  return fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
}

function register(app: Express, routes: readonly AppRoute[]): void {
  for (const { method, path, answer } of routes) {
    app[method](path, async (req, res) => {
      const body = req.body === undefined ? (await buffer(req)).toString() : JSON.stringify(req.body)
      const { headers, rawHeaders, headersDistinct } = req
      const address = JSON.stringify([req.url, req.originalUrl, req.query])
      const auth = Reflect.get(req, 'auth')
      const answered = answer({ auth, headers, rawHeaders, headersDistinct, body, address })
      res.set(answered.headers).send(answered.body)
    })
  }
}

async function serve(express: typeof express5, { handle, before, after, parser, prefix }: Scene): Promise<Running> {
  const app = express()
  if (parser === 'application') app.use(express.json())
  register(app, before)
  mount(app, handle)
  register(app, after)
  if (prefix === '' && parser !== 'parent') return listen(app)

  const parent = express()
  if (parser === 'parent') parent.use(express.json())
  parent.use(prefix || '/', app)
  return listen(parent)
}

async function listen(served: RequestListener | Server): Promise<Running> {
  const server = served instanceof Server ? served : createServer(served)
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
