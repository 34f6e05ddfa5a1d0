import { once } from 'node:events'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRemoteStore } from '../../../src/host/runner/datastore/datastore.js'
import type { WireReply } from '../../../src/host/storage/messages.js'
import { serveData } from '../../../src/host/storage/server.js'
import { temporaryFolder } from '../../support/auth.js'
import { startDataThreads, threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()
const key = 'k'.repeat(43)
const mebibyte = 1024 * 1024

async function serve() {
  const threads = startDataThreads(program)
  const file = join(temporaryFolder(), 'g1.db')
  const data = await threads.open({ spaceId: 'one', file })
  const socketPath = join(temporaryFolder(), 's.sock')
  const server = await serveData({ data, socketPath, key })
  onTestFinished(async () => {
    await server.close()
    await threads.close()
  })
  return { data, server, socketPath, threads, ...createRemoteStore({ socketPath, key }) }
}

/** A server whose calls end when the test says so. */
async function serveSlowly() {
  const ends: (() => void)[] = []
  let most = 0
  const answer = () =>
    new Promise<WireReply>((resolve) => {
      ends.push(() => resolve({ status: 200, body: '{"value":1}' }))
      most = Math.max(most, ends.length)
    })
  const socketPath = join(temporaryFolder(), 's.sock')
  const server = await serveData({ data: { answer }, socketPath, key })
  onTestFinished(server.close)
  return { ends, most: () => most, server, socketPath, ...createRemoteStore({ socketPath, key }) }
}

interface Sent {
  path?: string
  method?: string
  headers?: Record<string, string | number>
  body?: string | Buffer
}

/** The status and text of one request; `null` when the connection broke. */
function send(socketPath: string, { path = '/documents/list', method = 'POST', headers = {}, body = '[]' }: Sent) {
  return new Promise<{ status: number; text: string } | null>((resolve) => {
    const common = { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(body) }
    const sent = request({ agent: false, socketPath, path, method, headers: { ...common, ...headers } }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', () => resolve(null))
    })
    sent.on('error', () => resolve(null))
    sent.end(body)
  })
}

/** A connection that writes what the test says. */
async function raw(socketPath: string, text: string): Promise<{ socket: Socket; received(): string }> {
  const socket = connect(socketPath)
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { socket, received: () => received }
}

const head = (length: number, more = '') =>
  `POST /documents/list HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${length}\r\n${more}\r\n`

test('ATK-158 the socket is the owner’s alone, and another key, a part of it or none opens nothing', async () => {
  const { socketPath } = await serve()
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  for (const authorization of [
    '',
    'Bearer ',
    key,
    `Bearer ${key.slice(1)}`,
    `Bearer ${key}k`,
    `bearer ${key}`,
    `Basic ${key}`,
  ]) {
    expect(await send(socketPath, { headers: { authorization } })).toEqual({ status: 403, text: '{}' })
  }
  expect(await send(socketPath, {})).toEqual({ status: 200, text: '{"value":[]}' })
})

test('ATK-203 calls that do not exist and requests without a length are refused', async () => {
  const { socketPath } = await serve()
  for (const path of [
    '/',
    '/documents/',
    '/documents/constructor',
    '/__proto__/get',
    '/documents/get/',
    '/documents/get?x',
  ]) {
    expect((await send(socketPath, { path }))?.status).toBe(404)
  }
  expect((await send(socketPath, { method: 'GET' }))?.status).toBe(404)
  const { received } = await raw(
    socketPath,
    `POST /documents/list HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ntransfer-encoding: chunked\r\n\r\n`,
  )
  await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 411'))
})

test('ATK-203 arguments of another shape are query_invalid, however they look, and the thread lives on', async () => {
  const { socketPath, documents } = await serve()
  await documents.put('notes', 'a', '{}', 'any')
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const calls: [string, string][] = [
    ['/documents/get', '{}'],
    ['/documents/get', 'null'],
    ['/documents/get', '["notes"'],
    ['/documents/get', '["notes"]'],
    ['/documents/get', '["_x","a"]'],
    ['/documents/get', '["notes; drop table c1","a"]'],
    ['/documents/get', '["__proto__","a"]'],
    ['/documents/get', deep(10_000)],
    ['/documents/get', deep(4 * mebibyte)],
    ['/documents/get', `[${'[],'.repeat(4 * mebibyte)}1]`],
    ['/documents/put', '["notes","a",{},"any"]'],
    ['/documents/put', '["notes","a","{}","other"]'],
    ['/documents/put', '["notes","a","{}",null]'],
    ['/documents/put', `["notes","a",${JSON.stringify(`{"a":${deep(10_000)}}`)},"any"]`],
    ['/documents/remove', '["notes","a","absent"]'],
    ['/documents/scan', '["notes"]'],
    ['/documents/scan', '["notes",{"after":null,"reverse":false,"limit":-1}]'],
    ['/documents/scan', '["notes",{"after":null,"reverse":false,"limit":1e9}]'],
    ['/documents/scan', '["notes",{"after":1,"reverse":false,"limit":1}]'],
    ['/documents/putMany', '["notes",{},"any"]'],
    ['/documents/putMany', '["notes",[null],"any"]'],
    ['/documents/putMany', '["notes",[{"id":"a"}],"any"]'],
    ['/documents/changeMany', '["notes",{}]'],
    ['/documents/changeMany', '["notes",[{"id":"a","version":1}]]'],
    ['/documents/changeMany', '["notes",[{"id":"a","version":"any","body":null}]]'],
    ['/documents/changeMany', '["notes",[{"id":"a","version":1,"body":"[]"}]]'],
    ['/keyValues/get', '["k"]'],
    ['/keyValues/get', '[{"keyspace":"","key":""}]'],
    ['/keyValues/get', `[{"keyspace":"","key":"${'k'.repeat(1_025)}"}]`],
    ['/keyValues/get', '[{"keyspace":"","key":"\\ud800"}]'],
    ['/keyValues/set', '[{"keyspace":"","key":"k"},1,null]'],
    ['/keyValues/set', '[{"keyspace":"","key":"k"},"1",-1]'],
    ['/keyValues/increment', '[{"keyspace":"","key":"k"},"1",null]'],
    ['/keyValues/page', '["",""]'],
  ]
  for (const [path, body] of calls) {
    const answer = await send(socketPath, { path, body })
    expect([path, body.slice(0, 40), answer?.status]).toEqual([path, body.slice(0, 40), 422])
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ code: 'query_invalid' })
  }
  expect(await documents.list()).toEqual([{ name: 'notes', count: 1, bytes: 2 }])
})

test('ATK-203 more than 16 MiB is quota_exceeded, and 4 GiB is not even read', async () => {
  const { socketPath, documents } = await serve()
  const rows = Array.from({ length: 6 }, (_, n) => ({
    id: `n${n}`,
    body: JSON.stringify({ t: 'x'.repeat(3 * mebibyte) }),
  }))
  await expect(documents.putMany('notes', rows, 'any')).rejects.toMatchObject({ code: 'quota_exceeded' })
  await documents.putMany('notes', rows.slice(0, 5), 'any')
  const { received, socket } = await raw(socketPath, head(4 * 1024 * mebibyte))
  await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 413'))
  await vi.waitFor(() => expect(socket.closed).toBe(true))
  expect(await documents.count('notes')).toBe(5)
})

test('ATK-203 headers that are huge end the connection', async () => {
  const { socketPath } = await serve()
  const { received } = await raw(socketPath, head(2, `x-long: ${'x'.repeat(20_000)}\r\n`))
  await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 431'))
})

test('of 33 requests at once 32 run, and the last waits for its turn', async () => {
  const { ends, most, socketPath } = await serveSlowly()
  const calls = Array.from({ length: 33 }, () => send(socketPath, { path: '/documents/put' }))
  await vi.waitFor(() => expect(ends).toHaveLength(32))
  ends.shift()?.()
  await vi.waitFor(() => expect(ends).toHaveLength(32))
  for (const end of ends.splice(0)) end()
  for (const answer of await Promise.all(calls)) expect(answer?.status).toBe(200)
  expect(most()).toBe(32)
})

test('ATK-203 of 1,000 requests at once those beyond the connections of a space are cut off, and then it serves again', async () => {
  const { documents, socketPath } = await serve()
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => send(socketPath, {})))
  const served = answers.filter((answer) => answer?.status === 200)
  expect(served.length).toBeGreaterThanOrEqual(32)
  expect(answers.filter((answer) => answer !== null && answer.status !== 200)).toEqual([])
  await vi.waitFor(async () => expect(await documents.list()).toEqual([]))
})

test('ATK-203 a client that leaves while it waits, or pipelines, holds no place', async () => {
  const { ends, socketPath } = await serveSlowly()
  const held = Array.from({ length: 32 }, () => send(socketPath, { path: '/documents/put' }))
  await vi.waitFor(() => expect(ends).toHaveLength(32))
  for (let n = 0; n < 200; n += 1) (await raw(socketPath, `${head(2)}[]`)).socket.destroy()
  const pipelined = await raw(socketPath, `${head(2)}[]`.repeat(100))
  await vi.waitFor(() => expect(pipelined.socket.closed).toBe(true))
  const waits = send(socketPath, { path: '/documents/put' })
  for (const end of ends.splice(0)) end()
  await Promise.all(held)
  await vi.waitFor(() => expect(ends).toHaveLength(1))
  ends[0]?.()
  expect((await waits)?.status).toBe(200)
})

test('ATK-234 pipelined calls run one after another, and more than sixteen waiting end the connection', async () => {
  const { ends, socketPath } = await serveSlowly()
  const patient = await raw(socketPath, `${head(2)}[]`.repeat(17))
  for (let number = 1; number <= 17; number += 1) {
    await vi.waitFor(() => expect(ends).toHaveLength(number))
    ends.at(-1)?.()
  }
  await vi.waitFor(() => expect(patient.received().split('{"value":1}')).toHaveLength(18))
  const flood = await raw(socketPath, `${head(2)}[]`.repeat(1_000))
  await vi.waitFor(() => expect(flood.socket.closed).toBe(true))
  expect(ends).toHaveLength(18)
})

test('ATK-234 of pipelined requests without a key one is answered, and the others are dropped', async () => {
  const { socketPath } = await serve()
  const { received, socket } = await raw(socketPath, 'GET / HTTP/1.1\r\n\r\n'.repeat(10))
  await vi.waitFor(() => expect(socket.closed).toBe(true))
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 403'])
})

test('ATK-203 half requests hold their own places only, until the server closes', async () => {
  const { documents, server, socketPath } = await serve()
  const halves = await Promise.all(Array.from({ length: 20 }, () => raw(socketPath, `${head(100)}[`)))
  expect(await documents.list()).toEqual([])
  await server.close()
  await vi.waitFor(() => expect(halves.every(({ socket }) => socket.closed)).toBe(true))
})

test('large requests and documents come through whole, also many at once', async () => {
  const { documents } = await serve()
  const body = JSON.stringify({ text: '"\\ä😀'.repeat(200_000) })
  const ids = Array.from({ length: 12 }, (_, n) => `n${n}`)
  await Promise.all(ids.map((id) => documents.put('notes', id, body, 'absent')))
  for (const stored of await Promise.all(ids.map((id) => documents.get('notes', id))))
    expect(stored?.body === body).toBe(true)
})

test('ATK-203 after the switch to another generation the former key and the former socket are refused', async () => {
  const { server, documents, socketPath, threads, data } = await serve()
  await documents.put('notes', 'a', '{"generation":1}', 'any')
  await data.close()
  await expect(documents.get('notes', 'a')).rejects.toMatchObject({ code: 'store_unavailable' })
  await server.close()
  const next = await threads.open({ spaceId: 'one', file: join(temporaryFolder(), 'g2.db') })
  await expect(documents.get('notes', 'a')).rejects.toMatchObject({ code: 'store_unavailable' })
  const again = await serveData({ data: next, socketPath, key: 'n'.repeat(43) })
  onTestFinished(again.close)
  await expect(documents.put('notes', 'a', '{}', 'any')).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await createRemoteStore({ socketPath, key: 'n'.repeat(43) }).documents.list()).toEqual([])
})

test('a server that closes waits for the calls under way, and refuses the next on the same connection', async () => {
  const { ends, server, socketPath } = await serveSlowly()
  const under = send(socketPath, { path: '/documents/put' })
  await vi.waitFor(() => expect(ends).toHaveLength(1))
  const half = await raw(socketPath, head(2))
  const closing = server.close()
  half.socket.write('[]')
  await vi.waitFor(() => expect(half.received()).toContain('HTTP/1.1 503'))
  ends[0]?.()
  expect((await under)?.status).toBe(200)
  await closing
  expect(ends).toHaveLength(1)
  expect(await send(socketPath, {})).toBeNull()
})

test('a path that Node would cut is refused', async () => {
  const socketPath = join(temporaryFolder(), 'x'.repeat(104))
  const answer = async (): Promise<WireReply> => ({ status: 200, body: '{}' })
  await expect(serveData({ data: { answer }, socketPath, key })).rejects.toThrow('103 bytes')
})
