import express5, { type Express, type RequestHandler } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { init, type LatchkeySettings } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { type AttackOptions, type AttackServer, ada, attackServer, express4 } from '../support/attack-server.js'

/** Middleware that moves what lies below one prefix to another. */
function rewrite(from: string, to: string): RequestHandler {
  return (req, _res, next) => {
    if (req.url.startsWith(from)) req.url = to + req.url.slice(from.length)
    next()
  }
}

/** Middleware that changes the method. */
function method(name: string): RequestHandler {
  return (req, _res, next) => {
    req.method = name
    next()
  }
}

const skip: RequestHandler = (_req, _res, next) => next()

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('a rewritten request in %s', (_name, express) => {
  async function serve(options: AttackOptions): Promise<AttackServer & { reader: string; writer: string }> {
    const server = await attackServer({ express, before: () => {}, ...options })
    onTestFinished(() => server.close())
    const { token: reader } = await server.auth.apiTokens.create({ name: 'reader', access: 'READ' })
    const { token: writer } = await server.auth.apiTokens.create({ name: 'writer' })
    return { ...server, reader, writer }
  }

  type Case = AttackOptions & { target: string; settings?: Partial<LatchkeySettings> }

  const cases: readonly (readonly [string, Case])[] = [
    [
      'by middleware before init',
      {
        target: '/v1/secret',
        before(app, handler) {
          app.use(rewrite('/v1/', '/api/'))
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'by middleware after init',
      {
        target: '/v1/secret?a=1',
        after: (app, handler) => app.use(rewrite('/v1/', '/api/')).get('/api/secret', handler),
      },
    ],
    [
      'by middleware that waits',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.use((req, _res, next) => {
            setImmediate(() => {
              req.url = '/api/secret'
              next()
            })
          })
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'for a router that is mounted at the prefix',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.use(rewrite('/v1/', '/api/'))
          app.use('/api', express.Router().get('/secret', handler))
        },
      },
    ],
    [
      'so that the path below the mount is the one that was judged',
      {
        target: '/secret',
        after(app, handler) {
          app.use(rewrite('/secret', '/api/secret'))
          app.use('/api', express.Router().get('/secret', handler))
        },
      },
    ],
    [
      'to an odd spelling of the prefix',
      { target: '/v1/secret', after: (app, handler) => app.use(rewrite('/v1/', '/%61PI/')).use('/%61pi', handler) },
    ],
    [
      'within a nested router',
      {
        target: '/v1/open/secret',
        settings: { baseAPIRoutes: '/v1/admin' },
        after(app, handler) {
          const router = express.Router().use(rewrite('/open/', '/admin/')).get('/admin/secret', handler)
          app.use('/v1', router)
        },
      },
    ],
    [
      'within a router that is nested twice',
      {
        target: '/v1/x/open/secret',
        settings: { baseAPIRoutes: '/v1/x/admin' },
        before(app, handler) {
          const router = express.Router().use(rewrite('/open/', '/admin/')).get('/admin/secret', handler)
          app.use('/v1', express.Router().use('/:x', router))
        },
      },
    ],
    [
      'within a sub-application',
      {
        target: '/v1/open/secret',
        settings: { baseAPIRoutes: '/v1/admin' },
        before(app, handler) {
          app.use('/v1', express().use(rewrite('/open/', '/admin/')).get('/admin/secret', handler))
        },
      },
    ],
    [
      'by a sub-application that leaves it to the parent',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.use(express().use(rewrite('/v1/', '/api/')))
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'in an application that is mounted below a parent',
      {
        target: '/dev/v1/secret',
        install: inner('/dev', (app, handler) => app.use(rewrite('/v1/', '/api/')).get('/api/secret', handler)),
      },
    ],
    [
      'in a router of an application that is mounted below a parent',
      {
        target: '/dev/api/open/secret',
        settings: { publicRoutes: ['/api/open/*'] },
        install: inner('/:stage', (app, handler) => {
          app.use('/api', express.Router().use(rewrite('/open/', '/')).get('/secret', handler))
        }),
      },
    ],
    [
      'by a callback of app.param',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.param('name', (req, _res, next, name) => {
            req.url = `/api/${name}`
            next()
          })
          app.get('/v1/:name', skip)
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'by a callback of app.param, for the route that has matched',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.param('name', (req, _res, next) => rewrite('/v1/', '/api/')(req, _res, next))
          app.get('/v1/:name', handler)
        },
      },
    ],
    [
      'from a public route',
      {
        target: '/api/open/secret',
        settings: { publicRoutes: ['/api/open/*'] },
        after: (app, handler) => app.use(rewrite('/api/open/', '/api/')).get('/api/secret', handler),
      },
    ],
    [
      "by a route that calls next('route')",
      {
        target: '/v1/secret',
        after(app, handler) {
          const leave: RequestHandler = (req, _res, next) => {
            req.url = '/api/secret'
            next('route')
          }
          app.get('/v1/secret', leave, skip)
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      "by a router that calls next('router')",
      {
        target: '/v1/secret',
        after(app, handler) {
          const leave: RequestHandler = (req, _res, next) => {
            req.url = '/api/secret'
            next('router')
          }
          app.use(express.Router().use(leave))
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'within one route',
      { target: '/v1/secret', after: (app, handler) => app.get('/v1/secret', rewrite('/v1/', '/api/'), handler) },
    ],
    [
      'by a handler that gives it to the application again',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.get('/v1/secret', (req, res) => {
            req.url = '/api/secret'
            app(req, res)
          })
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'by a mounted handler that gives it to the application again',
      {
        target: '/api/open/x',
        settings: { publicRoutes: ['/api/open/*'] },
        after(app, handler) {
          app.use('/api/open', (req, res) => {
            req.url = '/api/secret'
            app(req, res)
          })
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'after an error that middleware has dealt with',
      {
        target: '/v1/secret',
        after(app, handler) {
          app.use((req, _res, next) => {
            req.url = '/api/secret'
            next(new Error('mine'))
          })
          app.use((_error: unknown, _req: unknown, _res: unknown, next: () => void) => next())
          app.get('/api/secret', handler)
        },
      },
    ],
    [
      'where everything is guarded',
      {
        target: '/open',
        settings: { baseAPIRoutes: '/', publicRoutes: ['/open'] },
        after: (app, handler) => app.use(rewrite('/open', '/secret')).get('/secret', handler),
      },
    ],
  ]

  /** Installs into an application that is mounted in the server's, which calls the handler through `arrange`. */
  function inner(
    at: string,
    arrange: (app: Express, handler: RequestHandler) => void,
  ): NonNullable<AttackOptions['install']> {
    return (parent, settings, runtime, handler) => {
      const app = express()
      parent.use(at, app)
      const auth = init(app, settings, runtime)
      arrange(app, handler)
      return auth
    }
  }

  test.each(cases)('ATK-217 %s is judged again', async (_how, { target, ...options }) => {
    const server = await serve(options)
    expect((await server.ask('GET', target)).status).toBe(401)
    expect((await server.ask('GET', target, { headers: { 'x-apikey': 'a'.repeat(36) } })).status).toBe(401)
    expect(server.calls).toEqual([])
    const answer = await server.ask('GET', target, { headers: { 'x-apikey': server.reader } })
    expect([answer.status, server.calls.map(({ principal }) => principal)]).toEqual([
      200,
      [expect.objectContaining({ kind: 'apiToken', name: 'reader' })],
    ])
    // Once more, with the token in memory: the verdict is synchronous.
    expect((await server.ask('GET', target, { headers: { 'x-apikey': server.reader } })).status).toBe(200)
    expect((await server.ask('GET', target)).status).toBe(401)
    expect(server.calls).toHaveLength(2)
  })

  test('ATK-217 a callback of app.param does not run before the request is judged again', async () => {
    const called: string[] = []
    const server = await serve({
      before(app) {
        app.param('id', (_req, _res, next, id) => {
          called.push(`app ${id}`)
          next()
        })
        app.use(rewrite('/v1/', '/api/'))
      },
      after(app, handler) {
        const router = express.Router()
        router.param('id', (_req, _res, next, id) => {
          called.push(`router ${id}`)
          next()
        })
        app.use('/api/below', router.get('/:id', handler))
        app.get('/api/:id', handler)
      },
    })
    expect([(await server.ask('GET', '/v1/7')).status, (await server.ask('GET', '/v1/below/8')).status]).toEqual([
      401, 401,
    ])
    expect(called).toEqual([])
    const headers = { 'x-apikey': server.reader }
    expect((await server.ask('GET', '/v1/7', { headers })).status).toBe(200)
    expect((await server.ask('GET', '/v1/below/8', { headers })).status).toBe(200)
    expect(called).toEqual(['app 7', 'router 8'])
  })

  test('ATK-217 an error in a callback of app.param reaches the application after a verdict that waits', async () => {
    const server = await serve({
      settings: { authenticate: async ({ headers }) => (headers['x-who'] ? hookPrincipal : undefined) },
      after(app, handler) {
        app.param('id', async () => {
          throw new Error('mine')
        })
        app.use(rewrite('/v1/', '/api/')).get('/api/:id', handler)
        app.use((_error: unknown, _req: unknown, res: import('express').Response, _next: unknown) => {
          res.status(418).end()
        })
      },
    })
    expect((await server.ask('GET', '/v1/7', { headers: { 'x-who': 'ada' } })).status).toBe(418)
  })

  const hookPrincipal = { kind: 'hook', subject: 'ada', claims: {} } as const

  test('ATK-217 a hook that waits decides about the path as it is now, once', async () => {
    const asked: string[] = []
    const server = await serve({
      settings: {
        async authenticate({ path, headers }) {
          await new Promise((resolve) => setImmediate(resolve))
          asked.push(path)
          return headers['x-who'] === 'ada' && path === '/api/secret' ? hookPrincipal : false
        },
      },
      after(app, handler) {
        app.use(rewrite('/v1/', '/api/'))
        app.use(skip)
        app.use('/api', express.Router().use(skip).get('/secret', skip, handler))
      },
    })
    expect((await server.ask('GET', '/v1/other', { headers: { 'x-who': 'ada' } })).status).toBe(403)
    expect((await server.ask('GET', '/v1/secret', { headers: { 'x-who': 'eve' } })).status).toBe(403)
    expect(server.calls).toEqual([])
    expect((await server.ask('GET', '/v1/secret', { headers: { 'x-who': 'ada' } })).status).toBe(200)
    expect((await server.ask('GET', '/api/secret', { headers: { 'x-who': 'ada' } })).status).toBe(200)
    expect(asked).toEqual(['/api/other', '/api/secret', '/api/secret', '/api/secret'])
    expect(server.calls.map(({ principal }) => principal)).toEqual([hookPrincipal, hookPrincipal])
  })

  function rewriting(app: Express, handler: RequestHandler): void {
    const router = express.Router().use(skip).use(rewrite('/old', '/secret')).get('/secret', handler)
    app.use('/api/v2', router)
    app.get('/api/again', (req, res) => {
      req.url = '/api/v2/secret'
      app(req, res)
    })
  }

  test('ATK-217 a principal of our own stays when the path moves, also when the request enters again', async () => {
    const server = await serve({ after: rewriting })
    for (const path of ['/api/v2/old', '/api/v2/secret/', '/api/again']) {
      expect((await server.ask('GET', path)).status).toBe(401)
      expect((await server.ask('GET', path, { headers: { 'x-apikey': server.reader } })).status).toBe(200)
    }
  })

  test('ATK-217 a hook that decided about one path is asked about the path that follows, and no oftener', async () => {
    let asked: string[] = []
    const server = await serve({
      settings: {
        authenticate({ path, headers }) {
          asked.push(path)
          if (path.endsWith('/secret') && headers['x-who'] === 'eve') return false
          return headers['x-apikey'] ? undefined : hookPrincipal
        },
      },
      after: rewriting,
    })
    async function ask(path: string, headers: Record<string, string>) {
      asked = []
      return [(await server.ask('GET', path, { headers })).status, asked]
    }
    for (const credential of [{}, { 'x-apikey': server.reader }]) {
      for (const path of ['/api/v2/old', '/api/again']) {
        expect(await ask(path, credential)).toEqual([200, [path, '/api/v2/secret']])
        expect(await ask(path, { ...credential, 'x-who': 'eve' })).toEqual([403, [path, '/api/v2/secret']])
      }
      expect(await ask('/api/v2/secret', credential)).toEqual([200, ['/api/v2/secret']])
    }
  })

  test('ATK-217 a public route stays open where its router is mounted at the path itself, or at its start', async () => {
    const server = await serve({
      settings: { publicRoutes: ['/api/health', '/api/open/*'] },
      after(app, handler) {
        app.use(rewrite('/ping', '/api/health'))
        app.use('/api/health', express.Router().get('/', handler))
        app.use('/api', express.Router().use('/open', express.Router().use(skip).get('/', handler).get('/x', handler)))
      },
    })
    for (const path of ['/api/health', '/api/health?a=1', '/api/open/', '/api/open/x', '/ping']) {
      expect([path, (await server.ask('GET', path)).status]).toEqual([path, 200])
    }
    for (const path of ['/api/health/', '/api/open'])
      expect([path, (await server.ask('GET', path)).status]).toEqual([path, 401])
  })

  test('ATK-217 a slash that middleware removes leads from the public part to a guarded path', async () => {
    const server = await serve({
      settings: { publicRoutes: ['/api/open/*'] },
      after: (app, handler) => app.use(rewrite('/api/open/', '/api/open')).get('/api/open', handler),
    })
    expect([(await server.ask('GET', '/api/open/')).status, server.calls]).toEqual([401, []])
  })

  test('ATK-217 what other middleware left in req.auth stays there as long as nothing is guarded', async () => {
    const server = await serve({
      after(app, handler) {
        app.use((req, _res, next) => {
          Reflect.set(req, 'auth', { user: 'basic' })
          next()
        })
        app.use(rewrite('/v1/', '/v2/'))
        app.use('/v2/', express.Router().use(skip).get('/x', handler))
      },
    })
    expect((await server.ask('GET', '/v1/x')).body).toMatchObject({ principal: { user: 'basic' } })
  })

  test('ATK-217 a read that became a write is judged as a write', async () => {
    const server = await serve({
      settings: { publicRoutes: ['/api/open/*'] },
      before(app, handler) {
        app.use('/api/early', method('DELETE'), express.Router().delete('/:id', handler))
        app.get('/api/within', method('DELETE'), handler)
      },
      after(app, handler) {
        app.use('/api/late', method('PROPFIND'))
        app.use('/api/late', handler)
        app.use('/api/moved', (req, _res, next) => {
          Object.assign(req, { method: 'DELETE', url: '/x' })
          next()
        })
        app.use('/api/moved/x', handler)
        // Over a public route, and back.
        app.use((req, _res, next) => {
          if (req.url === '/api/detour') Object.assign(req, { method: 'POST', url: '/api/open/x' })
          next()
        })
        app.use(rewrite('/api/open/x', '/api/detour'))
        app.post('/api/detour', handler)
      },
    })
    for (const path of ['/api/early/1', '/api/within', '/api/late/1', '/api/moved/y', '/api/detour']) {
      const refused = await server.ask('GET', path, { headers: { 'x-apikey': server.reader } })
      expect([path, refused.status, refused.body]).toMatchObject([path, 403, { code: 'insufficient_access' }])
      expect(server.calls).toEqual([])
      const answer = await server.ask('GET', path, { headers: { 'x-apikey': server.writer } })
      expect([path, answer.status, server.calls.splice(0)]).toMatchObject([path, 200, [{ method: expect.any(String) }]])
    }
  })

  test('ATK-217 a page cannot have the browser send a write as a read that becomes one', async () => {
    const server = await serve({
      after: (app, handler) => app.use('/api/late', method('DELETE')).delete('/api/late', handler),
    })
    const client = server.client()
    await client.signUp(ada)
    const cookie = client.cookies
      .all()
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const refused = await server.ask('GET', '/api/late', { headers: { cookie } })
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'csrf_rejected' }])
    expect(server.calls).toEqual([])
    expect((await server.ask('GET', '/api/late', { headers: { cookie, origin: server.url } })).status).toBe(200)
  })

  test('ATK-217 the headers count as they arrived', async () => {
    const server = await serve({
      settings: { publicRoutes: ['/api/open/*'] },
      after(app, handler) {
        app.use((req, _res, next) => {
          req.headers['x-apikey'] = String(req.headers['x-hint'] ?? '')
          req.headers.authorization = 'Bearer x'
          next()
        })
        app.use(rewrite('/api/open/', '/api/'), rewrite('/v1/', '/api/'))
        app.get('/api/secret', handler)
      },
    })
    for (const path of ['/v1/secret', '/api/open/secret']) {
      expect((await server.ask('GET', path, { headers: { 'x-hint': server.reader } })).status).toBe(401)
      expect(server.calls).toEqual([])
      expect((await server.ask('GET', path, { headers: { 'x-apikey': server.reader } })).status).toBe(200)
      expect(server.calls.splice(0)).toMatchObject([
        { headers: { 'x-api-key': server.reader, 'x-real-ip': '127.0.0.1' } },
      ])
    }
  })

  test('ATK-217 the address behind a proxy is the one that arrived, also once we have written the header', async () => {
    const server = await serve({
      settings: {
        publicRoutes: ['/api/open/*'],
        trustedProxies: ['127.0.0.1', '192.0.2.0/24'],
        allowList: ['203.0.113.5'],
      },
      after: (app, handler) => app.use(rewrite('/api/open/', '/api/')).get('/api/secret', handler),
    })
    const ask = (chain: string, token = server.reader) =>
      server.ask('GET', '/api/open/secret', { headers: { 'x-apikey': token, 'x-forwarded-for': chain } })
    expect((await ask('203.0.113.6, 192.0.2.1')).body).toMatchObject({ code: 'ip_not_allowed' })
    expect((await ask('203.0.113.5, 203.0.113.6')).body).toMatchObject({ code: 'ip_not_allowed' })
    expect(server.calls).toEqual([])
    expect((await ask('203.0.113.6, 203.0.113.5, 192.0.2.1')).status).toBe(200)
    expect(server.calls).toMatchObject([{ headers: { 'x-forwarded-for': '203.0.113.5' } }])
  })

  test('ATK-217 an API token in the address counts, although the public route no longer saw it', async () => {
    const seen: unknown[] = []
    const server = await serve({
      settings: { publicRoutes: ['/api/open/*'] },
      after(app, handler) {
        app.use(rewrite('/api/open/', '/api/'), rewrite('/v1/', '/api/'))
        app.use((req, _res, next) => {
          if (req.path === '/v2/secret') req.url = '/api/secret?b=2'
          next()
        })
        app.get('/api/secret', (req, _res, next) => {
          seen.push(req.url, req.originalUrl, req.query)
          next()
        })
        app.get('/api/secret', handler)
      },
    })
    for (const path of ['/v1/secret', '/api/open/secret']) {
      expect((await server.ask('GET', `${path}?a=1&apikey=${server.reader}&b=2`)).status).toBe(200)
      expect(seen.splice(0)).toEqual(['/api/secret?a=1&b=2', `${path}?a=1&b=2`, { a: '1', b: '2' }])
      expect((await server.ask('GET', `${path}?apikey=${server.reader}&apikey=${server.reader}`)).status).toBe(401)
    }
    expect((await server.ask('GET', `/v2/secret?a=1&apikey=${server.reader}`)).status).toBe(200)
    expect(seen).toEqual(['/api/secret?b=2', '/v2/secret?a=1', expect.anything()])
  })

  test('ATK-217 what rewrites into a public route loses its claims of an identity', async () => {
    const server = await serve({
      settings: { publicRoutes: ['/api/open/*'] },
      after: (app, handler) => app.use(rewrite('/v1/', '/api/open/')).get('/api/open/x', handler),
    })
    expect(
      (await server.ask('GET', '/v1/x', { headers: { 'x-user': 'admin', 'x-forwarded-for': '6.6.6.6' } })).status,
    ).toBe(200)
    const [call] = server.calls
    expect(call?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1' })
    expect(call?.headers).not.toHaveProperty('x-user')
  })

  test('ATK-217 a request that was rewritten into one of our own paths meets no handler of the application', async () => {
    const server = await serve({
      settings: { baseAPIRoutes: '/', publicRoutes: ['/open/*'] },
      after: (app, handler) => app.use(rewrite('/open/', '/auth/')).use(handler),
    })
    expect((await server.ask('GET', '/open/me')).status).toBe(401)
    expect((await server.ask('GET', '/open/nothing')).status).toBe(401)
    expect(server.calls).toEqual([])
  })

  test('ATK-217 a preflight of a rewritten path never reaches a handler', async () => {
    const server = await serve({
      after: (app, handler) => app.use(rewrite('/v1/', '/api/')).all('/api/secret', handler),
    })
    const headers = { origin: 'https://evil.test', 'access-control-request-method': 'PUT' }
    expect((await server.ask('OPTIONS', '/v1/secret', { headers })).status).toBe(204)
    expect(server.calls).toEqual([])
  })

  describe('with two inits nested', () => {
    /** An application that guards `/api` and `/in/guarded`, and within it, at `/in`, one that guards `/admin`. */
    async function nested() {
      return serve({
        settings: { baseAPIRoutes: ['/api', '/in/guarded'], publicRoutes: ['/api/open/*'] },
        before(app, handler) {
          const within = express()
          app.use('/in', within)
          const auth = init(within, testSettings({ baseAPIRoutes: '/admin', logger: quiet }), createTestRuntime())
          onTestFinished(() => auth.close())
          within.use(rewrite('/own/', '/admin/'), rewrite('/outer/', '/guarded/'))
          within.get('/admin/secret', handler)
          within.get('/guarded/secret', handler)
          app.use(rewrite('/in/out/', '/api/'))
          app.use(rewrite('/in/admin2/', '/admin/'))
          app.get('/api/secret', handler)
          app.get('/admin/free', handler)
        },
      })
    }
    const quiet = { warn: () => {}, error: () => {} }

    test.each(['/in/own/secret', '/in/outer/secret', '/in/out/secret', '/in/admin/secret', '/in/guarded/secret'])(
      'ATK-217 %s is guarded by the one that it concerns',
      async (path) => {
        const server = await nested()
        expect([(await server.ask('GET', path)).status, server.calls]).toEqual([401, []])
      },
    )

    test('ATK-217 what has left the inner one is judged by the outer one alone', async () => {
      const server = await nested()
      expect((await server.ask('GET', '/in/admin2/free')).status).toBe(200)
      const headers = { 'x-apikey': server.reader }
      expect((await server.ask('GET', '/in/out/secret', { headers })).status).toBe(200)
      expect((await server.ask('GET', '/in/outer/secret', { headers })).status).toBe(200)
      expect(server.calls).toHaveLength(3)
    })
  })

  test('ATK-217 the headers arrived at the outermost of two inits', async () => {
    const server = await serve({
      settings: { baseAPIRoutes: '/in', publicRoutes: ['/in/v1/*', '/in/api/*'] },
      before(app, handler) {
        const within = express()
        app.use('/in', within)
        const settings = {
          trustedProxies: ['127.0.0.1'],
          allowList: ['203.0.113.5'],
          authenticate: () => hookPrincipal,
        }
        const auth = init(within, testSettings(settings), createTestRuntime())
        onTestFinished(() => auth.close())
        within.use(rewrite('/v1/', '/api/')).use(handler)
      },
    })
    const ask = (address: string) => server.ask('GET', '/in/v1/x', { headers: { 'x-forwarded-for': address } })
    expect([(await ask('203.0.113.6')).status, (await ask('203.0.113.5')).status]).toEqual([403, 200])
  })

  test('ATK-217 an application whose router was replaced after init answers 500 and says so', async () => {
    const logged: unknown[] = []
    const logger = { warn: () => {}, error: (fields: object) => void logged.push(fields) }
    const server = await serve({
      settings: { logger },
      before: (app, handler) => app.get('/api/secret', handler),
      after(app, handler) {
        const router = express.Router().use(handler)
        Object.defineProperty(app, express === express4 ? '_router' : 'router', { value: router })
      },
    })
    for (const path of ['/api/secret', '/open']) {
      const answer = await server.ask('GET', path, { headers: { 'x-apikey': server.reader } })
      expect([answer.status, answer.body]).toMatchObject([500, { code: 'internal_error' }])
    }
    expect([server.calls, logged]).toEqual([[], [{ event: 'guard_bypassed' }, { event: 'guard_bypassed' }]])
  })

  test.each([
    ['handleRequest', 'handle_request'],
    ['handle', 'handle'],
  ])('ATK-217 init says so where the layers of Express have no %s any more', (...methods) => {
    const app = express()
    const Layer = class {}
    const router = Object.assign(() => {}, {
      handle: methods[0] === 'handle' ? undefined : () => {},
      stack: [] as object[],
      use: () => router.stack.push(new Layer()),
    })
    Object.defineProperty(app, 'lazyrouter', { value: express === express4 ? () => {} : undefined })
    Object.defineProperty(app, express === express4 ? '_router' : 'router', { value: router })
    expect(() => init(app, testSettings(), createTestRuntime())).toThrow('Express')
  })
})
