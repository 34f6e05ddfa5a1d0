// That `npm run scale -- host` can fail: a server does each wrong thing, and the ledger of the run must say so.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addUp, audit, createLedger, intrude, putDocuments, readRelease, setKey } from './host/load.js'

const rows = new Map<string, unknown>()
let forgets = false
const server = createServer(async (request, response) => {
  const [, route = '', id = ''] = (request.url ?? '').split('/')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(request.method === 'POST' ? write(route, id, body) : read(route, id)))
})
const space = { url: '', headers: { 'x-apikey': 'a token' } }

function write(route: string, id: string, body: { id?: string; value?: number }): unknown {
  if (route === 'put') rows.set(`put ${body.id}`, { _id: body.id })
  if (route === 'add') rows.set(`sum ${id}`, { sum: 1 + sumOf(rows.get(`sum ${id}`)) })
  if (route === 'set') rows.set(`set ${id}`, { value: body.value })
  return {}
}

function read(route: string, id: string): unknown {
  if (route === 'release') return { release: 1 }
  return (forgets ? null : rows.get(`${route} ${id}`)) ?? { sum: 0, value: 0 }
}

const sumOf = (row: unknown) => (typeof row === 'object' && row !== null && 'sum' in row ? Number(row.sum) : 0)

/** Ends a worker after so many rounds. */
function after(rounds: number): () => boolean {
  let left = rounds
  return () => left-- === 0
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  space.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
beforeEach(() => {
  forgets = false
})

test('a server that keeps everything has no faults', async () => {
  const ledger = createLedger()
  await putDocuments(ledger, space, after(3))
  await addUp(ledger, space, after(3))
  await setKey(ledger, space, after(3))
  await readRelease(ledger, space, () => [1], after(3))
  await audit(ledger)
  expect(ledger.puts).toHaveLength(3)
  expect(Object.values(ledger.faults).flat()).toEqual([])
})

test('each write that was confirmed and is gone at the end counts', async () => {
  const ledger = createLedger()
  await putDocuments(ledger, space, after(2))
  await addUp(ledger, space, after(2))
  await setKey(ledger, space, after(2))
  forgets = true
  await audit(ledger)
  expect(ledger.faults['lost confirmed writes']).toHaveLength(4)
})

test('a write that is gone while others go on counts', async () => {
  const ledger = createLedger()
  forgets = true
  await putDocuments(ledger, space, after(2))
  expect(ledger.faults['lost confirmed writes']).not.toEqual([])
})

test('the answer of a release that is not in force counts', async () => {
  const ledger = createLedger()
  await readRelease(ledger, space, () => [2], after(1))
  expect(ledger.faults['half-live releases']).toEqual(['1 answered, expected 2'])
})

test('each admission of a stranger counts', async () => {
  const ledger = createLedger()
  await intrude(ledger, [{ what: 'no token', url: `${space.url}/release` }], after(2))
  expect(ledger.faults['wrong admissions']).toEqual(['no token: 200', 'no token: 200'])
})
