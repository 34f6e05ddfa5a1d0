import type { RequestListener, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type StubSpace, startChild, startSpaces } from '../../support/host-front.js'
import { type RawConnection, rawConnection, rawRequest } from '../../support/raw-http.js'

/** A child that answers when the test says so. */
function heldChild() {
  const held: { url: string; response: ServerResponse }[] = []
  const listener: RequestListener = (request, response) => {
    request.resume().on('end', () => held.push({ url: request.url ?? '', response }))
  }
  return { held, listener }
}

async function start(stub: Partial<StubSpace> = {}, takeMs = 30_000) {
  const { held, listener } = heldChild()
  const times = { headersMs: 20_000, keepAliveMs: 65_000, takeMs }
  const world = await startSpaces(await startChild(listener), stub, { times })
  const get = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\n${world.host}\r\n\r\n`
  const nextHeld = async () => {
    await expect.poll(() => held.length).toBeGreaterThan(0)
    return held.shift()
  }
  return { ...world, held, get, nextHeld }
}

async function statusesOf(connection: RawConnection, count: number): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < count) statuses.push((await connection.answer()).status)
  return statuses
}

test('ATK-234 of seventeen pipelined requests one runs at a time, in their order', async () => {
  const { port, get, held, nextHeld, child } = await start()
  const connection = await rawConnection(port)
  const paths = Array.from({ length: 17 }, (_, n) => `/dev/${n}`)
  connection.write(paths.map((path) => get(path)).join(''))
  for (const path of paths) {
    const running = await nextHeld()
    expect([running?.url, held.length, child.running()]).toEqual([path, 0, 1])
    running?.response.end(path)
  }
  for (const path of paths) expect((await connection.answer()).body.toString()).toBe(path)
  connection.destroy()
})

test('ATK-234 a client with more than sixteen waiting requests is cut off, and no more of them run', async () => {
  const { port, get, held, judged, child } = await start()
  const connection = await rawConnection(port)
  connection.write(get('/dev/x').repeat(18))
  await connection.closed()
  await expect.poll(() => child.running()).toBe(0)
  expect(judged).toHaveLength(1)
  expect(held.length).toBeLessThanOrEqual(1)
})

test('ATK-234 of 64 MB on one connection the front reads what its buffers hold', async () => {
  const { port, server, judged } = await start()
  let read = 0
  server.on('connection', (socket) => {
    socket.once('close', () => {
      read = socket.bytesRead
    })
  })
  const connection = await rawConnection(port)
  const piece = Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(58_000))
  for (let sent = 0; sent < 64; sent += 1) connection.write(piece)
  await connection.closed()
  await expect.poll(() => read).toBeGreaterThan(0)
  expect(read).toBeLessThan(1024 * 1024)
  expect(judged).toEqual([])
})

test('ATK-234 requests that wait count for the connections of their space', async () => {
  const { port, get, nextHeld } = await start({ limits: { connections: 3 } })
  const first = await rawConnection(port)
  first.write(get('/dev/0') + get('/dev/1') + get('/dev/2') + get('/dev/3') + get('/prod/4'))
  const running = await nextHeld()
  expect((await rawRequest(port, get('/dev/x'))).status).toBe(503)
  running?.response.end()
  for (let count = 0; count < 3; count += 1) (await nextHeld())?.response.end()
  expect(await statusesOf(first, 5)).toEqual([200, 200, 200, 503, 200])
  const after = rawRequest(port, get('/dev/x'))
  ;(await nextHeld())?.response.end()
  expect((await after).status).toBe(200)
})

test('ATK-234 requests that waited on a connection that was cut off give their places back', async () => {
  const { port, get, held, nextHeld } = await start({ limits: { connections: 4 } })
  for (let round = 0; round < 4; round += 1) {
    const connection = await rawConnection(port)
    connection.write(get('/dev/x').repeat(18))
    await connection.closed()
  }
  held.length = 0
  const connection = await rawConnection(port)
  connection.write(get('/dev/1') + get('/dev/2') + get('/dev/3') + get('/dev/4'))
  for (const path of ['/dev/1', '/dev/2', '/dev/3', '/dev/4']) {
    const running = await nextHeld()
    expect(running?.url).toBe(path)
    running?.response.end()
  }
  expect(await statusesOf(connection, 4)).toEqual([200, 200, 200, 200])
  connection.destroy()
})

test('ATK-234 the body of a waiting request stays with its client, chunks and lengths alike', async () => {
  const size = 16 * 1024 * 1024
  for (const framing of ['Content-Length: 16777216', 'Transfer-Encoding: chunked']) {
    const { port, host, get, server, nextHeld, child } = await start()
    let bytesRead = () => 0
    server.once('connection', (socket) => {
      bytesRead = () => socket.bytesRead
    })
    const connection = await rawConnection(port)
    connection.write(`${get('/dev/first')}POST /dev/second HTTP/1.1\r\n${host}\r\n${framing}\r\n\r\n`)
    const isChunked = framing.startsWith('Transfer')
    connection.write(isChunked ? '1000000\r\n' : '')
    connection.write(Buffer.alloc(size, 'x'))
    connection.write(isChunked ? '\r\n0\r\n\r\n' : '')
    const running = await nextHeld()
    // What another connection sends later is answered, so the front has had its time to read.
    const other = rawRequest(port, get('/prod/other'))
    ;(await nextHeld())?.response.end()
    expect((await other).status).toBe(200)
    expect(bytesRead()).toBeLessThan(1024 * 1024)
    running?.response.end()
    ;(await nextHeld())?.response.end()
    expect(await statusesOf(connection, 2)).toEqual([200, 200])
    expect(child.received.find(({ url }) => url === '/dev/second')?.body).toHaveLength(size)
    connection.destroy()
  }
})

test('ATK-234 an expectation, a tunnel, an upgrade and a bad request wait, or end the connection', async () => {
  const { port, host, get, nextHeld } = await start()
  const waits = await rawConnection(port)
  const asks = (line: string) => `GET /dev/x HTTP/1.1\r\n${host}\r\n${line}\r\n\r\n`
  waits.write(
    get('/dev/first') + asks('Expect: the-unexpected').repeat(3) + asks('Connection: upgrade\r\nUpgrade: h2c'),
  )
  const running = await nextHeld()
  expect(waits.received()).toBe(0)
  running?.response.end()
  expect(await statusesOf(waits, 5)).toEqual([200, 417, 417, 417, 501])
  waits.destroy()
  for (const next of [`CONNECT example.net:80 HTTP/1.1\r\n${host}\r\n\r\n`, 'no request\r\n\r\n']) {
    const connection = await rawConnection(port)
    connection.write(get('/dev/first') + next)
    await connection.closed()
    expect(connection.received()).toBe(0)
  }
})

test('ATK-234 requests behind one that closes the connection do not run', async () => {
  const { port, host, get, judged, child } = await start()
  const last = [get('/dev/first', '1.0'), `GET /dev/first HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`]
  for (const first of last) {
    judged.length = 0
    const connection = await rawConnection(port)
    connection.write(first + get('/dev/second').repeat(3))
    await connection.closed()
    await expect.poll(() => child.running()).toBe(0)
    expect(judged.map(({ path }) => path)).toEqual(['/first'])
  }
})

test('ATK-234 a client that sends on but takes no answer is cut off', async () => {
  const { port, server, host } = await start({}, 200)
  // Stands for a full send buffer: what is written stays with the front.
  server.on('connection', (socket) => {
    socket._write = () => {}
    socket._writev = () => {}
  })
  const connection = await rawConnection(port)
  connection.write(`GET /nowhere HTTP/1.1\r\n${host}\r\n\r\n`.repeat(4))
  await connection.closed()
})
