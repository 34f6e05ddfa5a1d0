import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { endSlowBody, slowBody } from '../../../src/host/sockets/admin-server.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))

let server: Server
afterEach(() => {
  vi.useRealTimers()
  server.closeAllConnections()
  server.close()
})

/** A server that answers once it has read the body, if it reads at all. */
async function begin(headers: string, reads = true): Promise<{ client: Socket; request: IncomingMessage }> {
  server = createServer({ requestTimeout: 0 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const arrived = new Promise<IncomingMessage>((resolve) => {
    server.on('request', (request, response) => {
      endSlowBody(request)
      if (reads) request.resume().once('end', () => response.end('read'))
      resolve(request)
    })
  })
  const client = connect(address.port, '127.0.0.1')
  client.on('error', () => {})
  client.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`)
  return { client, request: await arrived }
}

async function send(client: Socket, { socket }: IncomingMessage, bytes: number): Promise<void> {
  const expected = socket.bytesRead + bytes
  client.write(Buffer.alloc(bytes, '1'))
  await vi.waitFor(() => expect(socket.bytesRead).toBe(expected), { timeout: 10_000 })
}

const size = 3 * slowBody.bytes

test('a large body may take many windows', async () => {
  const { client, request } = await begin(`Content-Length: ${size}`)
  for (let window = 0; window < 3; window += 1) {
    await send(client, request, slowBody.bytes)
    vi.advanceTimersByTime(slowBody.windowMs)
    expect(request.socket.destroyed).toBe(false)
  }
  const [answer] = await new Promise<[Buffer]>((resolve) => client.once('data', (bytes) => resolve([bytes])))
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
  expect(vi.getTimerCount()).toBe(0)
})

test.each(['Content-Length: 100', `Content-Length: ${size}`, 'Transfer-Encoding: chunked'])(
  'a body that trickles ends with its window: %s',
  async (header) => {
    const { client, request } = await begin(header)
    await send(client, request, 1)
    const closed = new Promise((resolve) => client.once('close', resolve))
    vi.advanceTimersByTime(slowBody.windowMs)
    await closed
    expect(request.complete).toBe(false)
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
  },
)

test('a client that waits for us is not slow', async () => {
  const { client, request } = await begin(`Content-Length: ${size}`, false)
  client.write(Buffer.alloc(1024))
  await vi.waitFor(() => expect(request.readableLength).toBe(1024))
  vi.advanceTimersByTime(3 * slowBody.windowMs)
  expect(request.socket.destroyed).toBe(false)
})

test('a request without a body costs no timer', async () => {
  await begin('Accept: */*')
  expect(vi.getTimerCount()).toBe(0)
})
