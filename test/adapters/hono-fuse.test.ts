import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import fc from 'fast-check'
import { type Context, Hono } from 'hono'
import { getRouterName } from 'hono/dev'
import { HTTPException } from 'hono/http-exception'
import { LinearRouter } from 'hono/router/linear-router'
import { PatternRouter } from 'hono/router/pattern-router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { describe, expect, test } from 'vitest'
import { hono as adapter } from '../../src/adapters/hono.js'
import { type Handle, type Pass, privately, type Verdict } from '../../src/http/verdict.js'

const mounting = { basePath: '/auth', guarded: ['/api'], publicRoutes: [], watch: () => () => {} }
const principal = {
  kind: 'hook',
  userId: 'ada',
  roles: [],
} as unknown as NonNullable<Pass['principal']>
const pass: Pass = { kind: 'pass', principal, planted: [], query: null, forwarded: null, responseHeaders: null }
const withHeaders: Pass = {
  ...pass,
  responseHeaders: { vary: 'Origin', 'access-control-allow-origin': 'https://a.test' },
}
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: { 'x-own': 'yes' }, body: 'refused' } }

const verdicts: [string, Handle][] = [
  ['passes', () => pass],
  ['passes with headers', () => withHeaders],
  ['refuses', () => refusal],
  ['passes later', async () => pass],
  ['passes later with headers', async () => withHeaders],
  ['refuses later', async () => refusal],
  [
    'breaks',
    () => {
      throw new Error('ours')
    },
  ],
]

const paths = [
  '/api/plain',
  '/api/users/7/posts/9?x=1',
  '/api/throws',
  '/api/rejects',
  '/api/exception',
  '/api/value',
  '/api/next',
  '/api/nothing',
  '/api/at-once',
  '/api/set-then-next',
  '/api/middle',
  '/api/missing',
  '/files/a/b',
  '/tenants/ada/notes',
]

/** Every kind of handler there is. What is asked about the context would tell of a row that was put together wrongly. */
function routes(app: Hono): void {
  app.get('/api/plain', (c) => c.json({ auth: c.get('auth' as never), route: c.req.routePath }))
  app.get('/api/users/:user/posts/:post', (c) =>
    c.json({ all: c.req.param(), one: c.req.param('post'), q: c.req.query() }),
  )
  app.get('/api/throws', () => {
    throw new Error('mine')
  })
  app.get('/api/rejects', async () => {
    throw new Error('later')
  })
  app.get('/api/exception', () => {
    throw new HTTPException(402, { res: new Response('pay', { status: 402, headers: { 'x-price': '1' } }) })
  })
  app.get('/api/value', async () => {
    throw 'no error'
  })
  app.get('/api/next', async (_c, next) => next())
  app.get('/api/nothing', async (c) => {
    c.res = new Response('set', { status: 202 })
  })
  const plain = (c: Context) => {
    c.res = new Response('set at once', { status: 202 })
  }
  app.get('/api/at-once', plain as never)
  app.get('/api/set-then-next', async (c, next) => {
    c.res = new Response('stays', { status: 202 })
    await next()
  })
  app.get(
    '/api/middle',
    async (c, next) => {
      await next()
      c.header('x-middle', 'yes')
    },
    (c) => c.text('middle'),
  )
  app.all('/files/*', (c) => c.text(c.req.routePath))
  app.onError((error, c) =>
    error instanceof HTTPException ? error.getResponse() : c.text(`caught ${error.message}`, 500),
  )
  app.notFound((c) => c.text('none', 404))
}

async function outcome(app: Hono, path: string, method = 'GET') {
  try {
    const answer = await app.request(path, { method })
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'content-length'))
    return { status: answer.status, headers, body: await answer.text() }
  } catch (error) {
    return { thrown: error }
  }
}

const routers = {
  SmartRouter: () => new SmartRouter({ routers: [new RegExpRouter(), new TrieRouter()] }),
  RegExpRouter: () => new RegExpRouter(),
  TrieRouter: () => new TrieRouter(),
  LinearRouter: () => new LinearRouter(),
  PatternRouter: () => new PatternRouter(),
}

/** Of a name and a star in one path LinearRouter throws for every request. */
function mountOthers(app: Hono, router: string): void {
  if (router === 'LinearRouter') return
  app.mount('/tenants/:tenant{[a-z]+}', (request: Request) => new Response(new URL(request.url).pathname))
}

describe.each(Object.entries(routers))('a layer and a handler as one, by %s', (name, createRouter) => {
  test.each(verdicts)('answer as they do in a longer row where the guard %s', async (_what, handle) => {
    const fused = new Hono({ router: createRouter() as never })
    adapter.mount(fused, handle, mounting)
    routes(fused)
    mountOthers(fused, name)
    const inRow = new Hono({ router: createRouter() as never })
    adapter.mount(inRow, handle, mounting)
    inRow.use((_c, next) => next())
    routes(inRow)
    mountOthers(inRow, name)
    for (const path of paths) {
      for (const method of ['GET', 'HEAD']) {
        const [first, again] = [await outcome(fused, path, method), await outcome(fused, path, method)]
        if (path !== '/api/value') expect(first).not.toHaveProperty('thrown')
        expect([path, method, first]).toEqual([path, method, await outcome(inRow, path, method)])
        expect(again).toEqual(first)
      }
    }
  })

  test('are judged and answered as the method, path and parameters at hand, whatever came before', async () => {
    const asked = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'),
      path: fc.constantFrom(
        '/api/items/1',
        '/api/items/2',
        '/api/itemses',
        '/api/itemsis',
        `/api/items/${'1'.repeat(65)}`,
      ),
    })
    const isRefused = ({ method, path }: { method: string; path: string }) => path.endsWith('/2') || method === 'DELETE'
    const judge = (request: { method: string; path: string }) => (isRefused(request) ? refusal : pass)
    const handles: Handle[] = [judge, async (request) => judge(request)]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...handles), fc.array(asked, { maxLength: 12 }), async (handle, sequence) => {
        const [guarded, bare] = [new Hono({ router: createRouter() as never }), new Hono()]
        adapter.mount(guarded, handle, mounting)
        for (const app of [guarded, bare]) {
          app.get('/api/items/:id', (c) => c.text(`get ${c.req.param('id')}`))
          app.post('/api/items/:id', (c) => c.text(`post ${c.req.param('id')}`))
          app.all('/api/itemses', (c) => c.text(`${c.req.method} all`))
        }
        const expected = async (one: (typeof sequence)[number]) => {
          const body = one.method === 'HEAD' ? '' : 'refused'
          return isRefused(one) ? expect.objectContaining({ status: 401, body }) : outcome(bare, one.path, one.method)
        }
        const all = await Promise.all(sequence.map(expected))
        expect(await Promise.all(sequence.map(({ path, method }) => outcome(guarded, path, method)))).toEqual(all)
        for (const [at, { path, method }] of sequence.entries()) {
          expect(await outcome(guarded, path, method)).toEqual(all[at])
        }
      }),
    )
  })
})

test('on node the two answer as in a longer row also where headers are said before', async () => {
  const answers: unknown[][] = []
  for (const more of [0, 1]) {
    const app = new Hono()
    adapter.mount(app, () => ({ ...pass, responseHeaders: privately }), mounting)
    if (more) app.use((_c, next) => next())
    routes(app)
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    if (!server.listening) await new Promise<void>((resolve) => void server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const seen: unknown[] = []
    for (const path of paths.filter((path) => path !== '/api/value')) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`)
      const said = Object.keys(privately).map((name) => answer.headers.get(name))
      seen.push([path, answer.status, await answer.text(), answer.headers.get('x-middle'), said])
      expect([path, said]).toEqual([path, Object.values(privately)])
    }
    answers.push(seen)
    await new Promise((resolve) => void server.close(resolve))
  }
  expect(answers[0]).toEqual(answers[1])
})

test('the handler is reached without a promise where the verdict is there at once', () => {
  const app = new Hono()
  adapter.mount(app, () => pass, mounting)
  app.get('/api/plain', (c) => c.text('fine'))
  expect(app.fetch(new Request('http://app.test/api/plain'))).toBeInstanceOf(Response)
})

test('the router keeps its name, and takes routes that come late', async () => {
  const app = new Hono({ router: new TrieRouter() })
  adapter.mount(app, () => pass, mounting)
  expect(getRouterName(app)).toBe('TrieRouter')
  app.get('/api/late', (c) => c.text('late'))
  expect(await (await app.request('/api/late')).text()).toBe('late')
  expect((await app.request('/api/later')).status).toBe(404)
  app.get('/api/later', (c) => c.text('later'))
  expect(await (await app.request('/api/later')).text()).toBe('later')
})

test('a route that comes late by an application made of this one before is found where there was none', async () => {
  const app = new Hono({ router: new TrieRouter() })
  const version = app.basePath('/api/v1')
  adapter.mount(app, () => pass, mounting)
  app.get('/api/plain', (c) => c.text('fine'))
  expect((await app.request('/api/v1/late')).status).toBe(404)
  version.get('/late', (c) => c.text('late'))
  expect(await (await app.request('/api/v1/late')).text()).toBe('late')
})

test('an application in another one stands behind its layer as before', async () => {
  const app = new Hono()
  adapter.mount(app, ({ path }) => (path === '/api/open' ? pass : refusal), mounting)
  app.get('/api/:name', (c) => c.text(c.req.param('name')))
  const parent = new Hono().route('/dev', app)
  expect(await (await parent.request('/dev/api/open')).text()).toBe('open')
  expect(await (await parent.request('/dev/api/secret')).text()).toBe('refused')
  expect(await (await app.basePath('/x').request('/api/secret')).text()).toBe('refused')
})
