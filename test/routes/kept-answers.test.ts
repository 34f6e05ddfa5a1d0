import { createServer } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { init } from '../../src/index.js'
import { routes } from '../../src/routes/index.js'
import { createOAuthPeer, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { testAuth } from '../support/auth.js'
import { countedCalls } from '../support/counted-calls.js'

const origin = 'http://localhost:3000'

/** A whole Latchkey in which every route is on. */
async function everything() {
  const peer = createOAuthPeer()
  const runtime = createTestRuntime({ clock: peer.clock, fetch: peer.fetch })
  const { auth } = await testAuth(
    {
      ...peer.settings,
      admin: { emails: ['root@example.test'] },
      passkeys: { origins: [origin, 'https://other.test'] },
    },
    runtime,
  )
  const get = async (path: string, headers: Record<string, string> = {}) =>
    auth.fetch(new Request(`${origin}${path}`, { headers, redirect: 'manual' }), { ip: '127.0.0.1' })
  return { auth, get }
}

const addressOf = ({ path, root }: Route) =>
  `${root ? '' : '/auth'}${path.replaceAll(':provider', 'google').replaceAll(/:\w+/g, 'x')}`

const reads = routes.filter(({ method }) => method === 'GET')

/** Our largest page takes 1,000, and an audit event 3,000. A document that is made anew takes 50,000. */
const most = 5_000

describe('a stranger who asks for the same again', () => {
  test('ATK-290 costs few calls of functions, on each GET route of the table', async () => {
    const { get } = await everything()
    const paths = reads.map(addressOf)
    for (const path of [...paths, ...paths]) await get(path)
    const counts = await countedCalls(...paths.map((path) => () => get(path)))
    const dear = counts
      .map((calls, at) => `${calls} calls for ${paths[at]}`)
      .filter((_, at) => {
        const calls = counts[at] ?? 0
        return calls < 20 || calls > most
      })
    expect(dear).toEqual([])
  })

  test('ATK-290 costs few calls at 300 documents, and everything the first time', async () => {
    const { get } = await everything()
    const once = () => get('/auth/openapi.json')
    const [first = 0, flood = 0] = await countedCalls(once, () => Promise.all(Array.from({ length: 300 }, once)))
    expect(first).toBeGreaterThan(5 * most)
    expect(flood / 300).toBeLessThan(most)
  })
})

test('ATK-290 the description of the control API costs its readers few calls too', async () => {
  const { client } = await testAuth({ admin: { emails: ['root@example.test'], twoFactor: false } })
  const root = client()
  await root.signUp({ email: 'root@example.test', password: 'correct horse battery' })
  const ask = () => root.get('/auth/admin/api/openapi.json')
  expect((await ask()).status).toBe(200)
  const [again] = await countedCalls(ask)
  expect(again).toBeLessThan(most)
  const tag = (await ask()).headers.get('etag') ?? ''
  expect((await root.get('/auth/admin/api/openapi.json', { headers: { 'if-none-match': tag } })).status).toBe(304)
})

const documents = ['/auth/openapi.json', '/.well-known/webauthn', '/.well-known/passkey-endpoints']

describe('a document that depends on the settings alone', () => {
  test.each(documents)(
    'ATK-290 GET %s has an entity tag, by which a client learns that nothing changed',
    async (path) => {
      const { get } = await everything()
      const first = await get(path)
      const tag = first.headers.get('etag') ?? ''
      expect(tag).toMatch(/^"[\w-]{43}"$/)
      expect((await get(path)).headers.get('etag')).toBe(tag)
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const answer = await get(path, { 'if-none-match': held })
        expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, tag, ''])
        expect(answer.headers.get('content-type')).toBeNull()
      }
      for (const held of ['"other"', tag.slice(1, -1), ''])
        expect((await get(path, { 'if-none-match': held })).status).toBe(200)
    },
  )

  test.each(documents)('GET %s is compressed as the client accepts it, with a tag for each coding', async (path) => {
    const { get } = await everything()
    const plain = await get(path)
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding'])
    const text = await plain.text()
    const packed = await get(path, { 'accept-encoding': 'gzip' })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(text)
    const brotli = await get(path, { 'accept-encoding': 'gzip, br' })
    expect(brotliDecompressSync(Buffer.from(await brotli.arrayBuffer())).toString()).toBe(text)
    const tags = [plain, packed, brotli].map(({ headers }) => headers.get('etag') ?? '')
    expect(new Set(tags).size).toBe(3)
    const [, gzipTag = ''] = tags
    expect((await get(path, { 'accept-encoding': 'gzip', 'if-none-match': gzipTag })).status).toBe(304)
    expect((await get(path, { 'if-none-match': gzipTag })).status).toBe(200)
  })

  test('stays free of caches, as every answer of ours', async () => {
    const { get } = await everything()
    for (const path of documents) expect((await get(path)).headers.get('cache-control')).toBe('no-store')
  })

  test('names the path of its mount, and is compressed at a few mounts only', async () => {
    const outer = express()
    const inner = express()
    outer.use('/:tenant', inner)
    const server = createServer(outer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const runtime = createTestRuntime()
    const auth = init(inner, testSettings({ mailbox: createTestMailbox() }), runtime)
    onTestFinished(() => auth.close())
    await auth.ready()
    const at = (tenant: string) => `http://127.0.0.1:${Object(server.address()).port}/${tenant}/auth/openapi.json`
    const tags = new Set<string | null>()
    const codings: (string | null)[] = []
    for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f', 'a']) {
      const answer = await fetch(at(tenant), { headers: { 'accept-encoding': 'gzip' } })
      expect(await answer.json()).toMatchObject({ servers: [{ url: `http://localhost:3000/${tenant}/auth` }] })
      tags.add(answer.headers.get('etag'))
      codings.push(answer.headers.get('content-encoding'))
    }
    expect(codings).toEqual(['gzip', 'gzip', 'gzip', 'gzip', null, null, 'gzip'])
    expect(tags.size).toBe(6)
    const [further] = await countedCalls(() => fetch(at('z')))
    expect(further).toBeLessThan(10_000)
  })
})

describe('a stylesheet', () => {
  test('has an entity tag for each coding', async () => {
    const { get } = await everything()
    const page = await (await get('/auth/login')).text()
    const [path = ''] = /\/auth\/assets\/latchkey\.\w+\.css/.exec(page) ?? []
    const packed = await get(path, { 'accept-encoding': 'gzip' })
    const tag = packed.headers.get('etag') ?? ''
    expect((await get(path, { 'accept-encoding': 'gzip', 'if-none-match': tag })).status).toBe(304)
    expect((await get(path, { 'if-none-match': tag })).status).toBe(200)
  })
})
