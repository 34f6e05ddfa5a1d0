import { connect as openHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type RouteHandlerMethod } from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fastify as adapter } from '../../../src/adapters/node/fastify.js'
import { type Handle, type Pass, privately, type Verdict } from '../../../src/http/verdict.js'
import { SettingsError } from '../../../src/index.js'
import { type AppRoute, adapterContract, type Running, type Scene } from '../../contracts/adapter.js'

const mounting = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}
const traits = { prefix: false, ownsSocket: true, parentParser: false, resolvesDots: false }
const pass: Pass = {
  kind: 'pass',
  principal: null,
  spoofedHeaders: [],
  query: null,
  forwarded: null,
  responseHeaders: null,
}
const noCache = { ...privately, 'cache-control': 'no-cache' }
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: {}, body: 'refused' } }

adapterContract('Fastify', serve, traits)

describe('Fastify', () => {
  test('what plugins hold stands behind the layer, whether they were registered before or after', async () => {
    const app = Fastify()
    void app.register(
      async (plugin) => {
        plugin.get('/api/before', async () => 'leaked')
        plugin.setNotFoundHandler(async () => 'leaked')
      },
      { prefix: '/v1' },
    )
    mount(app, () => refusal)
    void app.register(async (plugin) => void plugin.get('/api/after', async () => 'leaked'))
    await app.ready()
    for (const url of ['/v1/api/before', '/api/after', '/nowhere', '/v1/nowhere']) {
      expect((await app.inject(url)).payload).toBe('refused')
    }
  })

  const early: [who: string, add: (app: FastifyInstance) => unknown][] = [
    ['the application', (app) => app.addHook('onRequest', leak)],
    [
      'a plugin of the root',
      (app) => void app.register(ofTheRoot(async (root) => void root.addHook('onRequest', leak))),
    ],
    [
      'a plugin of the root that was awaited',
      (app) => app.register(ofTheRoot(async (root) => void root.addHook('onRequest', leak))),
    ],
    [
      'a plugin',
      (app) =>
        void app.register(async (plugin) => {
          plugin.addHook('onRequest', leak)
          plugin.get('/api/plugin', leak)
          plugin.register(async (inner) => {
            inner.addHook('onRequest', leak)
            inner.get('/api/inner', leak)
            inner.setNotFoundHandler(leak)
          })
        }),
    ],
  ]
  test.each(early)('a hook that %s added before init stands behind the layer', async (_who, add) => {
    const app = Fastify()
    await settled(add(app))
    mount(app, () => refusal)
    app.get('/api/root', leak)
    app.addHook('onRequest', leak)
    app.register(async (plugin) => {
      plugin.addHook('onRequest', leak)
      plugin.get('/api/after', leak)
    })
    for (const url of ['/api/root', '/api/plugin', '/api/inner', '/api/after', '/nowhere'])
      expect([url, (await app.inject(url)).payload]).toEqual([url, 'refused'])
  })

  test('a request that passes meets all hooks once, ours first and the others in their order', async () => {
    const met: string[] = []
    const app = Fastify()
    const add = (to: FastifyInstance, name: string) => to.addHook('onRequest', async () => void met.push(name))
    add(app, 'before')
    app.register(async (plugin) => {
      add(plugin, 'plugin')
      plugin.get('/api/plugin', async () => 'in')
    })
    mount(app, () => {
      met.push('layer')
      return pass
    })
    add(app, 'after')
    expect((await app.inject('/api/plugin')).payload).toBe('in')
    expect(met).toEqual(['layer', 'before', 'plugin', 'after'])
  })

  test('a hook that is put before the layer in the list of Fastify keeps the application from starting', async () => {
    const app = Fastify()
    mount(app, () => refusal)
    app.register(async (plugin) => {
      const hooks = keptUnder('fastify.hooks', plugin)
      Reflect.get(plugin, hooks).onRequest.unshift(leak)
    })
    await expect(async () => app.ready()).rejects.toThrow(SettingsError)
  })

  test.each(['fastify.hooks', 'fastify.children'])('a Fastify that has no %s is not taken', (description) => {
    const app = Fastify()
    const key = keptUnder(description, app)
    Reflect.deleteProperty(app, key)
    expect(() => mount(app, () => pass)).toThrow(SettingsError)
    expect(() => mount(app, () => pass)).toThrow('in an unknown place')
  })

  test('plugins that were awaited before init have their hooks already, so it throws', async () => {
    const app = Fastify()
    await app.register(async (plugin) => void plugin.get('/api/secret', async () => 'leaked'))
    expect(() => mount(app, () => pass)).toThrow(SettingsError)
    expect(() => mount(app, () => pass)).toThrow('move init above the first await app.register')
  })

  test('only the root is taken: what stands outside of a plugin would be unguarded', async () => {
    const app = Fastify()
    let fault: unknown = null
    app.register(async (plugin) => {
      try {
        mount(plugin, () => pass)
      } catch (error) {
        fault = error
      }
    })
    await app.ready()
    expect(fault).toBeInstanceOf(SettingsError)
  })

  test('an application that has started takes no more hooks, which is an error of init', async () => {
    const app = Fastify()
    await app.ready()
    expect(() => mount(app, () => pass)).toThrow(SettingsError)
  })

  test('nor does one that is about to start', async () => {
    const app = Fastify()
    let fault: unknown = null
    app.decorateRequest('auth', null)
    app.addHook('onReady', async () => {
      try {
        mount(app, () => pass)
      } catch (error) {
        fault = error
      }
    })
    await app.ready()
    expect(fault).toBeInstanceOf(SettingsError)
  })

  test('an error of the application is handled by the application', async () => {
    const app = Fastify()
    mount(app, () => pass)
    app.get('/api/secret', async () => {
      throw new Error('mine')
    })
    app.setErrorHandler((error: Error, _request, reply) => void reply.code(418).send(error.message))
    const answer = await app.inject('/api/secret')
    expect([answer.statusCode, answer.payload]).toEqual([418, 'mine'])
  })

  test('a refused request is told of to the hooks that come after the answer, and to no other', async () => {
    const told: string[] = []
    const app = Fastify()
    mount(app, () => refusal)
    app.addHook('preHandler', async () => void told.push('preHandler'))
    app.addHook('onResponse', async () => void told.push('onResponse'))
    app.get('/api/secret', async () => 'leaked')
    expect((await app.inject('/api/secret')).statusCode).toBe(401)
    expect(told).toEqual(['onResponse'])
  })

  test('a route asks for more than the guard in a hook of its own', async () => {
    const app = Fastify()
    mount(app, () => pass)
    app.get('/api/open', async () => 'open')
    app.get('/api/admin', { preHandler: adapter.gate(() => refusal) }, async () => 'leaked')
    expect((await app.inject('/api/open')).payload).toBe('open')
    expect((await app.inject('/api/admin')).payload).toBe('refused')
  })

  const own = { 'cache-control': 'public, max-age=60' }
  const said: [way: string, handler: RouteHandlerMethod, expected: Readonly<Record<string, string>>][] = [
    ['send', async () => 'in', privately],
    ['a header of its own', async (_request, reply) => reply.header('Cache-Control', 'no-cache').send('in'), noCache],
    ['a stream', async (_request, reply) => reply.send(Readable.from(['in'])), privately],
    ['a response of Fetch', async () => new Response('in'), privately],
    ['hijack', (_request, reply) => void reply.hijack().raw.end('in'), privately],
    [
      'hijack and headers',
      (_request, reply) => void reply.hijack().raw.writeHead(200, { x: '1' }).end('in'),
      privately,
    ],
    [
      'raw headers of its own',
      (_request, { raw }) => void raw.writeHead(200, { 'Cache-Control': 'no-cache' }).end(),
      noCache,
    ],
    ['an error', () => Promise.reject(new Error('mine')), privately],
  ]
  test.each(said)('what an API token opened is nobody else’s to keep: %s', async (_way, handler, expected) => {
    const app = Fastify({ forceCloseConnections: true })
    onTestFinished(() => app.close())
    mount(app, () => ({ ...pass, responseHeaders: privately }))
    // As many applications do: whoever said nothing gets this.
    app.addHook('onSend', async (_request, reply) => {
      if (!reply.hasHeader('cache-control')) reply.headers(own)
    })
    app.get('/api/secret', handler)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await fetch(`${url}/api/secret`, { method })
      expect(Object.fromEntries(headers)).toMatchObject(expected)
    }
  })

  const varying: [way: string, handler: RouteHandlerMethod, expected: string][] = [
    ['nothing', async () => 'in', 'Origin'],
    ['a header of its own', async (_request, reply) => reply.header('Vary', 'Accept').send('in'), 'Accept, Origin'],
    [
      'a list',
      async (_request, reply) => reply.header('vary', ['Accept', 'Cookie']).send('in'),
      'Accept, Cookie, Origin',
    ],
    ['the same', async (_request, reply) => reply.header('vary', 'origin, Accept').send('in'), 'origin, Accept'],
    [
      'a stream',
      async (_request, reply) => reply.header('vary', 'Accept').send(Readable.from(['in'])),
      'Accept, Origin',
    ],
    ['hijack', (_request, reply) => void reply.hijack().raw.end('in'), 'Origin'],
    ['raw headers', (_request, { raw }) => void raw.writeHead(200, 'Fine', { Vary: 'Accept' }).end(), 'Accept, Origin'],
    ['a raw list', (_request, { raw }) => void raw.writeHead(200, ['Vary', 'Accept']).end(), 'Accept, Origin'],
    ['set before', (_request, { raw }) => void raw.setHeader('vary', 'Accept').end(), 'Accept, Origin'],
    ['an error', () => Promise.reject(new Error('mine')), 'Origin'],
  ]
  test.each(varying)('what a route varies by stands beside our Origin: %s', async (_way, handler, expected) => {
    const allowed = { 'access-control-allow-origin': 'https://app.example', vary: 'Origin' }
    for (const responseHeaders of [allowed, { ...privately, ...allowed }, { vary: 'Origin' }]) {
      const app = Fastify({ forceCloseConnections: true })
      onTestFinished(() => app.close())
      mount(app, () => ({ ...pass, responseHeaders }))
      app.get('/api/secret', handler)
      const answer = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/api/secret`)
      expect(Object.fromEntries(answer.headers)).toMatchObject({ ...responseHeaders, vary: expected })
    }
  })

  test.each(varying.slice(0, 5))('and over http2: %s', async (_way, handler, expected) => {
    const app = Fastify({ http2: true })
    mount(app, () => ({ ...pass, responseHeaders: { 'x-own': '1', vary: 'Origin' } }))
    app.get('/api/secret', handler as () => string)
    const session = openHttp2(await app.listen({ port: 0, host: '127.0.0.1' }))
    const stream = session.request({ ':path': '/api/secret' })
    const headers = await new Promise((resolve) => stream.once('response', resolve))
    session.destroy()
    await app.close()
    expect(headers).toMatchObject({ ':status': 200, 'x-own': '1', vary: expected })
  })

  test('a refusal over http2 ends while the body is still open', async () => {
    const app = Fastify({ http2: true })
    const text = '{"code":"unauthenticated"}'
    mount(app, () => ({ kind: 'answer', response: { status: 401, headers: {}, body: text } }))
    const session = openHttp2(await app.listen({ port: 0, host: '127.0.0.1' }))
    // Nothing may wait for a timer.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stream = session.request(
      { ':path': '/api/secret', ':method': 'POST', 'content-length': '1000' },
      { endStream: false },
    )
    let received = ''
    for await (const chunk of stream) received += chunk
    expect([received, stream.writableEnded]).toEqual([text, false])
    session.destroy()
    await app.close()
  })

  test('applications are recognised, other things are not', () => {
    expect(adapter.recognises(Fastify())).toBe(true)
    for (const other of [{}, () => {}, null, undefined, 'app', Fastify().server])
      expect(adapter.recognises(other)).toBe(false)
  })
})

const leak = async (_request: unknown, reply: { send(text: string): unknown }) => reply.send('leaked')

/** As plugins are that add to the application itself and not to a part of it. */
function ofTheRoot(plugin: FastifyPluginAsync): FastifyPluginAsync {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

/** An application is a thenable of its own: it waits for what was registered. */
async function settled(given: unknown): Promise<void> {
  await given
}

function keptUnder(description: string, app: object): symbol {
  const found = Object.getOwnPropertySymbols(app).find((symbol) => symbol.description === description)
  if (found === undefined) throw new Error(`there is no ${description}`)
  return found
}

function mount(app: unknown, handle: Handle): void {
  adapter.mount(app, handle, mounting)
}

function register(app: FastifyInstance, routes: readonly AppRoute[]): void {
  for (const { method, path, answer } of routes) {
    app[method](path, async (request, reply) => {
      const body = request.body === undefined || request.body === null ? '' : bodyText(request.body)
      const seen = {
        auth: Reflect.get(request, 'auth'),
        headers: request.headers,
        rawHeaders: request.raw.rawHeaders,
        headersDistinct: request.raw.headersDistinct,
        body: await body,
        address: JSON.stringify([request.url, request.originalUrl, request.raw.url, request.query]),
      }
      const answered = answer(seen)
      return reply.headers(answered.headers).send(answered.body)
    })
  }
}

function bodyText(body: unknown): Promise<string> | string {
  return body instanceof Object && Symbol.asyncIterator in body
    ? buffer(body as AsyncIterable<Buffer>).then(String)
    : JSON.stringify(body)
}

async function serve({ handle, before, after, parser }: Scene): Promise<Running> {
  const app = Fastify({ bodyLimit: 4_000_000, forceCloseConnections: true })
  if (parser === 'none') {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  }
  register(app, before)
  mount(app, handle)
  register(app, after)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { port, close: () => app.close() }
}
