import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createTestClient } from '../../src/testing/client.js'

/** Answers with what it was asked. */
async function echo(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/text') return new Response('plain')
  if (pathname === '/none') return new Response(null, { status: 204 })
  if (pathname === '/hop')
    return new Response(null, { status: 303, headers: { location: '/landed', 'set-cookie': 'hop=1' } })
  const headers = Object.fromEntries(request.headers)
  return Response.json({ method: request.method, url: request.url, headers, body: await request.text() })
}
interface Echo {
  method: string
  url: string
  headers: Record<string, string>
  body: string
}
const auth = { fetch: echo }

test('plays a page of the application: origin on unsafe methods, fetch metadata on all', async () => {
  const client = createTestClient(auth)
  const got = await client.get<Echo>('/api/notes')
  const posted = await client.post<Echo>('/api/notes', { text: 'x' })

  expect(got.body.headers).toMatchObject({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })
  expect(got.body.headers).not.toHaveProperty('origin')
  expect(got.body.headers).not.toHaveProperty('content-type')
  expect(posted.body).toMatchObject({ method: 'POST', url: 'http://localhost:3000/api/notes', body: '{"text":"x"}' })
  expect(posted.body.headers).toMatchObject({ origin: 'http://localhost:3000', 'content-type': 'application/json' })
})

test('plays a server: sends what it is told to and keeps no cookie', async () => {
  const client = createTestClient(auth, { as: 'server', headers: { 'x-apikey': 'k' } })
  await client.get('/hop')
  const { body } = await client.put<Echo>('/api/notes', [1], { headers: { 'X-Apikey': null, 'x-other': 'o' } })
  expect(body.headers).toEqual({ 'content-type': 'application/json', 'x-other': 'o' })
  expect(client.cookies.all()).toEqual([])
})

test('plays an app without cookies: the mode, then the bearer that an answer gave', async () => {
  const tokens = { accessToken: 'a.b.c', refreshToken: 'r' }
  const answers = {
    fetch: (request: Request) =>
      request.url.endsWith('/login') ? Promise.resolve(Response.json(tokens)) : echo(request),
  }
  const client = createTestClient(answers, { as: 'token' })

  expect((await client.get<Echo>('/api/notes')).body.headers).toEqual({ 'x-auth-mode': 'token' })
  await client.signIn({ email: 'ada@example.test', password: 'secret' })
  expect(client.tokens()).toEqual(tokens)
  expect((await client.get<Echo>('/api/notes')).body.headers).toEqual({
    'x-auth-mode': 'token',
    authorization: 'Bearer a.b.c',
  })
  expect((await client.refresh()).body).toMatchObject({
    body: '{"refreshToken":"r"}',
    headers: { 'x-auth-mode': 'token' },
  })
  await client.signOut()
  expect(client.tokens()).toBeNull()
})

test('follows redirects as a navigation, and only then', async () => {
  const client = createTestClient(auth)
  expect((await client.get('/hop')).status).toBe(303)

  const page = await client.open('/hop')
  expect([page.status, page.url.pathname]).toEqual([200, '/landed'])
  const submitted = await client.submit('/form', { email: 'ada@example.test' })
  expect(submitted.body).toMatchObject({
    method: 'POST',
    body: 'email=ada%40example.test',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-mode': 'navigate',
      origin: 'http://localhost:3000',
      cookie: 'hop=1',
    },
  })
})

test('gives JSON parsed, text as it is and nothing as null', async () => {
  const client = createTestClient(auth)
  expect((await client.get('/text')).body).toBe('plain')
  expect((await client.get('/none')).body).toBeNull()
  expect((await client.delete<Echo>('/api/notes/1')).body.method).toBe('DELETE')
  expect((await client.patch<Echo>('/api/notes/1', {})).body.method).toBe('PATCH')
})

test('talks to a real server like to an Auth, with headers that fetch would not let it set', async () => {
  const server = createServer((request, response) => {
    response.setHeader('set-cookie', ['a=1; Path=/', 'b=2; Path=/elsewhere'])
    response.setHeader('content-type', 'application/problem+json')
    response.end(JSON.stringify({ headers: request.headers, url: request.url }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const client = createTestClient(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)

  const first = await client.open('/start')
  expect(first.cookies.map(({ name }) => name)).toEqual(['a', 'b'])
  const second = await client.post<Echo>('/form', { text: 'ü' }, { headers: { origin: 'https://evil.test' } })
  expect(second.body.headers).toMatchObject({ cookie: 'a=1', origin: 'https://evil.test', 'content-length': '13' })
  expect(JSON.stringify(first.body)).toContain('"sec-fetch-mode":"navigate"')
})

test('is copied with its cookies, which then go their own way', async () => {
  const client = createTestClient(auth)
  await client.get('/hop')
  const thief = client.copy()
  client.cookies.clear()
  expect(thief.cookies.get('hop')).toBe('1')
})

test('says which step of a sign-up was refused, and how', async () => {
  const refusing = { fetch: async () => Response.json({ code: 'registration_disabled' }, { status: 403 }) }
  const signUp = createTestClient(refusing).signUp({ email: 'ada@example.test', password: 'secret' })
  await expect(signUp).rejects.toThrow(/register was answered with 403 .*registration_disabled/)
})
