import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, ada, attackServer, expectRefusal } from '../support/attack-server.js'
import { rawConnection } from '../support/raw-http.js'
import { readVectors } from '../support/vectors.js'

const server = await attackServer()
/** Node gives up on a request after 300 s of its own accord; here after a moment, looked at often. */
const hurried = await attackServer({
  server: { requestTimeout: 2_000, headersTimeout: 2_000, connectionsCheckingInterval: 50 },
})
afterAll(() => Promise.all([server.close(), hurried.close()]))
beforeAll(() => Promise.all([server, hurried].map((each) => each.client().signUp(ada))))

const { size_and_framing: vectors } = readVectors<{ size_and_framing: { id: string }[] }>('request-bodies')

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
const keys = (count: number, name: (index: number) => string) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), 1])))

function login(type: string, body: string, more: Readonly<Record<string, string>> = {}, at = server): Promise<Answer> {
  const length = String(Buffer.byteLength(body))
  return at.ask('POST', '/auth/login', {
    headers: { 'content-type': type, 'content-length': length, ...more },
    body,
  })
}

const multipart = Object.entries(ada)
  .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  .join('')

/** Each with the statuses that it may end with. */
const refused: Readonly<Record<string, [number[], () => Promise<Answer>]>> = {
  'depth-object': [[400, 413], () => login(json, `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)],
  'depth-object within the limit': [[400], () => login(json, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)],
  'depth-array within the limit': [[400], () => login(json, `{"email":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)],
  wide: [
    [413],
    () =>
      login(
        json,
        keys(1_000_000, (index) => `k${index}`),
      ),
  ],
  'hash-collide': [[413], () => login(json, keys(100_000, String))],
  'hash-collide within the limit': [[400], () => login(json, keys(6_000, String))],
  'long-string': [[413], () => login(json, JSON.stringify({ ...ada, password: 'x'.repeat(1_048_576) }))],
  'long-string within the limit': [[400], () => login(json, JSON.stringify({ ...ada, password: 'x'.repeat(60_000) }))],
  multipart: [[415], () => login('multipart/form-data; boundary=b', `${multipart}--b--\r\n`)],
  'json-charset-utf16': [[415], () => login(`${json}; charset=utf-16`, JSON.stringify(ada))],
  'content-type-list': [[415], () => login(`text/plain, ${json}`, JSON.stringify(ada))],
  'content-type-list reversed': [[415], () => login(`${json}, text/plain`, JSON.stringify(ada))],
  'content-type of another kind': [[415], () => login('application/jsonp', JSON.stringify(ada))],
  'query-instead-of-body': [[400], () => server.ask('POST', `/auth/login?${new URLSearchParams(ada)}`)],
}

/** Tested below, in a way of their own. */
const others = [
  'gzip-bomb',
  'chunked-endless',
  'slow-body',
  'urlencoded-brackets',
  'urlencoded-proto',
  'content-type-case',
  'get-login',
]

describe('ATK-110 size and framing', () => {
  test('ATK-110 every entry of the vectors has a test', () => {
    const ids = vectors.map(({ id }) => id)
    expect(ids.filter((id) => !(id in refused) && !others.includes(id))).toEqual([])
    expect(ids).toHaveLength(15)
  })

  test.each(Object.entries(refused))('ATK-110 %s is refused', async (_id, [statuses, ask]) => {
    const answer = await ask()
    expectRefusal(answer, ...statuses)
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('ATK-110 get-login: credentials in an address sign nobody in, and the page there does not repeat them', async () => {
    const answer = await server.ask('GET', `/auth/login?${new URLSearchParams(ada)}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(answer.body).not.toMatch(/ada@|battery/)
  })

  test('ATK-110 content-type-case: the same type in another case is the same type', async () => {
    expect((await login('APPLICATION/JSON; Charset=UTF-8', JSON.stringify(ada))).status).toBe(200)
  })

  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'x'])(
    'ATK-110 gzip-bomb: a body in Content-Encoding %s is not even read',
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(10 << 20)).toString('latin1')
      const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${json}\r\nContent-Encoding: ${encoding}\r\n`
      expectRefusal(await server.raw(`${head}Content-Length: ${bomb.length}\r\n\r\n${bomb}`), 413, 415)
    },
  )

  // A form fails by 303 to its page with `?error=` (product.md 3), and needs to come from our own pages at all.
  test.each([
    ['urlencoded-brackets', 'email[$ne]=&password[$ne]='],
    ['urlencoded-proto', '__proto__[role]=ADMIN&email=a%40example.com'],
    ['a field twice', 'email=a%40example.com&email=b%40example.com&password=x'],
    ['a field that is an array', 'email[]=ada%40example.test&password=correct+horse+battery'],
    ['an override of the method', 'email=ada%40example.test&password=correct+horse+battery&_method=GET'],
    ['a broken escape', 'email=%zz&password=x'],
  ])('ATK-110 %s in a form signs nobody in and pollutes nothing', async (_id, body) => {
    const own = await login(form, body, { origin: server.url })
    if (own.status === 303)
      expect(own.headers.get('location')).toMatch(/\/auth\/login\?error=invalid_request(?:&reasons=invalid_email)?$/)
    else expectRefusal(own, 400)
    expectRefusal(await login(form, body), 400, 403)
    expect(own.headers.getSetCookie()).toEqual([])
    expect(Reflect.get({}, 'role')).toBeUndefined()
  })

  test('ATK-110 chunked-endless: an endless body is cut off at the limit, and so is the connection', async () => {
    const connection = await rawConnection(server.port)
    const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${json}\r\nTransfer-Encoding: chunked\r\n\r\n`
    connection.write(head)
    const answered = connection.answer()
    let sent = 0
    for (let over = false; !over && sent < 1 << 20; sent += 1_024) {
      connection.write('1\r\n \r\n'.repeat(1_024))
      over = await Promise.race([answered.then(() => true), new Promise<false>((go) => setTimeout(go, 1, false))])
    }
    expect((await answered).status).toBe(413)
    expect(sent).toBeGreaterThan(64 << 10)
    await connection.closed()
  })

  test('ATK-110 slow-body: whoever dribbles is cut off by the time limit of node, and nobody waits for them', async () => {
    const slow = await Promise.all(Array.from({ length: 5 }, () => rawConnection(hurried.port)))
    const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${json}\r\nContent-Length: 60000\r\n\r\n{`
    for (const connection of slow) connection.write(head)
    const dribble = setInterval(() => slow.map((connection) => connection.write(' ')), 50)
    expect((await login(json, JSON.stringify(ada), {}, hurried)).status).toBe(200)
    const answers = await Promise.allSettled(slow.map((connection) => connection.answer()))
    clearInterval(dribble)
    for (const answer of answers) if (answer.status === 'fulfilled') expect([408, 413]).toContain(answer.value.status)
    await Promise.all(slow.map((connection) => connection.closed()))
    expect((await login(json, JSON.stringify(ada), {}, hurried)).status).toBe(200)
  })

  const smuggled = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${json}\r\n`
  test.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} '],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a length below nothing', 'Content-Length: -1\r\n\r\n{}'],
    ['a length in hexadecimal', 'Content-Length: 0x2\r\n\r\n{}'],
    ['an unknown transfer encoding', 'Transfer-Encoding: xchunked\r\n\r\n{}'],
    ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'],
  ])('ATK-110 %s is refused', async (_what, rest) => {
    expectRefusal(await server.raw(smuggled + rest), 400, 413)
  })
})
