import { createHash } from 'node:crypto'
import { request as httpRequest, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Watch } from '../../../src/http/verdict.js'
import type { Principal } from '../../../src/model/principal.js'
import { type StubSpace, startChild, startRawChild, startSpaces } from '../../support/host-front.js'
import { rawConnection, rawRequest } from '../../support/raw-http.js'

const start = async (listener?: RequestListener, stub?: Partial<StubSpace>) =>
  startSpaces(await startChild(listener), stub)
const startRaw = async (talk: (socket: Socket, bytes: string) => void, stub?: Partial<StubSpace>) =>
  startSpaces(await startRawChild(talk), stub)

const shortly = { limits: { requestMs: 200 } }

describe('a body', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'of %s reaches the child, with a length and in chunks',
    async (method) => {
      const { port, host, child } = await start()
      await rawRequest(port, `${method} /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\n\r\nhello`)
      await rawRequest(
        port,
        `${method} /dev/x HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      )
      await rawRequest(port, `${method} /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 0\r\n\r\n`)
      expect(child.received.map(({ body }) => body)).toEqual(['hello', 'hello', ''])
      expect(child.received.map((received) => received.method)).toEqual([method, method, method])
    },
  )

  test('of 32 MiB passes whole in both directions', async () => {
    const { url } = await start((request, response) => {
      response.setHeader('content-length', request.headers['content-length'] ?? '0')
      request.pipe(response)
    })
    const sent = Buffer.alloc(32 * 1024 * 1024, 'latchkey')
    const answer = await fetch(`${url}/dev/x`, { method: 'POST', body: sent })
    const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    expect(digest(new Uint8Array(await answer.arrayBuffer()))).toBe(digest(sent))
  })

  test('waits for a child that does not read, instead of filling memory', async () => {
    let read: () => unknown = () => {}
    let bytes = 0
    const size = 64 * 1024 * 1024
    const { port, host, server } = await startRaw((socket, text) => {
      if (bytes === 0) socket.pause()
      bytes += text.length
      if (bytes > size) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      read = () => socket.resume()
    })
    const sockets: Socket[] = []
    server.on('connection', (socket) => sockets.push(socket))
    const headers = { host: host.slice(6), 'content-length': size }
    const asked = httpRequest({ port, path: '/dev/x', method: 'POST', headers })
    const answered = new Promise((resolve) => asked.on('response', (response) => resolve(response.resume().statusCode)))
    asked.end(Buffer.alloc(size))
    const taken = () => sockets[0]?.bytesRead ?? 0
    await expect.poll(taken).toBeGreaterThan(64 * 1024)
    await new Promise((resolve) => setTimeout(resolve, 300))
    // What the front, the child and the socket between them hold; all the rest is still with the client.
    expect(taken()).toBeLessThan(16 * 1024 * 1024)
    read()
    expect(await answered).toBe(200)
  })

  test('of an answer waits for a client that does not read', async () => {
    let written = 0
    const { port, host } = await start((_request, response) => {
      const write = () => {
        do written += 64 * 1024
        while (response.write(Buffer.alloc(64 * 1024)))
      }
      response.on('drain', write)
      write()
    })
    const connection = await rawConnection(port)
    connection.pause()
    connection.write(`GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    await expect.poll(() => written).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(written).toBeLessThan(16 * 1024 * 1024)
    connection.destroy()
  })
})

describe('an answer', () => {
  test('to HEAD, 204 and 304 has no body, and the connection goes on', async () => {
    const { port, host } = await start((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '5' }).end()
      else response.writeHead(Number(request.url?.slice(5))).end()
    })
    const connection = await rawConnection(port)
    connection.write(`HEAD /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    expect(await connection.answer('HEAD')).toMatchObject({ status: 200, headers: { 'content-length': ['5'] } })
    for (const status of [204, 304, 200]) {
      connection.write(`GET /dev/${status} HTTP/1.1\r\n${host}\r\n\r\n`)
      expect((await connection.answer()).status).toBe(status)
    }
    connection.destroy()
  })

  test('without a length reaches HTTP/1.0 until the end of the connection, and HTTP/1.1 in chunks', async () => {
    const { port, host } = await startRaw((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it'),
    )
    const old = await rawRequest(port, `GET /dev/x HTTP/1.0\r\n${host}\r\n\r\n`)
    expect([old.body.toString(), old.headers['transfer-encoding']]).toEqual(['all of it', undefined])
    const now = await rawRequest(port, `GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    expect([now.body.toString(), now.headers['transfer-encoding']]).toEqual(['all of it', ['chunked']])
  })

  test('that ends before the body of the request was sent closes the connection after it', async () => {
    const { port, host } = await start((_request, response) => response.writeHead(400).end('no'))
    const connection = await rawConnection(port)
    connection.write(`POST /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 1000000\r\n\r\npart`)
    const answer = await connection.answer()
    expect([answer.status, answer.headers.connection, answer.body.toString()]).toEqual([400, ['close'], 'no'])
    await connection.closed()
  })

  test('that breaks off in the middle is cut off for the client too', async () => {
    const { port, host, child } = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n')
      setImmediate(() => socket.destroy())
    })
    await expect(rawRequest(port, `GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)).rejects.toThrow(/the connection ended/)
    expect(child.running()).toBe(0)
  })

  test('of an event stream arrives event by event', async () => {
    let send = (_text: string) => {}
    const { url } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      send = (text) => void response.write(text)
      response.flushHeaders()
    })
    const answer = await fetch(`${url}/dev/events`)
    const reader = answer.body?.getReader()
    for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
      send(text)
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(text)
    }
    await reader?.cancel()
  })

  test('comes over connections to the child that are used again', async () => {
    const { url, child } = await start()
    for (let count = 0; count < 5; count += 1) await (await fetch(`${url}/dev/x`)).text()
    expect(child.sockets.size).toBe(1)
  })
})

describe('pipelined requests', () => {
  test('of one connection run one after another, in order', async () => {
    const order: string[] = []
    const { port, host, child } = await start((request, response) => {
      order.push(`start ${request.url}`)
      setTimeout(() => {
        order.push(`end ${request.url}`)
        response.end(request.url)
      }, 20)
    })
    const connection = await rawConnection(port)
    connection.write([1, 2, 3].map((n) => `GET /dev/${n} HTTP/1.1\r\n${host}\r\n\r\n`).join(''))
    for (const n of [1, 2, 3]) expect((await connection.answer()).body.toString()).toBe(`/dev/${n}`)
    expect(order).toEqual([1, 2, 3].flatMap((n) => [`start /dev/${n}`, `end /dev/${n}`]))
    connection.destroy()
    await expect.poll(() => child.running()).toBe(0)
  })

  test('ATK-155 of a client that leaves do not stay counted', async () => {
    const { port, host, url, child } = await start(
      (request, response) => {
        if (request.url === '/dev/last') response.end('ok')
      },
      { limits: { connections: 2 } },
    )
    for (let round = 0; round < 4; round += 1) {
      const connection = await rawConnection(port)
      connection.write(`GET /dev/hang HTTP/1.1\r\n${host}\r\n\r\n`.repeat(3))
      await expect.poll(() => child.running()).toBe(1)
      connection.destroy()
      await expect.poll(() => child.running()).toBe(0)
    }
    expect((await fetch(`${url}/dev/last`)).status).toBe(200)
  })
})

describe('a client that leaves', () => {
  test.each([
    ['before the answer', 'GET', ''],
    ['in the middle of its body', 'POST', 'Content-Length: 1000\r\n'],
    ['in the middle of its chunks', 'POST', 'Transfer-Encoding: chunked\r\n'],
  ])('%s ends the request of the child', async (_, method, lines) => {
    let arrived = false
    let left = false
    const { port, host, child } = await start((_request, response) => {
      arrived = true
      response.on('close', () => {
        left = true
      })
    })
    const connection = await rawConnection(port)
    connection.write(`${method} /dev/x HTTP/1.1\r\n${host}\r\n${lines}\r\n${lines && '5\r\nhello\r\n'}`)
    await expect.poll(() => arrived).toBe(true)
    connection.destroy()
    await expect.poll(() => left).toBe(true)
    await expect.poll(() => child.running()).toBe(0)
  })

  test('in the middle of an endless answer ends it', async () => {
    let left = false
    const { port, host } = await start((_request, response) => {
      const timer = setInterval(() => response.write('data: x\n\n'), 5)
      response.on('close', () => {
        clearInterval(timer)
        left = true
      })
    })
    const connection = await rawConnection(port)
    connection.write(`GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    await expect.poll(() => connection.received()).toBeGreaterThan(200)
    connection.destroy()
    await expect.poll(() => left).toBe(true)
  })
})

describe('a request on which nothing moves', () => {
  test('is 504 when the child does not answer, and its request ends', async () => {
    let left = false
    const { url, child } = await start((_request, response) => {
      response.on('close', () => {
        left = true
      })
    }, shortly)
    const answer = await fetch(`${url}/dev/x`, { method: 'POST', body: 'whole' })
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'application_timeout' }])
    await expect.poll(() => left).toBe(true)
    expect(child.running()).toBe(0)
  })

  test('is 504 when the child does not read the body', async () => {
    const { url } = await start(() => {}, shortly)
    const answer = await fetch(`${url}/dev/x`, { method: 'POST', body: Buffer.alloc(8 * 1024 * 1024) }).catch(
      () => null,
    )
    // The rest of the body may still be on its way when the connection closes, so the client may not see the answer.
    expect(answer?.status ?? 504).toBe(504)
  })

  test('ATK-155 is 400 when the body stops', async () => {
    const { port, host, child } = await start(() => {}, shortly)
    const connection = await rawConnection(port)
    connection.write(`POST /dev/x HTTP/1.1\r\n${host}\r\nContent-Length: 1000\r\n\r\npart`)
    expect((await connection.answer()).status).toBe(400)
    expect(child.running()).toBe(0)
    connection.destroy()
  })

  test('ATK-155 ends an event stream without a byte', async () => {
    const { port, host, child } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
    }, shortly)
    const connection = await rawConnection(port)
    connection.write(`GET /dev/events HTTP/1.1\r\n${host}\r\n\r\n`)
    await connection.closed()
    await expect.poll(() => child.running()).toBe(0)
  })

  test('goes on while bytes arrive', async () => {
    const { url } = await start((_request, response) => {
      let count = 0
      const timer = setInterval(() => {
        count += 1
        if (count < 10) response.write('x')
        else {
          clearInterval(timer)
          response.end()
        }
      }, 60)
    }, shortly)
    expect(await (await fetch(`${url}/dev/x`)).text()).toBe('x'.repeat(9))
  })

  test('ATK-155 ends when the client does not read', async () => {
    const { port, host, child, server } = await start(
      (_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024)),
      shortly,
    )
    const connection = await rawConnection(port)
    connection.pause()
    connection.write(`GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    await expect.poll(() => child.received.length).toBe(1)
    await expect.poll(() => openConnections(server)).toBe(0)
    expect(child.running()).toBe(0)
    connection.destroy()
  })

  test('ATK-155 ends when the client does not read the last bytes, after the child has ended', async () => {
    const { port, host, child, server } = await start((_request, response) => response.end('ok'), shortly)
    // Stands for a full send buffer: what is written stays with the front.
    server.on('connection', (socket) => {
      socket._write = () => {}
      socket._writev = () => {}
    })
    const connection = await rawConnection(port)
    connection.write(`GET /dev/x HTTP/1.1\r\n${host}\r\n\r\n`)
    await expect.poll(() => child.received.length).toBe(1)
    await expect.poll(() => openConnections(server)).toBe(0)
    expect(child.running()).toBe(0)
    connection.destroy()
  })
})

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

describe('a principal that loses access', () => {
  const principal: Principal = { kind: 'jwt', subject: 's', issuer: 'i', claims: {} }

  test('ATK-150 ends the stream of its answer, and nothing else', async () => {
    const watched: { principal: Principal; close: () => void }[] = []
    let ended = 0
    const watch: Watch = (watchedPrincipal, close) => {
      watched.push({ principal: watchedPrincipal, close })
      return () => {
        ended += 1
      }
    }
    const { port, host, url, child } = await start(
      (request, response) => {
        if (request.url === '/dev/short') response.end('short')
        else response.write('data: 1\n\n')
      },
      { principal, guard: { watch } },
    )
    expect(await (await fetch(`${url}/dev/short`)).text()).toBe('short')
    expect(watched).toHaveLength(0)

    const connection = await rawConnection(port)
    connection.write(`GET /dev/events HTTP/1.1\r\n${host}\r\n\r\n`)
    await expect.poll(() => watched.length).toBe(1)
    expect(watched[0]?.principal).toEqual(principal)
    watched[0]?.close()
    await connection.closed()
    expect(ended).toBe(1)
    await expect.poll(() => child.running()).toBe(0)
    watched[0]?.close()
    expect(await (await fetch(`${url}/dev/short`)).text()).toBe('short')
  })

  test('is not watched any more once its answer has ended', async () => {
    let watching = 0
    const watch: Watch = () => {
      watching += 1
      return () => {
        watching -= 1
      }
    }
    const { url } = await start(
      (_request, response) => {
        response.write('a')
        response.end('b')
      },
      { principal, guard: { watch } },
    )
    expect(await (await fetch(`${url}/dev/x`)).text()).toBe('ab')
    expect(watching).toBe(0)
  })
})

test('a child counts a request as running from its start to the end of its answer', async () => {
  const open: (() => void)[] = []
  const { url, child } = await start((_request, response) => void open.push(() => response.end('ok')))
  const answers = [fetch(`${url}/dev/1`), fetch(`${url}/dev/2`)]
  await expect.poll(() => open.length).toBe(2)
  expect(child.running()).toBe(2)
  open[0]?.()
  await expect.poll(() => child.running()).toBe(1)
  open[1]?.()
  await Promise.all(answers)
  expect(child.running()).toBe(0)
})
