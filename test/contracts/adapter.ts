import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Mounting } from '../../src/adapters/adapter.js'
import type { HttpRequest, HttpResponse } from '../../src/http/message.js'
import type { ForwardedHeaders, Handle, Pass, Verdict } from '../../src/http/verdict.js'
import type { Principal } from '../../src/model/principal.js'
import { type RawAnswer, rawConnection, rawRequest } from '../support/raw-http.js'

/** What a route of the application saw of a request. */
interface Seen {
  /** Where the framework shows the principal: `req.auth`, `c.get('auth')`. */
  auth: unknown
  headers: Readonly<Record<string, unknown>>
  /** Where the framework keeps them. */
  rawHeaders?: readonly string[]
  headersDistinct?: Readonly<Record<string, readonly string[] | undefined>>
  /** The whole body as text; read by the route itself unless the framework had read it. */
  body: string
  /** Everywhere that the route can look for its address: URLs, and the query as the framework parsed it. */
  address: string
}

/** A route of the application. The framework's test registers it in the framework's own way. */
export interface AppRoute {
  method: 'get' | 'post'
  path: string
  answer(seen: Seen): { headers: Readonly<Record<string, string>>; body: string }
}

export interface Scene {
  handle: Handle
  paths: Mounting
  /** Registered before the layer is mounted. */
  before: readonly AppRoute[]
  /** Registered after. */
  after: readonly AppRoute[]
  /** JSON is parsed by the framework's parser, registered before the layer, in front of the application where there is such a place. */
  parser: 'none' | 'application' | 'parent'
  /** Everything is served below this prefix, which somebody takes off before the layer. */
  prefix: string
}

export interface Running {
  port: number
  close(): Promise<void>
}

export interface Traits {
  /** The application can be put below a prefix. */
  prefix: boolean
  /** We read the body from the socket ourselves, and answer on it. */
  ownsSocket: boolean
  /** A parser can run before the layer. */
  parentParser: boolean
  /** The runtime resolves `..` in a path before anybody sees it. */
  resolvesDots: boolean
  /** An answer has one value a name: what the application says takes the place of ours. */
  keepsOneValue?: boolean
}

const paths: Mounting = {
  basePath: '/auth',
  guarded: ['/api'],
  hooked: false,
  publicRoutes: [],
  watch: () => () => {},
  logger: { warn: () => {}, error: () => {} },
}

const principal: Principal = {
  kind: 'session',
  userId: 'user-1',
  sessionId: 'session-1',
  email: 'ada@example.com',
  emailVerified: true,
  roles: ['USER'],
  amr: ['pwd'],
  authTime: 1_800_000_000,
  actor: null,
}

const pass: Pass = { kind: 'pass', principal, spoofedHeaders: [], query: null, forwarded: null, responseHeaders: null }
const forwarded: ForwardedHeaders = {
  'x-request-id': 'r-1',
  'x-real-ip': '192.0.2.7',
  'x-forwarded-for': '192.0.2.7',
  'x-forwarded-host': 'app.example',
  'x-forwarded-port': '443',
  'x-forwarded-proto': 'https',
  'x-forwarded-scheme': 'https',
  'x-scheme': 'https',
  'x-api-key': 'accepted',
}
const passNobody: Pass = { ...pass, principal: null }
const refusal: Verdict = {
  kind: 'answer',
  response: {
    status: 401,
    headers: { 'content-type': 'application/problem+json' },
    body: '{"code":"unauthenticated"}',
  },
}

/** What every framework adapter keeps. `start` serves the scene on a loopback port. */
export function adapterContract(name: string, start: (scene: Scene) => Promise<Running>, traits: Traits): void {
  const world = createWorld(start)

  describe(`the ${name} adapter`, () => {
    beforeAll(() => world.open({}))
    beforeEach(() => world.reset())
    afterAll(() => world.close())

    describe.each([
      ['synchronous', (verdict: Verdict) => verdict],
      ['asynchronous', (verdict: Verdict) => new Promise<Verdict>((resolve) => setImmediate(resolve, verdict))],
    ] as const)('with a %s verdict', (_kind, wrap) => {
      describeAnswers(world, (verdict) => world.use(() => wrap(verdict)))
      describePasses(world, (verdict) => world.use(() => wrap(verdict)), traits)
    })
    describeRequests(world)
    describeFailures(world)
    describeBodies(world, traits)
    if (traits.ownsSocket) describeSockets(world)
  })

  if (traits.prefix) describePrefix(name, createWorld(start), traits)
  describeParsers(name, createWorld(start), traits)
}

type World = ReturnType<typeof createWorld>

/** A running application, what its routes saw, and the handle that the test at hand has chosen. */
function createWorld(start: (scene: Scene) => Promise<Running>) {
  let handle: Handle = () => refusal
  let running: Running | null = null
  const calls: (Seen & { route: string })[] = []
  const requests: HttpRequest[] = []

  function route(method: AppRoute['method'], path: string): AppRoute {
    return {
      method,
      path,
      answer(seen) {
        calls.push({ ...seen, route: `${method} ${path}` })
        return { headers: { 'x-app': 'yes', vary: 'Accept' }, body: `${method} ${path}` }
      },
    }
  }

  return {
    calls,
    requests,
    use(next: Handle) {
      handle = next
    },
    reset() {
      calls.length = 0
      requests.length = 0
    },
    async open(options: Partial<Pick<Scene, 'parser' | 'prefix'>>) {
      running = await start({
        handle: (request) => {
          requests.push(request)
          return handle(request)
        },
        paths,
        before: [route('get', '/api/secret'), route('post', '/api/secret'), route('get', '/open')],
        after: [route('get', '/api/late'), route('post', '/api/late'), route('get', '/apiary/open')],
        parser: 'none',
        prefix: '',
        ...options,
      })
    },
    close: () => running?.close(),
    get port() {
      if (!running) throw new Error('not started')
      return running.port
    },
    fetch(path: string, init: RequestInit & { duplex?: 'half' } = {}) {
      return fetch(`http://127.0.0.1:${this.port}${path}`, { redirect: 'manual', ...init })
    },
  }
}

function respond(response: Partial<HttpResponse>): Verdict {
  return { kind: 'answer', response: { status: 200, headers: {}, body: null, ...response } }
}

function describeAnswers(world: World, verdict: (verdict: Verdict) => void): void {
  test.each([
    ['GET', '/api/secret', 'registered before'],
    ['POST', '/api/secret', 'registered before'],
    ['GET', '/api/late', 'registered after'],
    ['POST', '/api/late', 'registered after'],
  ])('an answer to %s %s never reaches the route that was %s the layer', async (method, path) => {
    verdict(refusal)
    const response = await world.fetch(path, { method })
    expect(response.status).toBe(401)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({ code: 'unauthenticated' })
    expect(world.calls).toEqual([])
  })

  test('paths below basePath are answered although the application has no route there', async () => {
    verdict(respond({ status: 201, headers: { 'x-ours': '1' }, body: 'done' }))
    for (const path of ['/auth', '/auth/login', '/auth/oauth/google/link?x=1']) {
      const response = await world.fetch(path, { method: 'POST' })
      expect([response.status, response.headers.get('x-ours'), await response.text()]).toEqual([201, '1', 'done'])
    }
  })

  test('several cookies arrive as several headers', async () => {
    verdict(respond({ headers: { 'set-cookie': ['a=1; Path=/; HttpOnly', 'b=2; Path=/auth'] } }))
    const response = await world.fetch('/auth/login', { method: 'POST' })
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/; HttpOnly', 'b=2; Path=/auth'])
  })

  test('a redirect is sent as it is', async () => {
    verdict(respond({ status: 303, headers: { location: '/auth/login?redirect=%2Fapi' } }))
    const response = await world.fetch('/api/secret')
    expect([response.status, response.headers.get('location')]).toEqual([303, '/auth/login?redirect=%2Fapi'])
    expect(world.calls).toEqual([])
  })

  test('bytes arrive unchanged', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    verdict(respond({ headers: { 'content-type': 'image/png' }, body: bytes }))
    const response = await world.fetch('/auth/logo.png')
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
  })

  test('text is UTF-8', async () => {
    verdict(respond({ headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<p>Grüße, 名前 🔑</p>' }))
    const response = await world.fetch('/auth/login')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toBe('<p>Grüße, 名前 🔑</p>')
  })

  test.each([200, 204, 401])('an answer %i without a body is empty and ends', async (status) => {
    verdict(respond({ status }))
    const response = await world.fetch('/api/secret')
    expect([response.status, await response.text()]).toEqual([status, ''])
  })

  test('HEAD gets the status and the headers without the body, and the connection goes on', async () => {
    verdict(refusal)
    const connection = await rawConnection(world.port)
    connection.write('HEAD /api/secret HTTP/1.1\r\nHost: x\r\n\r\n')
    const head = await connection.answer('HEAD')
    expect([head.status, head.headers['content-type']]).toEqual([401, ['application/problem+json']])

    connection.write('GET /api/secret HTTP/1.1\r\nHost: x\r\n\r\n')
    const get = await connection.answer()
    expect([get.status, get.body.toString()]).toEqual([401, '{"code":"unauthenticated"}'])
    connection.destroy()
    expect(world.calls).toEqual([])
  })
}

function describePasses(world: World, verdict: (verdict: Verdict) => void, { keepsOneValue }: Traits): void {
  test.each(['/api/secret', '/api/late'])('what passes reaches %s with the principal', async (path) => {
    verdict(pass)
    const response = await world.fetch(path)
    expect([response.status, response.headers.get('x-app'), await response.text()]).toEqual([200, 'yes', `get ${path}`])
    expect(world.calls.map((call) => call.auth)).toEqual([principal])
  })

  test.each(['/open', '/apiary/open'])('%s passes with nobody, which is null', async (path) => {
    verdict(passNobody)
    const response = await world.fetch(path)
    expect([response.status, await response.text()]).toEqual([200, `get ${path}`])
    expect(world.calls.map((call) => call.auth)).toEqual([null])
  })

  test('a client cannot plant the principal', async () => {
    verdict(passNobody)
    await world.fetch('/api/secret?auth[kind]=session&auth=admin', {
      method: 'POST',
      headers: { auth: JSON.stringify(principal), 'content-type': 'application/json' },
      body: JSON.stringify({ auth: principal }),
    })
    expect(world.calls.map((call) => call.auth)).toEqual([null])
  })

  test('ATK-100 the application sees the request headers as they were rewritten', async () => {
    verdict({ ...pass, spoofedHeaders: ['x-real-ip', 'x-api-key'], forwarded })
    await rawRequest(
      world.port,
      'GET /api/secret HTTP/1.1\r\nHost: x\r\nX-Real-IP: 6.6.6.6\r\nx-real-ip: 7.7.7.7\r\n' +
        'X-Api-Key: planted\r\nX-Kept: yes\r\n\r\n',
    )
    const [call] = world.calls
    expect(call?.headers).toMatchObject({ ...forwarded, 'x-kept': 'yes' })

    const raw = call?.rawHeaders ?? ['x-kept', 'yes']
    const pairs = raw.flatMap((value, index) => (index % 2 ? [] : [`${value.toLowerCase()}: ${raw[index + 1]}`]))
    expect(pairs).toContain('x-kept: yes')
    expect(pairs.filter((pair) => /6\.6\.6|7\.7\.7|planted/.test(pair))).toEqual([])
    expect(call?.headersDistinct ?? { host: ['x'], 'x-kept': ['yes'] }).toEqual({ host: ['x'], 'x-kept': ['yes'] })
  })

  test('ATK-100 headers behind more than node reads are nobody’s', async () => {
    verdict({ ...pass, forwarded })
    const many = Array.from({ length: 1_005 }, (_, index) => `A${index}:1\r\n`).join('')
    const { status } = await rawRequest(
      world.port,
      `GET /api/secret HTTP/1.1\r\nHost: x\r\n${many}X-Real-IP: 6.6.6.6\r\nX-User: planted\r\n\r\n`,
    )
    const [call] = world.calls
    // Newer releases of Node refuse so many themselves.
    if (status === 431) return expect(call).toBeUndefined()
    expect(call?.headers).toMatchObject({ ...forwarded, a1: '1' })
    expect(JSON.stringify([call?.headers, call?.rawHeaders])).not.toMatch(/6\.6\.6\.6|planted/)
  })

  test('what cannot be known of the client is absent, whatever it said', async () => {
    verdict({
      ...pass,
      spoofedHeaders: ['x-real-ip'],
      forwarded: { ...forwarded, 'x-real-ip': null, 'x-forwarded-for': null },
    })
    await world.fetch('/api/secret', { headers: { 'X-Real-IP': '6.6.6.6' } })
    expect(world.calls[0]?.headers).toMatchObject({ 'x-request-id': 'r-1' })
    expect(world.calls[0]?.headers).not.toHaveProperty('x-real-ip')
    expect(world.calls[0]?.headers).not.toHaveProperty('x-forwarded-for')
  })

  test('without rewriting, the application sees the headers as they were sent', async () => {
    verdict(pass)
    await world.fetch('/api/secret', { headers: { 'X-Real-IP': '6.6.6.6', 'X-Api-Key': 'k' } })
    expect(world.calls[0]?.headers).toMatchObject({ 'x-real-ip': '6.6.6.6', 'x-api-key': 'k' })
  })

  test('an API token leaves the address wherever the application may look, and nothing else does', async () => {
    verdict({ ...pass, query: 'a=1&b=%20' })
    await world.fetch('/api/secret?a=1&apikey=k-1&b=%20')
    const [call] = world.calls
    expect(call?.address).not.toMatch(/apikey|k-1/)
    expect(call?.address).toContain('a=1&b=%20')
    verdict({ ...pass, query: '' })
    await world.fetch('/api/late?apikey=k-1')
    expect(world.calls[1]?.address).not.toMatch(/apikey|k-1|\?/)
  })

  test('headers for the answer are added to those of the application', async () => {
    const cors = { 'access-control-allow-origin': 'https://app.example', vary: 'Origin' }
    verdict({ ...pass, responseHeaders: cors })
    const response = await world.fetch('/api/secret')
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    const vary = keepsOneValue ? ['Accept'] : ['Accept', 'Origin']
    expect(response.headers.get('vary')?.split(', ').sort()).toEqual(vary)
    expect([response.headers.get('x-app'), await response.text()]).toEqual(['yes', 'get /api/secret'])
  })

  test('the body is left to the application', async () => {
    verdict(pass)
    const body = JSON.stringify({ text: 'x'.repeat(1_000_000) })
    const headers = { 'content-type': 'application/json' }
    const response = await world.fetch('/api/late', { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    expect(world.calls.map((call) => call.body)).toEqual([body])
  })
}

function describeRequests(world: World): void {
  test('the handle sees method, raw path and query, and lower-case headers', async () => {
    world.use(() => refusal)
    await rawRequest(
      world.port,
      'PATCH /api/%73ecret/a%2Fb?x=%20&y=1?2&z HTTP/1.1\r\nHost: x\r\nX-Probe: Yes\r\nContent-Length: 0\r\n\r\n',
    )
    expect(world.requests[0]).toMatchObject({
      method: 'PATCH',
      path: '/api/%73ecret/a%2Fb',
      query: 'x=%20&y=1?2&z',
      mount: '',
      headers: { 'x-probe': 'Yes' },
    })
  })

  test('the address is that of the socket or null, whatever headers say', async () => {
    world.use(() => refusal)
    await world.fetch('/api/secret', { headers: { 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.1' } })
    const [request] = world.requests
    expect([null, '127.0.0.1', '::ffff:127.0.0.1']).toContain(request?.ip)
  })

  test('without a query there is none', async () => {
    world.use(() => refusal)
    await world.fetch('/api/secret')
    expect(world.requests[0]).toMatchObject({ method: 'GET', path: '/api/secret', query: '' })
  })

  test('requests in parallel keep their principals apart', async () => {
    world.use(async (request) => {
      await new Promise((resolve) => setImmediate(resolve))
      return { ...pass, principal: { ...principal, userId: request.query } }
    })
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => world.fetch(`/api/secret?${index}`, { headers: { probe: `${index}` } })),
    )
    expect(world.calls).toHaveLength(20)
    for (const call of world.calls) expect(call.auth).toMatchObject({ userId: call.headers.probe })
  })
}

function describeFailures(world: World): void {
  test.each<[string, Handle]>([
    ['throws', () => raise()],
    ['rejects', async () => raise()],
    [
      'answers with a header that cannot be sent',
      () => respond({ headers: { 'set-cookie': 'a=1', location: 'a\r\nset-cookie: b=1' } }),
    ],
    ['passes with a header that cannot be sent', () => ({ ...pass, responseHeaders: { 'x-bad': 'a\r\nb' } })],
  ])('a handle that %s is an answer 500 and never a pass', async (_what, handle) => {
    world.use(handle)
    const answer = await rawRequest(world.port, 'GET /api/secret HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer.status).toBe(500)
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(JSON.parse(answer.body.toString())).toMatchObject({ status: 500, code: 'internal_error' })
    expect(answer.body.toString()).not.toContain('of the layer')
    expect(world.calls).toEqual([])

    world.use(() => pass)
    expect((await world.fetch('/api/secret')).status).toBe(200)
  })
}

function raise(): never {
  throw new Error('a secret of the layer')
}

/** Reads the body as a route of ours would and answers what came. */
function echo(limitBytes: number): Handle {
  return async ({ body }) => {
    const value = body.kind === 'parsed' ? body.value : await body.read(limitBytes)
    if (value === null) return respond({ status: 413, body: 'too large' })
    return respond({ body: value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value) })
  }
}

function describeBodies(world: World, traits: Traits): void {
  test('a JSON body is handed over', async () => {
    world.use(echo(100))
    const body = JSON.stringify({ email: 'grüße@example.com' })
    const response = await world.fetch('/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(await response.json()).toEqual({ email: 'grüße@example.com' })
  })

  test('a form is handed over', async () => {
    world.use(echo(100))
    const response = await world.fetch('/auth/login', {
      method: 'POST',
      body: new URLSearchParams({ a: '1', b: 'x y' }),
    })
    expect(['a=1&b=x+y', '{"a":"1","b":"x y"}']).toContain(await response.text())
  })

  test('a chunked body is handed over whole', async () => {
    world.use(echo(100))
    const answer = await rawRequest(
      world.port,
      'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '5\r\n{"a":\r\n3\r\n"1"\r\n1\r\n}\r\n0\r\n\r\n',
    )
    expect(JSON.parse(answer.body.toString())).toEqual({ a: '1' })
  })

  test('a body of exactly the limit is not too large', async () => {
    world.use(echo(12))
    const headers = { 'content-type': 'application/json' }
    const fits = await world.fetch('/auth/login', { method: 'POST', headers, body: '{"a":"1234"}' })
    expect([fits.status, await fits.json()]).toEqual([200, { a: '1234' }])
  })

  test.each([
    ['with a length', (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`],
    [
      'in chunks',
      (text: string) => `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    ],
  ])('a body %s over the limit is null', async (_how, frame) => {
    world.use(echo(12))
    const text = JSON.stringify({ a: 'x'.repeat(50) })
    const head = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    const answer = await rawRequest(world.port, head + frame(text))
    expect([answer.status, answer.body.toString()]).toEqual([413, 'too large'])
  })

  test('a request without a body reads as empty', async () => {
    world.use(async ({ body }) => {
      const value = body.kind === 'parsed' ? body.value : await body.read(10)
      return respond({
        body: `empty: ${value instanceof Uint8Array ? value.length === 0 : JSON.stringify(value ?? {}) === '{}'}`,
      })
    })
    expect(await (await world.fetch('/auth/logout', { method: 'POST' })).text()).toBe('empty: true')
  })

  if (!traits.ownsSocket) return
  test('a client that goes away in the middle of its body leaves null and a working server', async () => {
    const settled = new Promise((resolve) => {
      world.use(async ({ body }) => {
        if (body.kind !== 'stream') return refusal
        const reading = body.read(1_000)
        connection.then((open) => open.destroy())
        resolve(await reading)
        return refusal
      })
    })
    const connection = rawConnection(world.port)
    ;(await connection).write('POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nhalf')
    expect(await settled).toBeNull()

    world.use(() => pass)
    expect((await world.fetch('/api/secret')).status).toBe(200)
  })
}

function describeSockets(world: World): void {
  test('a refused upload that nobody read does not block the connection', async () => {
    world.use(() => refusal)
    const connection = await rawConnection(world.port)
    connection.write(`POST /api/secret HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(500_000)}`)
    expect((await connection.answer()).status).toBe(401)
    world.use(() => pass)
    connection.write('GET /api/secret HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await connection.answer()).body.toString()).toBe('get /api/secret')
    connection.destroy()
    expect(world.calls.map((call) => call.route)).toEqual(['get /api/secret'])
  })

  test('an upload that was read up to a limit and refused does not block the connection', async () => {
    world.use(async ({ body }) => {
      if (body.kind === 'stream') await body.read(10)
      return refusal
    })
    const connection = await rawConnection(world.port)
    connection.write(`POST /auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
    connection.write(`7a120\r\n${'x'.repeat(500_000)}\r\n0\r\n\r\n`)
    expect((await connection.answer()).status).toBe(401)
    world.use(() => pass)
    connection.write('GET /api/secret HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await connection.answer()).body.toString()).toBe('get /api/secret')
    connection.destroy()
  })

  test('a declared length over the limit is refused before the body has come, and 413 ends the connection', async () => {
    world.use(echo(10))
    const connection = await rawConnection(world.port)
    connection.write('POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nxxx')
    const answer: RawAnswer = await connection.answer()
    expect([answer.status, answer.headers.connection]).toEqual([413, ['close']])
    await connection.closed()
  })

  test('a client that goes away before the verdict does no harm', async () => {
    const gone = new Promise<void>((resolve) => {
      world.use(async () => {
        const open = await connection
        open.destroy()
        await open.closed()
        resolve()
        return respond({ body: 'too late' })
      })
    })
    const connection = rawConnection(world.port)
    ;(await connection).write('POST /api/secret HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe')
    await gone
    world.use(() => pass)
    expect((await world.fetch('/api/secret')).status).toBe(200)
    expect(world.calls.map((call) => call.route)).toEqual(['get /api/secret'])
  })

  test('an absolute-form target is judged by its path', async () => {
    world.use(() => refusal)
    await rawRequest(world.port, 'GET http://other.test/api/secret?a=1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await rawRequest(world.port, 'GET http://other.test?a=1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await rawRequest(world.port, 'GET http://other.test HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(world.requests.map(({ path, query }) => [path, query])).toEqual([
      ['/api/secret', 'a=1'],
      ['/', 'a=1'],
      ['/', ''],
    ])
  })
}

function describePrefix(name: string, world: World, { resolvesDots }: Traits): void {
  describe(`the ${name} adapter below a prefix`, () => {
    beforeAll(() => world.open({ prefix: '/dev' }))
    beforeEach(() => world.reset())
    afterAll(() => world.close())

    test.each([
      ['/dev/api/secret?x=1', '/api/secret', '/dev'],
      ['/dev/auth', '/auth', '/dev'],
      ['/dev/api/%2e%2e/x', resolvesDots ? '/x' : '/api/%2e%2e/x', '/dev'],
    ])('%s is judged as %s with the mount %s', async (target, path, mount) => {
      world.use(() => refusal)
      await rawRequest(world.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
      expect(world.requests[0]).toMatchObject({ path, mount })
    })

    test('guards and passes as without one', async () => {
      world.use(() => refusal)
      expect((await world.fetch('/dev/api/secret')).status).toBe(401)
      expect((await world.fetch('/dev/api/late')).status).toBe(401)
      expect(world.calls).toEqual([])
      world.use(() => pass)
      expect(await (await world.fetch('/dev/api/secret')).text()).toBe('get /api/secret')
      expect(world.calls.map((call) => call.auth)).toEqual([principal])
    })
  })
}

function describeParsers(name: string, world: World, traits: Traits): void {
  const json = { 'content-type': 'application/json' }

  describe(`the ${name} adapter beside a body parser of the application`, () => {
    beforeAll(() => world.open({ parser: 'application' }))
    beforeEach(() => world.reset())
    afterAll(() => world.close())

    test('refuses before the parser looks at the body', async () => {
      world.use(() => refusal)
      const response = await world.fetch('/api/secret', { method: 'POST', headers: json, body: '{broken' })
      expect(response.status).toBe(401)
      expect(world.calls).toEqual([])
    })

    test('reads bodies of our own routes itself', async () => {
      world.use(echo(100))
      const response = await world.fetch('/auth/login', { method: 'POST', headers: json, body: '{"a":"1"}' })
      expect(await response.json()).toEqual({ a: '1' })
    })

    test('leaves the bodies of the application to the parser', async () => {
      world.use(() => pass)
      await world.fetch('/api/late', { method: 'POST', headers: json, body: '{"a":"1"}' })
      expect(world.calls.map((call) => call.body)).toEqual(['{"a":"1"}'])
    })
  })

  if (!traits.parentParser) return
  describe(`the ${name} adapter behind a body parser`, () => {
    beforeAll(() => world.open({ parser: 'parent' }))
    beforeEach(() => world.reset())
    afterAll(() => world.close())

    test('takes what the parser has made of the body', async () => {
      world.use(echo(100))
      const response = await world.fetch('/auth/login', { method: 'POST', headers: json, body: '{"a":"1"}' })
      expect(await response.json()).toEqual({ a: '1' })
      expect(world.requests[0]?.body).toEqual({ kind: 'parsed', value: { a: '1' } })
    })

    test('reads a body that the parser left alone', async () => {
      world.use(echo(100))
      const response = await world.fetch('/auth/login', { method: 'POST', body: new URLSearchParams({ a: '1' }) })
      expect(await response.text()).toBe('a=1')
    })

    test('refuses as without one', async () => {
      world.use(() => refusal)
      const response = await world.fetch('/api/secret', { method: 'POST', headers: json, body: '{"a":"1"}' })
      expect(response.status).toBe(401)
      expect(world.calls).toEqual([])
    })
  })
}
