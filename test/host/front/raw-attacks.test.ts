import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type StubChild, startChild, startRawChild, startSpaces } from '../../support/host-front.js'
import { type RawAnswer, rawConnection, rawRequest } from '../../support/raw-http.js'
import { readVectors } from '../../support/vectors.js'

/** All answers to these bytes, until the server ends the connection or `count` have come. */
async function answersTo(port: number, bytes: string, count: number): Promise<RawAnswer[]> {
  const connection = await rawConnection(port)
  const answers: RawAnswer[] = []
  connection.write(bytes)
  try {
    while (answers.length < count) answers.push(await connection.answer())
  } catch {
    // The server has ended the connection.
  }
  connection.destroy()
  return answers
}

const smuggled = 'GET /dev/smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n'

describe('ATK-149 request smuggling', () => {
  test.each([
    ['a length and chunks', `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`],
    ['two lengths', `Content-Length: 0\r\nContent-Length: 5\r\n\r\n${smuggled}`],
    ['two equal lengths', `Content-Length: 0\r\nContent-Length: 0\r\n\r\n${smuggled}`],
    ['a list of lengths', `Content-Length: 0, 5\r\n\r\n${smuggled}`],
    ['a signed length', `Content-Length: +0\r\n\r\n${smuggled}`],
    ['a negative length', `Content-Length: -1\r\n\r\n${smuggled}`],
    ['a hexadecimal length', `Content-Length: 0x5\r\n\r\n${smuggled}`],
    ['an unknown encoding', `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunks that are not last', `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['two encodings', `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a space before the colon', `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a name that is no token', `Transfer\xa0Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a folded encoding', `Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a bare LF after a header', `X-A: 1\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a bare CR in a header', `X-A: 1\rTransfer-Encoding: chunked\r\n\r\n${smuggled}`],
    ['a bare LF at the end of the head', `X-A: 1\n\n${smuggled}`],
    ['NUL in a header', `X-A: a\0b\r\n\r\n${smuggled}`],
    ['a chunk with a bare LF', `Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n${smuggled}`],
    ['a chunk longer than it says', `Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${smuggled}`],
    ['a negative chunk', `Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${smuggled}`],
    ['a chunk size with 0x', `Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n${smuggled}`],
    ['a chunk size that overflows', `Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n${smuggled}`],
  ])('%s is refused, and the rest of the connection is not read as a request', async (_, rest) => {
    const { port, host, child } = await startSpaces(await startChild())
    const answers = await answersTo(
      port,
      `POST /dev/first HTTP/1.1\r\n${host}\r\n${rest}`.replaceAll('HOST', `127.0.0.1:${port}`),
      2,
    )
    // A body that breaks off later may end the connection without an answer.
    expect(answers.map(({ status }) => status).filter((status) => status !== 400)).toEqual([])
    expect(answers.length).toBeLessThan(2)
    expect(child.received.filter(({ url }) => url === '/dev/smuggled')).toEqual([])
  })

  test('chunks of HTTP/1.0 are refused', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    const bytes = `POST /dev/x HTTP/1.0\r\n${host}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    const [answer, second] = await answersTo(port, bytes + smuggled.replace('HOST', `127.0.0.1:${port}`), 2)
    expect([answer?.status, answer?.headers.connection, second]).toEqual([400, ['close'], undefined])
    expect(child.received).toEqual([])
  })

  test('chunk extensions and trailers do not reach the child; the body is framed anew', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    const trailers = 'X-Latchkey-Hop: forged\r\nX-Real-IP: 203.0.113.9'
    await rawRequest(
      port,
      `POST /dev/x HTTP/1.1\r\n${host}\r\nTransfer-Encoding: CHUNKED\r\nTrailer: X-Latchkey-Hop\r\n\r\n` +
        `2;a="b\\"c";x=1\r\nhe\r\n3\r\nllo\r\n0;last\r\n${trailers}\r\n\r\n`,
    )
    expect(child.received).toMatchObject([{ body: 'hello' }])
    expect(JSON.stringify(child.received)).not.toMatch(/forged|203\.0\.113|trailer"/)
    const framing = child.received[0]?.headers.filter(([name]) => /^(content-length|transfer-encoding)$/.test(name))
    expect(framing).toHaveLength(1)
  })

  test('chunk extensions without end are refused', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    const connection = await rawConnection(port)
    connection.write(`POST /dev/x HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    for (let count = 0; count < 64; count += 1) connection.write(`${count === 0 ? '2' : ''};${'a'.repeat(1024)}`)
    await connection.closed()
    expect(child.received.filter(({ body }) => body !== '')).toEqual([])
  })

  test('a folded header reaches the child as one line, or not at all', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    await answersTo(port, `GET /dev/x HTTP/1.1\r\n${host}\r\nX-A: 1\r\n X-Latchkey-Hop: forged\r\n\r\n`, 1)
    const hops = child.received.flatMap(({ headers }) => headers.filter(([name]) => name === 'x-latchkey-hop'))
    expect(hops.flat()).not.toContain('forged')
    expect(hops).toHaveLength(child.received.length)
  })

  test('a body cannot begin a second request: the child gets exactly what was framed', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    const body = smuggled.replace('HOST', `127.0.0.1:${port}`)
    for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
      await rawRequest(port, `${method} /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
    expect(child.received.map((request) => [request.url, request.body])).toEqual(
      Array.from({ length: 4 }, () => ['/dev/x', body]),
    )
  })

  test('values of the vectors inject no header', async () => {
    const { port, host, child } = await startSpaces(await startChild())
    const { cases } = readVectors<{ cases: { value: unknown }[] }>('header-injection')
    const values = [...new Set(cases.flatMap(({ value }) => (typeof value === 'string' ? [value] : [])))]
    for (const value of values) {
      await answersTo(port, `GET /dev/x HTTP/1.1\r\n${host}\r\nConnection: close\r\nX-Own: ${value}\r\n\r\n`, 1)
    }
    expect(values.length).toBeGreaterThan(0)
    for (const { headers } of child.received) {
      // Only a line that the client itself framed as a header is one.
      for (const [name] of headers) expect(name).toMatch(/^[\w-]+$/)
      expect(headers.filter(([name]) => name === 'x-latchkey-hop')).toHaveLength(1)
    }
  })

  test.each([
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01',
    'GET /dev/x\r\n\r\n',
    'GET /dev/x HTTP/3.0\r\n\r\n',
  ])('%j is no request', async (bytes) => {
    const { port, child } = await startSpaces(await startChild())
    const answers = await answersTo(port, bytes, 1)
    expect(answers.map(({ status }) => status)).toEqual([bytes === 'GET /dev/x\r\n\r\n' ? 421 : 400])
    expect(child.received).toEqual([])
  })
})

describe('ATK-155 slow clients', () => {
  const times = { headersMs: 300, keepAliveMs: 300, takeMs: 300 }

  test.each([
    ['sends nothing', ''],
    ['stops in the target', 'GET /dev/'],
    ['stops in the headers', 'GET /dev/x HTTP/1.1\r\nX-A: 1\r\n'],
  ])('a connection that %s ends', async (_, bytes) => {
    const { port, child } = await startSpaces(await startChild(), {}, { times })
    const connection = await rawConnection(port)
    connection.write(bytes)
    await connection.closed()
    expect(child.received).toEqual([])
  })

  test('a connection that sends its headers byte by byte ends', async () => {
    const { port } = await startSpaces(await startChild(), {}, { times })
    const connection = await rawConnection(port)
    connection.write('GET /dev/x HTTP/1.1\r\n')
    const drip = setInterval(() => connection.write('a'), 20)
    await connection.closed()
    clearInterval(drip)
  })

  test('a connection that sends no second request ends, and one that trickles it does too', async () => {
    const { port, host } = await startSpaces(await startChild(), {}, { times })
    for (const rest of ['', 'GET /dev/x HTTP/1.1\r\n']) {
      const connection = await rawConnection(port)
      connection.write(`GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
      expect((await connection.answer()).status).toBe(200)
      connection.write(rest)
      await connection.closed()
    }
  })
})

describe('ATK-163 bad answers of a child', () => {
  const good = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood'
  const bad: Readonly<Record<string, string>> = {
    'two encodings': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'two different encodings':
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'a list of encodings': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'another encoding': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\nconnection: close\r\n\r\nx',
    'a length and chunks': 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'two equal lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nab',
    'a signed length': 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nab',
    'a bare LF in a header': 'HTTP/1.1 200 OK\r\nx-a: 1\nset-cookie: a=1\r\ncontent-length: 2\r\n\r\nab',
    'a bare CR in a header': 'HTTP/1.1 200 OK\r\nx-a: 1\rset-cookie: a=1\r\ncontent-length: 2\r\n\r\nab',
    'NUL in a header': 'HTTP/1.1 200 OK\r\nx-a: a\0b\r\ncontent-length: 2\r\n\r\nab',
    'a space before the colon': 'HTTP/1.1 200 OK\r\nx-accel-redirect : /x\r\ncontent-length: 2\r\n\r\nab',
    'a name that is no token': 'HTTP/1.1 200 OK\r\nx a: 1\r\ncontent-length: 2\r\n\r\nab',
    'a forged 100': `HTTP/1.1 100 Continue\r\n\r\n${good}`,
    'a forged 101': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'a forged 102': `HTTP/1.1 102 Processing\r\n\r\n${good}`,
    'a forged 103': `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${good}`,
    'a forged 199': `HTTP/1.1 199 X\r\nset-cookie: a=1\r\n\r\n${good}`,
    'the status 099': 'HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n',
    'the status 600': 'HTTP/1.1 600 X\r\ncontent-length: 0\r\n\r\n',
    'no HTTP': 'good morning\r\n\r\n',
    nothing: '',
  }

  /** A child that gives the bad answer to `/dev/bad`, ends the connection where it says nothing, and serves all others. */
  function startBadChild(answer: (socket: Socket) => void): Promise<StubChild> {
    return startRawChild((socket, bytes) => {
      if (bytes.includes('/dev/good')) socket.write(good)
      else if (bytes.includes('/dev/bad')) answer(socket)
    })
  }

  test.each(Object.entries(bad))(
    '%s is 502, that connection is dropped, and the next client is unharmed',
    async (_, bytes) => {
      const child = await startBadChild((socket) =>
        bytes === '' ? socket.end() : socket.write(Buffer.from(bytes, 'latin1')),
      )
      const { port, host, url, log } = await startSpaces(child)
      const answer = await rawRequest(port, `GET /dev/bad HTTP/1.1\r\n${host}\r\n\r\n`)
      expect(answer.status).toBe(502)
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'application_failed' })
      expect(answer.headers['set-cookie']).toBeUndefined()
      await expect.poll(() => child.sockets.size).toBe(0)
      expect(await (await fetch(`${url}/dev/good`)).text()).toBe('good')
      expect(child.running()).toBe(0)
      expect(log).toMatchObject([{ event: 'request_failed', code: 'application_failed' }])
    },
  )

  test('headers of 100 MB are 502 long before they have come, whether one or many', async () => {
    for (const piece of ['a'.repeat(64 * 1024), `x-a: ${'b'.repeat(1000)}\r\n`.repeat(64)]) {
      let written = 0
      const child = await startBadChild((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-first: ')
        const write = () => {
          while (written < 100 * 1024 * 1024 && !socket.destroyed) {
            written += piece.length
            if (!socket.write(piece)) return socket.once('drain', write)
          }
          return socket
        }
        write()
      })
      const { url } = await startSpaces(child)
      expect((await fetch(`${url}/dev/bad`)).status).toBe(502)
      await expect.poll(() => child.sockets.size).toBe(0)
      expect(written).toBeLessThan(10 * 1024 * 1024)
      expect(await (await fetch(`${url}/dev/good`)).text()).toBe('good')
    }
  })

  test('a body longer than its length is cut, and the bytes behind it answer no other request', async () => {
    const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'
    for (const later of [false, true]) {
      const child = await startBadChild((socket) => {
        socket.write(later ? good : good + forged)
        if (later) setImmediate(() => socket.write(forged))
      })
      const { port, host, url } = await startSpaces(child)
      const connection = await rawConnection(port)
      connection.write(`GET /dev/bad HTTP/1.1\r\n${host}\r\n\r\n`)
      expect((await connection.answer()).body.toString()).toBe('good')
      await expect.poll(() => child.sockets.size).toBe(0)
      connection.write(`GET /dev/good HTTP/1.1\r\n${host}\r\n\r\n`)
      expect((await connection.answer()).body.toString()).toBe('good')
      expect(await (await fetch(`${url}/dev/good`)).text()).toBe('good')
      connection.destroy()
    }
  })

  test('a body shorter than its length cuts the connection of the client', async () => {
    const child = await startBadChild((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart'))
    const { port, host, url } = await startSpaces(child)
    await expect(rawRequest(port, `GET /dev/bad HTTP/1.1\r\n${host}\r\n\r\n`)).rejects.toThrow(/the connection ended/)
    expect(await (await fetch(`${url}/dev/good`)).text()).toBe('good')
  })

  test('a body after HEAD, 204 or 304 is no answer of the next client', async () => {
    for (const [method, head] of [
      ['HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 6'],
      ['GET', 'HTTP/1.1 204 No Content'],
      ['GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 6'],
    ]) {
      const child = await startBadChild((socket) =>
        socket.write(`${head}\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged`),
      )
      const { port, host, url } = await startSpaces(child)
      const answer = await rawRequest(port, `${method} /dev/bad HTTP/1.1\r\n${host}\r\n\r\n`)
      expect(answer.body.toString()).toBe('')
      expect(await (await fetch(`${url}/dev/good`)).text()).toBe('good')
    }
  })

  test('a folded header reaches the client as one line, or not at all', async () => {
    const child = await startBadChild((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nx-a: 1\r\n set-cookie: a=1\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'),
    )
    const { port, host } = await startSpaces(child)
    const answer = await rawRequest(port, `GET /dev/bad HTTP/1.1\r\n${host}\r\n\r\n`)
    expect([200, 502]).toContain(answer.status)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('trailers of an answer do not reach the client', async () => {
    const child = await startBadChild((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: set-cookie\r\n\r\n2\r\nok\r\n0\r\nset-cookie: a=1\r\n\r\n',
      ),
    )
    const { port, host } = await startSpaces(child)
    const connection = await rawConnection(port)
    connection.write(`GET /dev/bad HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`)
    const answer = await connection.answer()
    expect([answer.body.toString(), answer.headers.trailer]).toEqual(['ok', undefined])
    connection.destroy()
  })
})
