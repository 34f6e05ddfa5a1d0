import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestOptions, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createContinueListener, createListener } from '../../../src/adapters/node/listener.js'
import { AuthError } from '../../../src/errors.js'
import { isPieces, reported } from '../../../src/http/message.js'
import { json } from '../../../src/http/problem.js'
import type { Route, RouteContext } from '../../../src/http/route.js'
import { ndjson } from '../../../src/http/streams/ndjson.js'
import { readLines } from '../../../src/http/streams/read-lines.js'
import { defineTokenRoute } from '../../../src/routes/admin/control-route.js'
import { hostAuth, stubTokens } from '../../support/host-auth.js'

const api = '/auth/admin/api/spaces/dev'
const mebibyte = 1024 * 1024

const described = { body: null, home: 'space', who: 'admin', command: 'export', summary: 'Streams.' } as const

function outRoute(lines: (context: RouteContext) => AsyncIterable<object>): Route {
  const route = { ...described, method: 'GET', path: '/out', adminToken: 'export', streams: 'out' } as const
  return defineTokenRoute({
    ...route,
    answers: { 200: 'lines' },
    handle: async (context) => ndjson(context, lines(context)),
  })
}

function bytesRoute(body: AsyncIterable<Uint8Array>): Route {
  const route = { ...described, method: 'GET', path: '/bytes', adminToken: 'export', streams: 'out' } as const
  return defineTokenRoute({ ...route, handle: async () => ({ status: 200, headers: {}, body }) })
}

function inRoute(handle: (pieces: AsyncIterable<Uint8Array>) => Promise<object>, limitBytes: number): Route {
  const route = { ...described, method: 'POST', path: '/in', adminToken: 'import', streams: 'in' } as const
  return defineTokenRoute({
    ...route,
    answers: { 200: 'lines' },
    handle: async (context) => json(200, await handle(context.upload(limitBytes))),
  })
}

/** Answers `{"read":n}` for each piece of the body, then what `end` gives. */
function bothRoute(end: () => object, limitBytes = 64 * mebibyte): Route {
  const route = { ...described, method: 'POST', path: '/both', adminToken: 'import', streams: 'both' } as const
  async function* rows(pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) yield { read: piece.length }
    yield end()
  }
  return defineTokenRoute({
    ...route,
    answers: { 200: 'lines' },
    handle: async (context) => ndjson(context, rows(context.upload(limitBytes))),
  })
}

/** A host with these routes on a real socket. */
async function serving(routes: readonly Route[], events: 'request' | 'checkContinue' = 'request') {
  const { asked, adminTokens } = stubTokens({ good: {} })
  const { auth, lines } = await hostAuth({ routes, adminTokens })
  const server = createServer()
  const listener = createListener(auth.handle)
  const continuing = createContinueListener(auth.handle)
  const responses: ServerResponse[] = []
  server.on('request', (req, res) => {
    responses.push(res)
    listener(req, res, () => res.end())
  })
  if (events === 'checkContinue') server.on('checkContinue', (req, res) => continuing(req, res, () => res.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = (method: string, path: string, options: RequestOptions = {}) => {
    const headers = { 'x-admintoken': 'good', ...options.headers }
    return request({ port, host: '127.0.0.1', method, path: api + path, agent: false, ...options, headers })
  }
  return { asked, lines, open, port, responses }
}

async function answerOf(
  sent: ReturnType<typeof request>,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const [response] = await once(sent, 'response')
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, text, headers: response.headers }
}

describe('an answer in pieces', () => {
  test('sends each line as soon as it is there', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    async function* lines() {
      yield { step: 'unpacked' }
      await gate
      yield { done: true }
    }
    const served = await serving([outRoute(lines)])
    const sent = served.open('GET', '/out').end()
    const [response] = await once(sent, 'response')
    expect(response.headers).toMatchObject({ 'content-type': 'application/jsonl', 'cache-control': 'no-store' })
    response.setEncoding('utf8')
    const texts: string[] = []
    response.on('data', (text: string) => texts.push(text))
    const ended = once(response, 'end')
    await vi.waitFor(() => expect(texts).toEqual(['{"step":"unpacked"}\n']))
    open()
    await ended
    expect(texts.join('')).toBe('{"step":"unpacked"}\n{"done":true}\n')
  })

  test('ends with the problem when an error comes after the head', async () => {
    async function* lines() {
      yield { step: 'unpacked' }
      throw new AuthError('bundle_invalid', { detail: 'The release has no entry.' })
    }
    const { open } = await serving([outRoute(lines)])
    const { status, text, headers } = await answerOf(open('GET', '/out').end())
    const [first, last, rest] = text.split('\n')
    expect([status, first, rest]).toEqual([200, '{"step":"unpacked"}', ''])
    expect(JSON.parse(last ?? '')).toEqual({
      error: expect.objectContaining({
        code: 'bundle_invalid',
        status: 422,
        detail: 'The release has no entry.',
        requestId: headers['x-request-id'],
      }),
    })
  })

  test('hides the words of an error that is not ours, and logs it', async () => {
    async function* lines() {
      yield { step: 1 }
      throw new Error('secret of a row')
    }
    const { open, lines: logged } = await serving([outRoute(lines)])
    const { text } = await answerOf(open('GET', '/out').end())
    expect(text).toContain('internal_error')
    expect(text).not.toContain('secret')
    expect(JSON.stringify(logged)).toContain('request_failed')
    expect(JSON.stringify(logged)).not.toContain('secret')
  })

  test('ends with the problem when a row is no JSON', async () => {
    async function* lines() {
      yield { step: 1 }
      yield { step: 2n }
    }
    const { open } = await serving([outRoute(lines)])
    const { text } = await answerOf(open('GET', '/out').end())
    expect(text).toMatch(/^\{"step":1\}\n\{"error":\{.*"code":"internal_error".*\}\}\n$/)
  })

  test('of bytes is cut off by an error, so that nobody takes a part for the whole', async () => {
    async function* bytes() {
      yield Buffer.from('a part')
      throw new Error('disk')
    }
    const { open, lines } = await serving([bytesRoute(bytes())])
    await expect(answerOf(open('GET', '/bytes').end())).rejects.toThrow(/aborted|ECONNRESET/)
    expect(JSON.stringify(lines)).toContain('request_failed')
  })

  test('waits for a client that reads slowly', async () => {
    let made = 0
    async function* bytes() {
      for (; made < 256; made += 1) yield Buffer.alloc(mebibyte)
    }
    const { open } = await serving([bytesRoute(bytes())])
    const sent = open('GET', '/bytes').end()
    const [response] = await once(sent, 'response')
    response.pause()
    let before = -1
    await vi.waitFor(
      () => {
        const now = made
        const same = now === before
        before = now
        expect(same).toBe(true)
      },
      { interval: 100, timeout: 10_000 },
    )
    expect(made).toBeLessThan(128)
    let size = 0
    for await (const chunk of response) size += chunk.length
    expect(size).toBe(256 * mebibyte)
  })

  test('ATK-208 is cut off when its client takes nothing for two minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let left = 0
    async function* bytes() {
      try {
        for (;;) yield Buffer.alloc(mebibyte)
      } finally {
        left += 1
      }
    }
    const { open } = await serving([bytesRoute(bytes())])
    const sent = open('GET', '/bytes').end()
    const [response] = await once(sent, 'response')
    response.pause()
    const cut = once(response, 'error')
    // What is sent before the client's buffers are full begins the wait anew.
    while (left === 0) {
      await new Promise(setImmediate)
      await vi.advanceTimersByTimeAsync(1_000)
    }
    response.resume()
    expect(await cut).toMatchObject([{ code: 'ECONNRESET' }])
  })

  test('sends an empty line when nothing comes for 15 s, so that no proxy cuts it off', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let open = () => {}
    async function* lines() {
      yield { line: 1 }
      await new Promise<void>((resolve) => {
        open = resolve
      })
      yield { line: 2 }
    }
    const answer = ndjson({ requestId: 'one', report: () => {} }, lines())
    if (!isPieces(answer.body)) throw new TypeError('The answer has no pieces.')
    const pieces = answer.body[Symbol.asyncIterator]()
    const next = async () => String((await pieces.next()).value)
    expect(await next()).toBe('{"line":1}\n')
    for (let quiet = 0; quiet < 2; quiet += 1) {
      const coming = next()
      await vi.advanceTimersByTimeAsync(14_999)
      expect(await Promise.race([coming, Promise.resolve('nothing')])).toBe('nothing')
      await vi.advanceTimersByTimeAsync(1)
      expect(await coming).toBe('\n')
    }
    open()
    expect(await next()).toBe('{"line":2}\n')
    expect((await pieces.next()).done).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('ends its source when the client leaves', async () => {
    const left = vi.fn(async () => ({ done: true, value: undefined }) as const)
    let sends = 0
    const endless: AsyncIterable<object> = {
      [Symbol.asyncIterator]: () => ({
        next() {
          sends += 1
          return sends === 1 ? Promise.resolve({ done: false, value: { line: 1 } }) : new Promise(() => {})
        },
        return: left,
      }),
    }
    const { open } = await serving([outRoute(() => endless)])
    const sent = open('GET', '/out').end()
    const [response] = await once(sent, 'response')
    await once(response, 'data')
    expect(left).not.toHaveBeenCalled()
    sent.on('error', () => {}).destroy()
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce())
  })

  test('of a reader that has left reports no fault of its closed source', async () => {
    const closing = () => {
      let fail = (_: Error) => {}
      const source: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () =>
            new Promise((_, reject) => {
              fail = reject
            }),
          async return() {
            fail(new AuthError('store_unavailable'))
            return { done: true, value: undefined }
          },
        }),
      }
      return source
    }
    const report = vi.fn()
    const answer = ndjson({ requestId: 'one', report }, closing())
    if (!isPieces(answer.body)) throw new TypeError('The answer has no pieces.')
    for (const pieces of [answer.body, reported(closing(), report)]) {
      const iterator = pieces[Symbol.asyncIterator]()
      const coming = iterator.next().catch(() => ({ done: true }))
      await iterator.return?.()
      expect(await coming).toMatchObject({ done: true })
    }
    expect(report).not.toHaveBeenCalled()
  })

  test('of HEAD has no body, and its source ends', async () => {
    const left = vi.fn(async () => ({ done: true, value: undefined }) as const)
    const next = vi.fn(async () => ({ done: true, value: undefined }) as const)
    const { open } = await serving([outRoute(() => ({ [Symbol.asyncIterator]: () => ({ next, return: left }) }))])
    expect(await answerOf(open('HEAD', '/out').end())).toMatchObject({ status: 200, text: '' })
    expect([left.mock.calls.length, next.mock.calls.length]).toEqual([1, 0])
  })
})

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

async function sizeOf(pieces: AsyncIterable<Uint8Array>): Promise<{ bytes: number }> {
  let bytes = 0
  for await (const piece of pieces) bytes += piece.length
  return { bytes }
}

describe('a body in pieces', () => {
  test('is not bound by the limit of other bodies, and not buffered', async () => {
    const { open } = await serving([inRoute(sizeOf, 64 * mebibyte)])
    const sent = open('POST', '/in', { headers: { 'content-type': 'application/gzip' } })
    for (let count = 0; count < 32; count += 1) if (!sent.write(Buffer.alloc(mebibyte))) await once(sent, 'drain')
    sent.end()
    expect(await answerOf(sent)).toMatchObject({ status: 200, text: JSON.stringify({ bytes: 32 * mebibyte }) })
  })

  test('over its own limit is 413, by its length and by its size', async () => {
    const { open } = await serving([inRoute(sizeOf, 10)])
    const declared = open('POST', '/in', { headers: { 'content-length': '11' } })
    declared.end('12345678901')
    expect((await answerOf(declared)).status).toBe(413)
    const chunked = open('POST', '/in')
    chunked.write('12345678901')
    chunked.end()
    expect((await answerOf(chunked)).status).toBe(413)
  })

  test('that breaks off never looks complete', async () => {
    const ended = vi.fn()
    const failed = vi.fn()
    const begun = vi.fn()
    const route = inRoute(async (pieces) => {
      const noted = async () => {
        for await (const piece of pieces) begun(piece.length)
      }
      await noted().then(ended, failed)
      return {}
    }, mebibyte)
    const { open } = await serving([route])
    const sent = open('POST', '/in', { headers: { 'content-length': '100' } })
    sent.on('error', () => {})
    sent.write('half')
    await vi.waitFor(() => expect(begun).toHaveBeenCalledWith(4))
    sent.destroy()
    await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce())
    expect(ended).not.toHaveBeenCalled()
  })

  test('is refused unread from another site, without a credential, as a form and compressed', async () => {
    const read = vi.fn(sizeOf)
    const { open, asked } = await serving([inRoute(read, mebibyte)])
    const refused = async (headers: Record<string, string>) => {
      const sent = open('POST', '/in', { headers: { 'content-length': '4', ...headers } })
      sent.end('body')
      const answer = await answerOf(sent)
      return [answer.status, JSON.parse(answer.text).code, answer.headers.connection]
    }
    expect(await refused({ 'x-admintoken': 'bad' })).toEqual([401, 'unauthenticated', 'close'])
    expect(await refused({ origin: 'https://evil.example' })).toEqual([403, 'forbidden', 'close'])
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await refused(form)).toEqual([415, 'unsupported_media_type', 'close'])
    expect(await refused({ 'content-encoding': 'gzip' })).toEqual([415, 'unsupported_media_type', 'close'])
    expect([read.mock.calls.length, asked]).toEqual([0, ['bad']])
  })

  test.each<[string, (pieces: AsyncIterable<Uint8Array>) => Promise<object>, Record<string, string>]>([
    ['before it is read', async () => ({}), {}],
    ['before its route is asked', async () => ({}), { 'x-admintoken': 'bad' }],
    ['although Node has told it to go on', async () => ({}), { 'x-admintoken': 'bad', expect: '100-continue' }],
    ['after its first piece', async (pieces) => ({ done: (await pieces[Symbol.asyncIterator]().next()).done }), {}],
  ])('is answered %s, and the client that goes on sending still gets the answer', async (_, handle, headers) => {
    const { port } = await serving([inRoute(handle, 64 * mebibyte)])
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const head = { host: 'localhost', 'x-admintoken': 'good', connection: 'close', ...headers }
    const lines = Object.entries({ ...head, 'content-length': `${32 * mebibyte}` }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    socket.write(`POST ${api}/in HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    for (let sent = 0; sent < 32; sent += 1) {
      await new Promise<void>((resolve, reject) => {
        socket.write(Buffer.alloc(mebibyte), (error) => (error ? reject(error) : resolve()))
      })
    }
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (200|401) /)
    expect(text.trimEnd().endsWith('}')).toBe(true)
  })

  test('is answered at once when it never comes, and the connection closes soon after', async () => {
    const { port } = await serving([inRoute(sizeOf, 64 * mebibyte)])
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST ${api}/in HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n`)
    const [first] = await once(socket, 'data')
    expect(String(first)).toMatch(/^HTTP\/1\.1 401 [\s\S]*\}$/)
    await once(socket, 'end')
  })

  test('of a client that has gone keeps no answer waiting', async () => {
    const ended = vi.fn()
    const route = inRoute(async (pieces) => {
      await sizeOf(pieces).catch(ended)
      throw new AuthError('invalid_request')
    }, mebibyte)
    const { port, responses } = await serving([route])
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST ${api}/in HTTP/1.1\r\nhost: localhost\r\nx-admintoken: good\r\ncontent-length: 1000\r\n\r\nhalf`)
    await vi.waitFor(() => expect(responses).toHaveLength(1))
    // Nothing may wait for a timer.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    socket.resetAndDestroy()
    while (responses[0]?.writableEnded !== true) await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toHaveBeenCalledOnce()
  })

  test('the client that asks first is told to go on once the body is read', async () => {
    const { open } = await serving([inRoute(sizeOf, 10)], 'checkContinue')
    const sent = open('POST', '/in', { headers: { expect: '100-continue', 'content-length': '4' } })
    sent.flushHeaders()
    await once(sent, 'continue')
    sent.end('body')
    expect(await answerOf(sent)).toMatchObject({ status: 200, text: '{"bytes":4}' })
  })

  test('the client that asks first gets a refusal instead', async () => {
    const { open } = await serving([inRoute(sizeOf, 10)], 'checkContinue')
    const went = vi.fn()
    for (const headers of [{ 'x-admintoken': 'bad', 'content-length': '4' }, { 'content-length': '11' }]) {
      const sent = open('POST', '/in', { headers: { expect: '100-continue', ...headers } }).on('continue', went)
      sent.flushHeaders()
      const { status, headers: received } = await answerOf(sent)
      expect([401, 413]).toContain(status)
      expect(received.connection).toBe('close')
      sent.destroy()
    }
    expect(went).not.toHaveBeenCalled()
  })

  test('is read whole before its answer begins, because nginx passes on no more of it from then on', async () => {
    const { port, open, responses } = await serving([
      bothRoute(() => ({ done: true })),
      outRoute(async function* () {}),
    ])
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let text = ''
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    const head = `host: localhost\r\nx-admintoken: good\r\nconnection: close\r\ncontent-length: 10`
    socket.write(`POST ${api}/both HTTP/1.1\r\n${head}\r\n\r\n`)
    for (const [index, part] of ['first', 'rest'].entries()) {
      socket.write(part)
      await vi.waitFor(() => expect(responses[0]?.req.readableLength).toBe(0))
      // Whatever the first answer sends by now is there before this one.
      await answerOf(open('GET', '/out').end())
      expect([text, responses[0]?.headersSent, responses.length]).toEqual(['', false, index + 2])
    }
    socket.write('!')
    await once(socket, 'end')
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text.match(/\{.*?\}/g)).toEqual(['{"read":5}', '{"read":4}', '{"read":1}', '{"done":true}'])
  })

  test('that is too large ends its answer at once', async () => {
    const { open } = await serving([bothRoute(() => ({ done: true }), 8)])
    const sent = open('POST', '/both')
    onTestFinished(() => void sent.destroy())
    sent.on('error', () => {}).write('more than eight bytes')
    const [response] = await once(sent, 'response')
    const [line] = await once(response, 'data')
    expect(JSON.parse(String(line))).toMatchObject({ error: { code: 'payload_too_large' } })
  })

  test('holds back no more than a mebibyte of its answer, and loses none of it', async () => {
    const route = { ...described, method: 'POST', path: '/long', adminToken: 'import', streams: 'both' } as const
    const text = 'x'.repeat(64 * 1024)
    let isFull = () => {}
    let goOn = () => {}
    const full = new Promise<void>((resolve) => {
      isFull = resolve
    })
    async function* lines(pieces: AsyncIterable<Uint8Array>) {
      await pieces[Symbol.asyncIterator]().next()
      for (let row = 0; row < 15; row += 1) yield { row, text }
      isFull()
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      for (let row = 15; row < 20; row += 1) yield { row, text }
    }
    const long = defineTokenRoute({
      ...route,
      answers: { 200: 'lines' },
      handle: async (context) => ndjson(context, lines(context.upload(mebibyte))),
    })
    const { open, responses } = await serving([long])
    const sent = open('POST', '/long')
    sent.write('a part')
    await full
    expect(responses[0]?.headersSent).toBe(false)
    goOn()
    const [response] = await once(sent, 'response')
    sent.end()
    let answer = ''
    for await (const chunk of response) answer += chunk
    const rows = answer.trim().split('\n')
    expect(rows.map((row) => JSON.parse(row).row)).toEqual(Array.from({ length: 20 }, (_, row) => row))
  })

  test('of a client that has gone while the answer is held back ends the source of the answer', async () => {
    const left = vi.fn()
    const route = { ...described, method: 'POST', path: '/held', adminToken: 'import', streams: 'both' } as const
    const held = defineTokenRoute({
      ...route,
      answers: { 200: 'lines' },
      handle: async (context) => {
        const pieces = context.upload(mebibyte)[Symbol.asyncIterator]()
        await pieces.next()
        let sends = 0
        const next = () => {
          sends += 1
          return sends === 1 ? Promise.resolve({ done: false, value: {} }) : new Promise<never>(() => {})
        }
        return ndjson(context, { [Symbol.asyncIterator]: () => ({ next, return: async () => left() }) })
      },
    })
    const { open, responses } = await serving([held])
    const sent = open('POST', '/held')
    sent.on('error', () => {}).write('a part')
    await vi.waitFor(() => expect(responses).toHaveLength(1))
    sent.destroy()
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce())
  })

  test('is read by lines, wherever the pieces are cut', async () => {
    const text = Buffer.from('{"a":"ü"}\r\n\n{"b":1}\nlast')
    for (let size = 1; size <= text.length; size += 1) {
      async function* cut() {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
      }
      const lines = await collected(readLines(cut(), 20))
      expect(lines).toEqual(['{"a":"ü"}', '', '{"b":1}', 'last'].map((line) => ({ text: line })))
    }
  })

  test('a line that is not UTF-8 or too long is one fault, and the lines after it are read', async () => {
    async function* of(...pieces: Uint8Array[]) {
      yield* pieces
    }
    expect(await collected(readLines(of(Buffer.from([0xff, 0x0a, 0x61])), 20))).toEqual([
      { fault: 'not_utf8' },
      { text: 'a' },
    ])
    const long = Buffer.alloc(15, 'x')
    const found = await collected(readLines(of(long, long, Buffer.from('x\na\n'), long, long), 20))
    expect(found).toEqual([{ fault: 'too_long' }, { text: 'a' }, { fault: 'too_long' }])
  })
})

test('an application has no route that streams', async () => {
  const { createRouter } = await import('../../../src/http/router.js')
  const { ports, auth } = await hostAuth()
  const options = { routes: [inRoute(sizeOf, 1)], settings: auth.settings, ports: { ...ports, home: 'application' } }
  // The check comes first, so the other parts are not needed.
  expect(() => Reflect.apply(createRouter, undefined, [options])).toThrow(/only the host/)
})
