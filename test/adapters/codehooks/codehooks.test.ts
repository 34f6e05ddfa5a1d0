import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Mounting } from '../../../src/adapters/adapter.js'
import { codehooks as adapter } from '../../../src/adapters/codehooks/codehooks.js'
import type { Handle, Pass, Verdict } from '../../../src/http/verdict.js'
import { init } from '../../../src/index.js'
import { createTestRuntime, testSettings } from '../../../src/testing.js'
import { type AppRoute, adapterContract, type Running, type Scene } from '../../contracts/adapter.js'
import { type CodehooksApp, type Hook, hostCodehooks, loadCodehooks } from '../../support/codehooks-host.js'
import { rawRequest } from '../../support/raw-http.js'

adapterContract('codehooks-js', serve, {
  prefix: true,
  ownsSocket: false,
  parentParser: false,
  resolvesDots: false,
  keepsOneValue: true,
})

const paths: Mounting = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}
const pass: Pass = {
  kind: 'pass',
  principal: { kind: 'hook', subject: 'ada', claims: {} },
  spoofedHeaders: [],
  query: null,
  forwarded: null,
  responseHeaders: null,
}
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: {}, body: '{"code":"unauthenticated"}' } }
/** Refuses below /api, answers below /auth, lets everything else pass. */
const guard: Handle = ({ path }) => {
  if (path.startsWith('/auth')) return { kind: 'answer', response: { status: 200, headers: {}, body: 'ours' } }
  return /^\/+api\b/i.test(path) ? refusal : { ...pass, principal: null }
}
const open: Hook = (_req, _res, next) => next()
const leak: Hook = (_req, res) => res.end('leaked')

describe('hooks of the application cannot open what is guarded', () => {
  test.each<[string, (app: CodehooksApp) => void]>([
    ['the same pattern', (app) => app.auth('/api/*', open)],
    ['the prefix itself', (app) => app.auth('/api', open)],
    ['a pattern below', (app) => app.auth('/api/secret', open)],
    ['everything', (app) => app.auth('/*', open)],
    ['a regular expression', (app) => app.auth(/^\/.*/, open)],
    ['the static files of a single-page application', (app) => app.static({ route: '/', notFound: '/index.html' })],
    ['other capitals', (app) => app.auth('/API/*', open)],
  ])('%s, before or after init', async (_what, register) => {
    for (const when of ['before', 'after']) {
      const { app } = await loadCodehooks()
      if (when === 'before') register(app)
      app.get('/api', leak)
      app.get('/api/secret', leak)
      adapter.mount(app, guard, paths)
      if (when === 'after') register(app)
      const manifest = app.init()
      // Each wall holds alone.
      for (const walls of [manifest, { ...manifest, globalhooks: [] }, { ...manifest, authhooks: { '/*': [open] } }]) {
        const { port, faults, close } = await hostCodehooks(walls)
        onTestFinished(close)
        for (const path of ['/api', '/api/', '/api/secret', '/API/secret', '/api/secret/']) {
          expect(await ask(port, path)).toEqual([401, '{"code":"unauthenticated"}'])
        }
        expect(faults).toEqual([])
      }
    }
  })

  test('ATK-97 odd targets that only a hook of the application matches meet the layer before the route', async () => {
    const { app } = await loadCodehooks()
    app.auth('/*', open)
    app.all('/*', leak)
    adapter.mount(app, guard, paths)
    const { port } = await host(app)
    for (const path of ['//api/secret', '/api', '/API']) expect((await ask(port, path))[0]).toBe(401)
    expect(await ask(port, '/other')).toEqual([200, 'leaked'])
  })

  test('the platform token goes around the gate and not around the layer', async () => {
    const { app } = await loadCodehooks()
    app.get('/api/secret', leak)
    adapter.mount(app, guard, paths)
    const { port } = await host(app, { apiToken: 'platform' })
    expect((await ask(port, '/api/secret', { headers: { 'x-apikey': 'platform' } }))[0]).toBe(401)
  })

  test('an application that replaces its hooks after init opens nothing', async () => {
    const { app } = await loadCodehooks()
    app.get('/api/secret', leak)
    adapter.mount(app, guard, paths)
    Object.assign(app, { auths: { '/*': [open] } })
    const { port } = await host(app)
    expect((await ask(port, '/api/secret'))[0]).toBe(401)
  })

  test('a manifest that was made before init is guarded as well', async () => {
    const { app } = await loadCodehooks()
    app.auth('/*', open)
    app.get('/api/secret', leak)
    const manifest = app.init()
    adapter.mount(app, guard, paths)
    const running = await hostCodehooks(manifest)
    onTestFinished(running.close)
    expect((await ask(running.port, '/api/secret'))[0]).toBe(401)
    expect(await ask(running.port, '/auth/login')).toEqual([200, 'ours'])
  })
})

test('middleware of the application comes after the layer and sees the principal', async () => {
  const { app } = await loadCodehooks()
  app.use((req, res, next) => {
    res.set('x-subject', JSON.stringify(req.auth))
    next()
  })
  app.get('/api/secret', leak)
  adapter.mount(app, () => pass, paths)
  const { port } = await host(app)
  const response = await fetch(`http://127.0.0.1:${port}/dev/api/secret`)
  expect(response.headers.get('x-subject')).toBe(JSON.stringify(pass.principal))
})

test('what is not guarded stays as the host has it: refused without a hook of the application', async () => {
  const { app } = await loadCodehooks()
  app.get('/open', leak)
  adapter.mount(app, guard, paths)
  const { port } = await host(app)
  const [status, body] = await ask(port, '/open')
  expect([status, JSON.parse(body)]).toEqual([401, expect.objectContaining({ code: 'unauthenticated' })])
})

test('a prefix of / guards everything and leaves the auth routes to be answered once', async () => {
  const seen: string[] = []
  const { app } = await loadCodehooks()
  app.auth('/*', open)
  app.get('/', leak)
  app.get('/anything/at/all', leak)
  adapter.mount(
    app,
    (request) => {
      seen.push(request.path)
      return request.path.startsWith('/auth') ? guard(request) : refusal
    },
    { ...paths, guarded: ['/'] },
  )
  const { port } = await host(app)
  expect((await ask(port, '/'))[0]).toBe(401)
  expect((await ask(port, '/anything/at/all'))[0]).toBe(401)
  seen.length = 0
  expect(await ask(port, '/auth/login', { method: 'POST' })).toEqual([200, 'ours'])
  expect(seen).toEqual(['/auth/login'])
})

test('auth routes are answered although crudlify or a catch-all took the path first', async () => {
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  const { app } = await loadCodehooks()
  await app.crudlify({})
  app.all('/*', leak)
  adapter.mount(app, guard, paths)
  const { port } = await host(app)
  for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
    expect(await ask(port, '/auth/login', { method })).toEqual([200, 'ours'])
  }
})

test('a path below basePath that the layer lets pass and no route takes is not found', async () => {
  const { app } = await loadCodehooks()
  adapter.mount(app, () => pass, paths)
  const { port } = await host(app)
  expect(await ask(port, '/auth/nothing')).toEqual([404, ''])
})

test.each([
  ['dev', '/dev/auth/login', '/auth/login', '/dev'],
  [null, '/auth/login', '/auth/login', ''],
])('with the space %s, %s is %s below %s', async (space, target, path, mount) => {
  const seen: unknown[] = []
  const { app } = await loadCodehooks()
  adapter.mount(
    app,
    (request) => {
      seen.push({ path: request.path, query: request.query, mount: request.mount, ip: request.ip })
      return refusal
    },
    paths,
  )
  const running = await hostCodehooks(app.init(), { space })
  onTestFinished(running.close)
  await rawRequest(running.port, `GET ${target}?a=%20&a=?b HTTP/1.1\r\nHost: x\r\nX-Real-IP: 192.0.2.1\r\n\r\n`)
  expect(seen).toEqual([{ path, query: 'a=%20&a=?b', mount, ip: null }])
})

test.each([
  ['no apiPath', { apiPath: undefined, originalUrl: '/dev/api/secret' }],
  ['no address', { apiPath: '/api/secret', originalUrl: undefined }],
])('on a host that gives %s everything is closed', async (_what, fields) => {
  const { app } = await loadCodehooks()
  adapter.mount(app, () => pass, paths)
  const answered: unknown[] = []
  const res = { status: (code: number) => answered.push(code), setHeader: () => {}, end: () => {} }
  for (const hooks of [Reflect.get(app, 'auths')['/api/*'], Reflect.get(app, 'appmiddleware')]) {
    expect(hooks).toHaveLength(1)
    hooks[0]({ method: 'GET', headers: {}, ...fields }, res, () => answered.push('passed'))
  }
  expect(answered).toEqual([500, 500])
})

test('an answer to HEAD ends without a body', async () => {
  const { app } = await loadCodehooks()
  adapter.mount(app, () => refusal, paths)
  const ended: unknown[][] = []
  const res = { status: () => {}, setHeader: () => {}, end: (...body: unknown[]) => ended.push(body) }
  const req = { method: 'HEAD', headers: {}, apiPath: '/api', originalUrl: '/api' }
  Reflect.get(app, 'appmiddleware')[0](req, res, expect.unreachable)
  expect(ended).toEqual([[]])
})

test('a response that throws on everything is nobody’s crash', async () => {
  const { app } = await loadCodehooks()
  adapter.mount(app, () => refusal, paths)
  const [hook] = Reflect.get(app, 'appmiddleware')
  const req = { method: 'GET', headers: {}, apiPath: '/api', originalUrl: '/api' }
  expect(() => hook(req, {}, expect.unreachable)).not.toThrow()
})

test('the setup of the specification: crudlify below /api behind the guard', async () => {
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const signedIn: Handle = (request) => (request.headers.authorization === 'Bearer good' ? pass : guard(request))
  const { app } = await loadCodehooks()
  await app.crudlify({ person: {} }, { prefix: '/api' })
  adapter.mount(app, signedIn, paths)
  const { port, faults } = await host(app)
  const headers = { 'content-type': 'application/json', authorization: 'Bearer good' }
  const body = JSON.stringify({ name: 'Ada' })

  expect(
    (await ask(port, '/api/person', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))[0],
  ).toBe(401)
  const [status, created] = await ask(port, '/api/person', { method: 'POST', headers, body })
  const { _id: id } = JSON.parse(created)
  expect([status, JSON.parse(created)]).toEqual([201, { _id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'Ada' }])
  const [, list] = await ask(port, '/api/person?name=Ada', { headers })
  expect(JSON.parse(list)).toEqual([{ _id: id, name: 'Ada' }])
  expect((await ask(port, `/api/person/${id}`, { method: 'DELETE' }))[0]).toBe(401)
  expect((await ask(port, `/api/person/${id}`, { method: 'DELETE', headers }))[0]).toBe(200)
  expect(faults).toEqual([])
})

test('ATK-100 an API token in the address of a crudlify route is no part of the database query', async () => {
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const { app, connection } = await loadCodehooks()
  const filters: unknown[] = []
  const { getMany } = connection
  connection.getMany = (collection, filter, options) => {
    filters.push(filter)
    return getMany(collection, filter, options)
  }
  await app.crudlify({ person: {} }, { prefix: '/api' })
  const auth = init(app, testSettings(), createTestRuntime())
  onTestFinished(() => auth.close())
  const { port, faults } = await host(app)
  const { token } = await auth.apiTokens.create({ name: 'integration' })
  for (const name of ['Ada', 'Grace']) {
    const headers = { 'content-type': 'application/json', 'x-apikey': token }
    expect((await ask(port, '/api/person', { method: 'POST', headers, body: JSON.stringify({ name }) }))[0]).toBe(201)
  }

  const queries = [
    `apikey=${token}&q=${encodeURIComponent('{"name":"Ada"}')}`,
    `name=Ada&apikey=${token}`,
    `%61pikey=${token}&name=Ada`,
  ]
  for (const query of queries) {
    const [status, body] = await server(port, `/dev/api/person?${query}`)
    expect([status, JSON.parse(body)]).toEqual([200, [{ _id: expect.any(String), name: 'Ada' }]])
  }
  expect(filters).toHaveLength(queries.length)
  expect(JSON.stringify(filters)).not.toContain('apikey')
  expect((await server(port, `/dev/api/person?apikey=${token}&apikey[$ne]=x`))[0]).toBe(401)
  expect(faults).toEqual([])
})

test('a stream that the platform left to the application stays whole behind a synchronous verdict', async () => {
  const { app } = await loadCodehooks()
  app.post('/api/file', async (req, res) => {
    const chunks: Uint8Array[] = []
    req.on('data', (chunk: unknown) => {
      if (chunk instanceof Uint8Array) chunks.push(chunk)
    })
    req.on('end', () => res.end(String(Buffer.concat(chunks).length)))
  })
  adapter.mount(app, () => pass, paths)
  const { port } = await host(app)
  const body = Buffer.alloc(300_000, 7)
  expect(await ask(port, '/api/file', { method: 'POST', body, headers: { 'content-type': 'image/png' } })).toEqual([
    200,
    '300000',
  ])
})

test('the application of codehooks-js is recognised, others are not', async () => {
  const { app } = await loadCodehooks()
  const others = [{}, () => {}, null, undefined, 'app', { auth() {}, init() {} }]
  expect([app, ...others].map(adapter.recognises)).toEqual([true, ...others.map(() => false)])
})

test('no adapter loads a framework: an application brings its own', () => {
  const folder = fileURLToPath(new URL('../../../src/adapters/', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files).toContain(join('codehooks', 'codehooks.ts'))
  for (const name of files) {
    const source = readFileSync(join(folder, name), 'utf8')
    expect(source.match(/from '(?!\.|node:)[^']*'/g)).toBeNull()
  }
})

async function host(app: CodehooksApp, options: { apiToken?: string } = {}) {
  const running = await hostCodehooks(app.init(), options)
  onTestFinished(running.close)
  return running
}

async function ask(port: number, path: string, init: RequestInit = {}): Promise<[status: number, body: string]> {
  const response = await fetch(`http://127.0.0.1:${port}/dev${path}`, init)
  return [response.status, await response.text()]
}

/** As a program asks: `fetch` would send headers of a browser. */
async function server(port: number, target: string): Promise<[status: number, body: string]> {
  const { status, body } = await rawRequest(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
  return [status, body.toString()]
}

async function serve({ handle, paths, before, after, prefix }: Scene): Promise<Running> {
  const { app } = await loadCodehooks()
  register(app, before)
  adapter.mount(app, handle, paths)
  register(app, after)
  // What is not guarded is the platform's to refuse unless the application says otherwise.
  for (const pattern of ['/open', '/apiary/*']) app.auth(pattern, (_req, _res, next) => next())
  return hostCodehooks(app.init(), { space: prefix.slice(1) || null })
}

function register(app: CodehooksApp, routes: readonly AppRoute[]): void {
  for (const { method, path, answer } of routes) {
    app[method](path, (req, res) => {
      const { headers, body } = answer({
        auth: req.auth,
        headers: req.headers,
        body: req.rawBody ?? '',
        address: JSON.stringify([req.originalUrl, req.query]),
      })
      for (const [name, value] of Object.entries(headers)) res.set(name, value)
      res.end(body)
    })
  }
}
