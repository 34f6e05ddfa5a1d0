import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import type { HttpRequest, HttpResponse } from '../../src/http/message.js'
import type { Handle, Pass, Verdict } from '../../src/http/verdict.js'
import type { Principal } from '../../src/model/principal.js'
import { adapterContract, type Running, type Scene } from '../contracts/adapter.js'

adapterContract('Fetch API', serve, { prefix: false, ownsSocket: false, parentParser: false, resolvesDots: false })

const principal: Principal = { kind: 'hook', subject: 'ada', claims: {} }
const pass: Pass = { kind: 'pass', principal, spoofedHeaders: [], query: null, forwarded: null, responseHeaders: null }
const refusal: Verdict = { kind: 'answer', response: { status: 401, headers: {}, body: 'refused' } }
const notFound: HttpResponse = { status: 404, headers: { 'content-type': 'application/problem+json' }, body: '{}' }
const url = 'http://api.example/api/secret'

function create(handle: Handle) {
  return createFetch(handle, () => notFound)
}

test('what passes without next is answered by the function for not found', async () => {
  const asked: HttpRequest[] = []
  const fetchLike = createFetch(
    () => pass,
    (request) => {
      asked.push(request)
      return notFound
    },
  )
  const response = await fetchLike(new Request(url))
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    404,
    'application/problem+json',
    '{}',
  ])
  expect(asked.map((request) => request.path)).toEqual(['/api/secret'])
})

test('next gets the very request when nothing is rewritten', async () => {
  const request = new Request(url, { method: 'POST', body: 'text' })
  const next = async (same: Request) => new Response(`${same === request} ${await same.text()}`)
  expect(await (await create(() => pass)(request, { next })).text()).toBe('true text')
})

test('rewriting headers keeps method, body and the other headers', async () => {
  const request = new Request(url, {
    method: 'PUT',
    body: 'text',
    headers: { 'x-api-key': 'planted', 'x-kept': 'yes' },
  })
  const forwarded = {
    'x-request-id': 'r-1',
    'x-real-ip': '192.0.2.7',
    'x-forwarded-for': '192.0.2.7',
    'x-forwarded-host': 'a.example',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
    'x-forwarded-scheme': 'https',
    'x-scheme': 'https',
    'x-api-key': 'accepted',
  }
  const rewrite = create(() => ({ ...pass, spoofedHeaders: ['x-api-key'], forwarded }))
  const response = await rewrite(request, {
    next: async (seen, who) =>
      Response.json({ method: seen.method, headers: Object.fromEntries(seen.headers), body: await seen.text(), who }),
  })
  expect(await response.json()).toEqual({
    method: 'PUT',
    headers: { 'content-type': 'text/plain;charset=UTF-8', 'x-kept': 'yes', ...forwarded },
    body: 'text',
    who: principal,
  })
})

test('headers are added to an answer whose own headers cannot be changed', async () => {
  const cors = create(() => ({ ...pass, responseHeaders: { 'access-control-allow-origin': 'https://a.example' } }))
  const response = await cors(new Request(url), { next: () => Response.redirect('https://a.example/', 302) })
  expect(Object.fromEntries(response.headers)).toEqual({
    'access-control-allow-origin': 'https://a.example',
    location: 'https://a.example/',
  })
  expect(response.status).toBe(302)
})

test('cookies and Vary of the application survive the headers that are added', async () => {
  const cors = create(() => ({ ...pass, responseHeaders: { vary: 'Origin' } }))
  const next = () =>
    new Response('body', {
      status: 206,
      statusText: 'Some',
      headers: [
        ['set-cookie', 'a=1, b'],
        ['set-cookie', 'c=2'],
        ['vary', 'Accept'],
      ],
    })
  const response = await cors(new Request(url), { next })
  expect(response.headers.getSetCookie()).toEqual(['a=1, b', 'c=2'])
  expect(response.headers.get('vary')).toBe('Accept, Origin')
  expect([response.status, response.statusText, await response.text()]).toEqual([206, 'Some', 'body'])
})

test('an answer that cannot be copied is handed on as it is', async () => {
  const cors = create(() => ({ ...pass, responseHeaders: { 'x-added': '1' } }))
  const broken = Response.error()
  expect(await cors(new Request(url), { next: () => broken })).toBe(broken)
})

test('an answer to HEAD has no body', async () => {
  const response = await create(() => refusal)(new Request(url, { method: 'HEAD' }))
  expect([response.status, response.body]).toEqual([401, null])
})

test('what next throws is thrown to the caller', async () => {
  const failing = create(() => pass)(new Request(url), {
    next: () => {
      throw new Error('mine')
    },
  })
  await expect(failing).rejects.toThrow('mine')
})

test('next is not called for what is refused', async () => {
  const next = () => expect.unreachable()
  const response = await create(() => refusal)(new Request(url), { next })
  expect(response.status).toBe(401)
})

test('the address is what the caller says, else unknown', async () => {
  const seen: (string | null)[] = []
  const fetchLike = create((request) => {
    seen.push(request.ip)
    return refusal
  })
  await fetchLike(new Request(url), { ip: '192.0.2.1' })
  await fetchLike(new Request(url, { headers: { 'x-forwarded-for': '192.0.2.1' } }))
  expect(seen).toEqual(['192.0.2.1', null])
})

test.each([
  ['http://api.example', '/', ''],
  ['http://api.example?x=/api', '/', 'x=/api'],
  ['http://api.example/api/%73ecret?a=b?c#/open', '/api/%73ecret', 'a=b?c'],
  ['http://api.example//api/x', '//api/x', ''],
  ['http://user@api.example:81/api', '/api', ''],
])('%s is judged as path %s and query %s', async (target, path, query) => {
  const seen: HttpRequest[] = []
  await create((request) => {
    seen.push(request)
    return refusal
  })(
    new Proxy(new Request('http://api.example/'), {
      get: (real, name) => (name === 'url' ? target : Reflect.get(real, name)),
    }),
  )
  expect(seen[0]).toMatchObject({ path, query })
})

test('a body that somebody has read is no body of ours', async () => {
  const request = new Request(url, { method: 'POST', body: 'text' })
  await request.text()
  const seen: HttpRequest[] = []
  await create((message) => {
    seen.push(message)
    return refusal
  })(request)
  expect(seen[0]?.body).toEqual({ kind: 'parsed', value: undefined })
})

test('a body that breaks off is null', async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(3))
      controller.error(new Error('gone'))
    },
  })
  const bodies: unknown[] = []
  await create(async (message) => {
    if (message.body.kind === 'stream') bodies.push(await message.body.read(100))
    return refusal
  })(new Request(url, { method: 'POST', body, duplex: 'half' }))
  expect(bodies).toEqual([null])
})

/** The smallest bridge from a socket to the Fetch API, with an application that looks its routes up in a table. */
async function serve({ handle, before, after }: Scene): Promise<Running> {
  const routes = [...before, ...after]
  const fetchLike = createFetch(handle, () => notFound)

  async function next(request: Request, auth: Principal | null): Promise<Response> {
    const { pathname } = new URL(request.url)
    const route = routes.find(({ method, path }) => method === request.method.toLowerCase() && path === pathname)
    if (!route) return new Response('no route', { status: 404 })
    const { headers, body } = route.answer({
      auth,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
      address: request.url,
    })
    return new Response(body, { headers })
  }

  async function bridge(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD'
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method ?? 'GET',
      headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
      body: hasBody ? Readable.toWeb(req) : null,
      duplex: 'half',
    } as RequestInit)
    const response = await fetchLike(request, { ip: req.socket.remoteAddress ?? '', next })
    res.statusCode = response.status
    response.headers.forEach((value, name) => void res.appendHeader(name, value))
    res.end(Buffer.from(await response.arrayBuffer()))
  }

  const server = createServer((req, res) => void bridge(req, res))
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
