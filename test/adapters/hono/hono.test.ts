import { IncomingMessage } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { mount as mounted } from 'hono/mount'
import { describe, expect, test } from 'vitest'
import { hono as adapter } from '../../../src/adapters/hono/hono.js'
import type { HttpRequest } from '../../../src/http/message.js'
import type { Handle, Pass, Verdict } from '../../../src/http/verdict.js'
import { SettingsError } from '../../../src/index.js'
import type { Principal } from '../../../src/model/principal.js'
import { type AppRoute, adapterContract, type Running, type Scene } from '../../contracts/adapter.js'

type App = Hono<{ Variables: { auth: Principal | null } }>

const mounting = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}
const traits = { prefix: true, ownsSocket: false, parentParser: false, resolvesDots: true }
const pass: Pass = {
  kind: 'pass',
  principal: null,
  spoofedHeaders: [],
  query: null,
  forwarded: null,
  responseHeaders: null,
}
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: {}, body: 'refused' } }

adapterContract('Hono', serve, traits)

describe('Hono', () => {
  test.each<[string, (app: App) => unknown]>([
    ['a route', (app) => app.get('/api/secret', (c) => c.text('leaked'))],
    ['the prefix itself', (app) => app.all('/api', (c) => c.text('leaked'))],
    ['a parameter', (app) => app.get('/:any/secret', (c) => c.text('leaked'))],
    ['a wildcard', (app) => app.get('*', (c) => c.text('leaked'))],
    ['an encoded prefix', (app) => app.get('/%61pi/secret', (c) => c.text('leaked'))],
    ['a route in capitals', (app) => app.get('/API/secret', (c) => c.text('leaked'))],
    ['a route of ours', (app) => app.post('/auth/login', (c) => c.text('mine'))],
    [
      'another application',
      (app) =>
        app.route(
          '/api',
          new Hono().get('/x', (c) => c.text('leaked')),
        ),
    ],
    [
      'a mounted application',
      (app) =>
        app.all(
          '/*',
          mounted(() => new Response('leaked')),
        ),
    ],
    ['middleware for everything, which may answer', (app) => app.use((_c, next) => next())],
  ])('init throws when %s was there before, and says what to move', (_what, before) => {
    const app: App = new Hono()
    before(app)
    expect(() => mount(app, () => pass)).toThrow(SettingsError)
    expect(() => mount(app, () => pass)).toThrow('move init above it')
  })

  test.each(['/', '/health', '/apiary/:id', '/files/*'])('%s may have been there before', async (path) => {
    const app: App = new Hono()
    app.get(path, (c) => c.text('open'))
    mount(app, () => refusal)
    app.get('/api/secret', (c) => c.text('leaked'))
    expect(await (await app.request('/api/secret')).text()).toBe('refused')
  })

  test.each<[string, (request: Request) => string]>([
    ['without a prefix of the address', ({ url }) => new URL(url).pathname.replace(/^\/v1/, '')],
    ['with the host before it', ({ url }) => `/${new URL(url).host}${new URL(url).pathname}`],
    ['with the query behind it', ({ url }) => url.slice(url.indexOf('/', 8))],
    ['decoded once more', ({ url }) => decodeURIComponent(new URL(url).pathname).replace(/^\/v1/, '')],
  ])(
    'a path of the application’s own making, %s, is served to nobody, since another one was judged',
    async (_, getPath) => {
      const app: App = new Hono({ getPath })
      const faults: string[] = []
      app.onError((error, c) => {
        faults.push(error.message)
        return c.text('failed', 500)
      })
      mount(app, ({ path }) => (path.startsWith('/api') ? refusal : pass))
      app.all('*', (c) => c.text('leaked'))
      for (const path of ['/v1/api/secret?a=1', '/v1/api/%73ecret?a=1']) {
        expect(await (await app.request(`http://app.test${path}`)).text()).toBe('failed')
      }
      expect(faults[0]).toContain('getPath')
    },
  )

  const narrow = ['/:one{[a-z]+}', '/:one{en|de}', '/:one{\\w{1,9}}', '/:one{[a-z0-9-]+}', '/:one']
  const wide = [
    '/:one{.+}',
    '/:one{.*}',
    '/:one{[^/]+}',
    '/:one{[a-z/]+}',
    '/:one{[+-9a-z]+}',
    '/:one{[^.]+}',
    '/:one{\\S+}',
    '/:one{a|en/de}',
  ]
  test.each([...narrow, ...wide])(
    'below a parent’s %s the path is the one behind one segment, or is served to nobody',
    async (place) => {
      const app: App = new Hono()
      mount(app, ({ path }) => (path.startsWith('/api') ? refusal : pass))
      app.get('*', (c) => c.text('leaked'))
      const faults: string[] = []
      const parent = new Hono().route(place, app).onError((error, c) => {
        faults.push(error.message)
        return c.text('failed', 500)
      })
      const answers = await Promise.all(
        ['/en/api/secret', '/en/de/api/secret'].map(async (path) => (await parent.request(path)).text()),
      )
      if (narrow.includes(place)) {
        expect([answers[0], faults]).toEqual(['refused', []])
        return
      }
      expect(answers).not.toContain('leaked')
      expect(faults.length).toBeGreaterThan(0)
      expect(faults.every((fault) => fault.includes('several segments'))).toBe(true)
    },
  )

  test('a request that somebody made without a socket comes from nowhere', async () => {
    const app: App = new Hono()
    const seen: unknown[] = []
    mount(app, ({ ip }) => {
      seen.push(ip)
      return pass
    })
    app.get('/x', (c) => c.text('served'))
    const incoming = new IncomingMessage(new Socket())
    Reflect.set(incoming, 'socket', null)
    await app.fetch(new Request('http://app.test/x'), { incoming })
    expect(seen).toEqual([null])
  })

  test.each([{}, { strict: false }])('a path is the same however it is written, with %j', async (options) => {
    const app: App = new Hono(options)
    mount(app, () => pass)
    app.all('*', (c) => c.text('served'))
    const paths = [
      '/',
      '/a/',
      '/a%20b',
      '/a%2Fb',
      '/a%25b',
      '/a%2525b/',
      '/%e2%82%ac',
      '/%ff%41',
      '/a%',
      '/a%zz%41',
      '/%2',
      '//a//',
    ]
    const answers = await Promise.all(paths.map((path) => app.request(`http://app.test${path}?q=%`)))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
  })

  test.each(['/dev', '/:tenant', '/a/:b'])('below %s the path is judged without it', async (prefix) => {
    const seen: HttpRequest[] = []
    const app: App = new Hono()
    mount(app, (request) => {
      seen.push(request)
      return refusal
    })
    app.get('/api/secret', (c) => c.text('leaked'))
    const parent = new Hono().route(prefix, app)
    const target = prefix.replaceAll(':', '')
    expect(await (await parent.request(`${target}/api/secret`)).text()).toBe('refused')
    expect(seen[0]).toMatchObject({ path: '/api/secret', mount: target })
  })

  test.each(['', '/dev'])(
    'a base path of the application’s own, below %j, is a part of the path that is judged',
    async (parent) => {
      const seen: HttpRequest[] = []
      const app: App = new Hono<{ Variables: { auth: Principal | null } }>().basePath('/api')
      const judge: Handle = (request) => {
        seen.push(request)
        return refusal
      }
      adapter.mount(app, judge, { ...mounting, basePath: '/api/auth' })
      app.get('/secret', (c) => c.text('leaked'))
      const outer = parent === '' ? app : new Hono().route(parent, app)
      expect(await (await outer.request(`${parent}/api/secret`)).text()).toBe('refused')
      expect(seen[0]).toMatchObject({ path: '/api/secret', mount: parent })
    },
  )

  test('a base path that keeps requests for our routes away is refused at once', () => {
    const app = new Hono().basePath('/api')
    expect(() => adapter.mount(app, () => pass, mounting)).toThrow('such as /api/auth')
    expect(() => adapter.mount(app, () => pass, { ...mounting, basePath: '/apiary' })).toThrow(SettingsError)
  })

  test.each(['/', '/api', '/API/x', '/api/x/y'])(
    'the prefix %s can be guarded where the base path is /api',
    (prefix) => {
      const app = new Hono().basePath('/api')
      const given = { ...mounting, basePath: '/api/auth', guarded: ['/api', prefix] }
      expect(() => adapter.mount(app, () => pass, given)).not.toThrow()
    },
  )

  test.each(['/secret', '/apiary', '/v1/api'])(
    'a prefix that no request comes to, %s, is refused at once',
    (prefix) => {
      const app = new Hono().basePath('/api')
      const given = { ...mounting, basePath: '/api/auth', guarded: ['/api', prefix] }
      expect(() => adapter.mount(app, () => pass, given)).toThrow('baseAPIRoutes: must lie below /api')
      expect(() => adapter.mount(new Hono().basePath('/api'), () => pass, { ...given, basePath: '/auth' })).toThrow(
        /basePath: must.*baseAPIRoutes: must/s,
      )
    },
  )

  test('outside of node the application sees a copy of the request with the headers that count', async () => {
    const app: App = new Hono()
    const forwarded = { 'x-request-id': 'r-1', 'x-real-ip': null, 'x-forwarded-for': null, 'x-forwarded-host': 'h' }
    const more = {
      'x-forwarded-port': '1',
      'x-forwarded-proto': 'p',
      'x-forwarded-scheme': 's',
      'x-scheme': 's',
      'x-api-key': null,
    }
    mount(app, () => ({ ...pass, spoofedHeaders: ['x-real-ip'], forwarded: { ...forwarded, ...more } }))
    app.post('/api/secret', async (c) =>
      c.json({ id: c.req.header('x-request-id'), ip: c.req.header('x-real-ip') ?? null, body: await c.req.text() }),
    )
    const answer = await app.request('/api/secret', {
      method: 'POST',
      body: 'kept',
      headers: { 'x-real-ip': '6.6.6.6' },
    })
    expect(await answer.json()).toEqual({ id: 'r-1', ip: null, body: 'kept' })
  })

  test.each([
    ['Deno', { remoteAddr: { hostname: '192.0.2.1' } }],
    ['Bun', { requestIP: () => ({ address: '192.0.2.1' }) }],
  ])('%s tells the address beside the request', async (_runtime, env) => {
    const seen: (string | null)[] = []
    const app: App = new Hono()
    mount(app, (request) => {
      seen.push(request.ip)
      return refusal
    })
    await app.request('/api/secret', {}, env)
    await app.request('/api/secret', {}, {})
    expect(seen).toEqual(['192.0.2.1', null])
  })

  test('a route asks for more than the guard in middleware of its own', async () => {
    const app: App = new Hono()
    mount(app, () => pass)
    app.get('/api/open', (c) => c.text('open'))
    app.get(
      '/api/admin',
      adapter.gate(() => refusal),
      (c) => c.text('leaked'),
    )
    app.get(
      '/api/fine',
      adapter.gate(() => pass),
      (c) => c.text('fine'),
    )
    expect(
      await Promise.all(['open', 'admin', 'fine'].map(async (path) => (await app.request(`/api/${path}`)).text())),
    ).toEqual(['open', 'refused', 'fine'])
  })

  test('an error of the application is handled by the application', async () => {
    const app: App = new Hono()
    mount(app, () => pass)
    app.get('/api/secret', () => {
      throw new Error('mine')
    })
    app.onError((error, c) => c.text(error.message, 418))
    const answer = await app.request('/api/secret')
    expect([answer.status, await answer.text()]).toEqual([418, 'mine'])
  })

  const private_ = { 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' }
  test.each([
    ['made by Hono', (c: Context) => c.text('fine')],
    ['made by the handler', () => new Response('fine')],
    ['that cannot be changed', () => Response.redirect('http://app.test/', 302)],
    ['that is a stream', () => new Response(new Blob(['fine']).stream())],
  ])('our headers are on an answer %s, on node and elsewhere', async (_what, handler) => {
    const app: App = new Hono()
    mount(app, () => ({ ...pass, responseHeaders: { ...private_, vary: 'Origin' } }))
    app.get('/api/secret', handler)
    const expected = [private_['cache-control'], private_['referrer-policy'], 'Origin']
    for (const ask of [askOnNode, askElsewhere]) {
      const { headers } = await ask(app)
      expect(['cache-control', 'referrer-policy', 'vary'].map((name) => headers.get(name))).toEqual(expected)
    }
  })

  test('an answer that is given again and again gathers no headers of ours', async () => {
    const app: App = new Hono()
    const origins = ['https://one.example', 'https://two.example']
    const always = new Response(null, { status: 204 })
    let index = 0
    mount(app, () => {
      const origin = origins[index] ?? ''
      index += 1
      return { ...pass, responseHeaders: { 'access-control-allow-origin': origin, vary: 'Origin' } }
    })
    app.get('/api/secret', () => always)
    for (const origin of origins) {
      const { headers } = await askElsewhere(app)
      expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([origin, 'Origin'])
    }
    expect([...always.headers]).toEqual([])
  })

  test('what the application itself varies by stays beside ours, and its own Cache-Control counts as on every framework of node', async () => {
    const app: App = new Hono()
    mount(app, () => ({ ...pass, responseHeaders: { ...private_, vary: 'Origin' } }))
    app.get('/api/secret', (c) => {
      c.header('Vary', 'Accept')
      c.header('Cache-Control', 'private, max-age=60')
      return c.text('fine')
    })
    const { headers } = await askOnNode(app)
    expect([headers.get('vary'), headers.get('cache-control')]).toEqual(['Accept, Origin', 'private, max-age=60'])
  })

  test('a header that cannot be written is a 500 before the application hears of the request', async () => {
    const app: App = new Hono()
    const heard: string[] = []
    mount(app, () => ({ ...pass, responseHeaders: { 'x-broken': 'a\nb' } }))
    app.get('/api/secret', (c) => {
      heard.push(c.req.path)
      return c.text('leaked')
    })
    for (const ask of [askOnNode, askElsewhere]) expect((await ask(app)).status).toBe(500)
    expect(heard).toEqual([])
  })

  test('applications are recognised, other things are not', () => {
    expect(adapter.recognises(new Hono())).toBe(true)
    expect(adapter.recognises(new Hono().basePath('/x'))).toBe(true)
    for (const other of [{}, () => {}, null, undefined, 'app', { routes: [] }])
      expect(adapter.recognises(other)).toBe(false)
  })
})

async function askElsewhere(app: App): Promise<Response> {
  return app.request('/api/secret')
}

async function askOnNode(app: App): Promise<Response> {
  const server = serveNode({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await new Promise<void>((resolve) => void server.once('listening', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/api/secret`, { redirect: 'manual' })
    await response.arrayBuffer()
    return response
  } finally {
    server.close()
  }
}

function mount(app: App, handle: Handle): void {
  adapter.mount(app, handle, mounting)
}

function register(app: App, routes: readonly AppRoute[]): void {
  for (const { method, path, answer } of routes) {
    app[method](path, async (c) => {
      const answered = answer({
        auth: c.get('auth'),
        headers: c.req.header(),
        body: await c.req.text(),
        address: JSON.stringify([c.req.url, c.req.raw.url, c.req.query()]),
      })
      return c.text(answered.body, 200, answered.headers)
    })
  }
}

/** Hono takes no route before the layer that the guard covers, so all come after. */
async function serve({ handle, before, after, prefix }: Scene): Promise<Running> {
  const app: App = new Hono()
  mount(app, handle)
  register(app, [...before, ...after])
  const served = prefix === '' ? app : new Hono().route(prefix, app)
  const server = serveNode({ fetch: served.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await new Promise<void>((resolve) => void server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}
