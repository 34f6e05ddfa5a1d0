import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request, type Server } from 'node:http'
import { connect, createServer as createSocketServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAdminServer } from '../../../src/host/sockets/admin-server.js'
import { listenAt } from '../../../src/host/sockets/open.js'
import { json } from '../../../src/http/problem.js'
import type { Handle, Pass, Verdict } from '../../../src/http/verdict.js'

const adminUrl = 'https://admin.example.net'
const passed: Pass = {
  kind: 'pass',
  principal: null,
  forwarded: null,
  query: null,
  responseHeaders: null,
  spoofedHeaders: [],
}
const handled: string[] = []
const handle: Handle = ({ path, ip }) => {
  handled.push(path)
  if (path === '/auth/unknown') return passed
  return { kind: 'answer', response: json(200, { path, ip }) }
}
const logger = { warn: () => {}, error: () => {} }

async function socketPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-admin-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'admin.sock')
}

async function serve(url = adminUrl, by: Handle = handle): Promise<{ path: string; server: Server }> {
  const path = await socketPath()
  const server = createAdminServer({ adminUrl: url, handle: by, logger })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await listenAt(server, 'adminListen', { kind: 'unix', path })
  return { path, server }
}

interface Answer {
  status: number
  body: Record<string, unknown>
}

function ask(socket: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, path, headers, setHost: false, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) }))
    })
    sent.on('error', reject).end()
  })
}

test('ATK-181 the admin socket answers for its own origin only', async () => {
  const { path } = await serve()
  expect(await ask(path, '/auth/login', { host: 'admin.example.net' })).toMatchObject({ status: 200 })
  handled.length = 0
  const hosts = ['api.example.com', 'admin.example.net:443', 'admin.example.net.', 'localhost', '']
  for (const headers of [...hosts.map((host) => ({ host })), {}]) {
    expect(await ask(path, '/auth/login', headers)).toMatchObject({ status: 421, body: { code: 'wrong_host' } })
  }
  const absolute = 'https://api.example.com/auth/login'
  expect(await ask(path, absolute, { host: 'admin.example.net' })).toMatchObject({ status: 421 })
  expect(handled).toEqual([])
})

test('ATK-156 two hosts are 421', async () => {
  const { path } = await serve()
  const socket = connect(path)
  onTestFinished(() => void socket.destroy())
  const host = 'Host: admin.example.net\r\n'
  socket.write(`GET /auth/login HTTP/1.1\r\n${host}${host}\r\n`)
  const [first] = await once(socket, 'data')
  expect(String(first)).toMatch(/^HTTP\/1\.1 421 /)
})

test('in development the names of loopback are one', async () => {
  const { path } = await serve('http://127.0.0.1:4311')
  for (const host of ['127.0.0.1:4311', 'localhost:4311', '[::1]:4311']) {
    expect((await ask(path, '/auth/login', { host })).status).toBe(200)
  }
  expect((await ask(path, '/auth/login', { host: '127.0.0.1:4310' })).status).toBe(421)
})

test('ATK-181 nothing but the routes of the host answers', async () => {
  const { path } = await serve()
  handled.length = 0
  for (const target of ['/', '/dev/orders', '/api/x', '/authx', '/health']) {
    expect(await ask(path, target, { host: 'admin.example.net' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  }
  for (const target of ['/auth/../dev', '/auth%2f..%2fdev/x', '//auth/login']) {
    expect((await ask(path, target, { host: 'admin.example.net' })).status).toBeGreaterThanOrEqual(400)
  }
  expect(handled).toEqual([])
  expect(await ask(path, '/auth/unknown', { host: 'admin.example.net' })).toMatchObject({ status: 404 })
  const upgrade = { host: 'admin.example.net', connection: 'upgrade', upgrade: 'websocket' }
  expect(await ask(path, '/auth/login', upgrade)).toMatchObject({ status: 501 })
})

test('ATK-235 a refusal keeps the connection, unless a large body or one of unknown length is still to come', async () => {
  const { path } = await serve()
  const head = 'GET /nowhere HTTP/1.1\r\nHost: admin.example.net\r\n'
  const kept = await talk(path, `${head}\r\n`.repeat(3))
  await expect.poll(() => kept.received().split('HTTP/1.1 404').length).toBe(4)
  expect([kept.received().includes('Connection: close'), kept.closed()]).toEqual([false, false])
  for (const framing of ['Content-Length: 65537', 'Transfer-Encoding: chunked']) {
    const cut = await talk(path, `${head.replace('GET', 'POST')}${framing}\r\n\r\n`)
    await expect.poll(() => cut.closed()).toBe(true)
    expect(cut.received()).toMatch(/^HTTP\/1\.1 404 [\s\S]*connection: close/i)
  }
})

test('a unix socket has mode 0660, and its peer no address', async () => {
  const { path } = await serve()
  expect((await stat(path)).mode & 0o777).toBe(0o660)
  expect(await ask(path, '/auth/login', { host: 'admin.example.net' })).toMatchObject({ body: { ip: null } })
})

test('a socket that another process uses is not replaced, nor is a file', async () => {
  const { path } = await serve()
  const second = createAdminServer({ adminUrl, handle, logger })
  await expect(listenAt(second, 'adminListen', { kind: 'unix', path })).rejects.toThrow('adminListen: is in use')
  const file = await socketPath()
  await writeFile(file, 'kept')
  await expect(listenAt(second, 'adminListen', { kind: 'unix', path: file })).rejects.toThrow('adminListen: is in use')
  expect((await ask(path, '/auth/login', { host: 'admin.example.net' })).status).toBe(200)
  const nowhere = `${path}/x/admin.sock`
  await expect(listenAt(second, 'adminListen', { kind: 'unix', path: nowhere })).rejects.toThrow('adminListen: ')
})

test('a socket that a killed process has left is replaced', async () => {
  const path = await socketPath()
  const { spawnSync } = await import('node:child_process')
  const program = `require('node:http').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', program])
  expect((await stat(path)).isSocket()).toBe(true)
  const server = createAdminServer({ adminUrl, handle, logger })
  onTestFinished(() => void server.close())
  await listenAt(server, 'adminListen', { kind: 'unix', path })
  expect((await ask(path, '/auth/login', { host: 'admin.example.net' })).status).toBe(200)
})

test('a port that is taken is a fault of the setting', async () => {
  const taken = createSocketServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const server = createAdminServer({ adminUrl, handle, logger })
  await expect(listenAt(server, 'listen', { kind: 'tcp', host: '127.0.0.1', port })).rejects.toThrow(
    'listen: is in use',
  )
})

/** A connection on which the text was sent, and what it received. */
async function talk(path: string, text: string): Promise<{ received(): string; closed(): boolean }> {
  const socket = connect(path)
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { received: () => received, closed: () => socket.closed }
}

test('a pipelined request does not inherit the timeout by which the answer before it had to be taken', async () => {
  const timeouts: number[] = []
  const seeing: Handle = async () => {
    timeouts.push((await socketOfServer).timeout ?? 0)
    return { kind: 'answer', response: json(200, { number: timeouts.length }) }
  }
  const { path, server } = await serve(adminUrl, seeing)
  const socketOfServer = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const client = await talk(path, 'GET /auth/login HTTP/1.1\r\nHost: admin.example.net\r\n\r\n'.repeat(3))
  await expect.poll(() => client.received()).toContain('"number":3')
  expect(timeouts).toEqual([0, 0, 0])
})

test('ATK-234 of pipelined requests to the admin socket one runs at a time, and more than sixteen waiting end the connection', async () => {
  const running: (() => void)[] = []
  const slow: Handle = () =>
    new Promise<Verdict>((resolve) => {
      running.push(() => resolve({ kind: 'answer', response: json(200, { number: running.length }) }))
    })
  const { path } = await serve(adminUrl, slow)
  const get = 'GET /auth/login HTTP/1.1\r\nHost: admin.example.net\r\n\r\n'
  const patient = await talk(path, get.repeat(17))
  for (let number = 1; number <= 17; number += 1) {
    await expect.poll(() => running.length).toBe(number)
    running.at(-1)?.()
  }
  await expect.poll(() => patient.received()).toContain('"number":17')
  const flood = await talk(path, get.repeat(60_000))
  await expect.poll(() => flood.closed()).toBe(true)
  expect(running).toHaveLength(18)
  const odd = await talk(path, get + get.replace('\r\n\r\n', '\r\nExpect: more\r\n\r\n') + get)
  await expect.poll(() => running.length).toBe(19)
  expect(odd.received()).toBe('')
  running.at(-1)?.()
  await expect.poll(() => odd.received()).toContain('HTTP/1.1 417')
  await expect.poll(() => running.length).toBe(20)
  const tunnel = await talk(path, `${get}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await expect.poll(() => tunnel.closed()).toBe(true)
  expect(tunnel.received()).toBe('')
})
