import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type CollectionsHost, collectionsHost } from '../../support/collections-host.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let host: CollectionsHost
let reader: Record<string, string>
let writer: Record<string, string>
beforeAll(async () => {
  host = await collectionsHost()
  await host.createSpace('dev')
  const lines = [
    { _id: 'a', text: `${'a'.repeat(60)}b`, list: [{ n: 1 }, { n: 2 }] },
    { _id: 'b', text: 'short', list: [] },
  ]
  const imported = await host.importText('things', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(imported.status).toBe(200)
  const deployed = await host.deploy('crud')
  expect(deployed.rows.at(-1)).toMatchObject({ release: 1 })
  ;[reader, writer] = await Promise.all([tokenOf('READ'), tokenOf('READWRITE')])
})
afterAll(() => host.close())

async function tokenOf(access: string): Promise<Record<string, string>> {
  const { body } = await host.call('POST', '/tokens', { name: access, access })
  const { token } = body as { token: string }
  return { 'x-apikey': token }
}

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${host.base}/dev/crud/things${path}`, { headers: reader, ...init })
  return { status: answer.status, text: await answer.text() }
}

const asked = (query: object, rest = '') => ask(`?q=${encodeURIComponent(JSON.stringify(query))}${rest}`)

const doubled = {
  $reduce: {
    input: { $range: [0, 40] },
    initialValue: [0, 1, 2, 3],
    in: { $concatArrays: ['$$value', '$$value'] },
  },
}
const shared = (at: number): object => ({
  $let: {
    vars: Object.fromEntries(
      ['l', 'r'].map((name) => [`${name}${at}`, Array(30).fill(at === 0 ? 1 : `$$${name}${at - 1}`)]),
    ),
    in: at === 6 ? { $eq: ['$$l6', '$$r6'] } : shared(at + 1),
  },
})
const hostile: [string, object][] = [
  ['$range', { $expr: { $gt: [{ $size: { $range: [0, 4_000_000_000] } }, 1] } }],
  ['$let', { $expr: shared(0) }],
  ['$reduce', { $expr: { $gt: [{ $size: doubled }, 1] } }],
  ['$regex', { text: { $regex: '^(a+)+$' } }],
  ['$regexMatch', { $expr: { $regexMatch: { input: '$text', regex: '^(a+)+$' } } }],
]

async function status(): Promise<unknown> {
  const { body } = await host.call('GET', '')
  return body
}

const alive = { state: 'ready', restarts: 0 }

test.each(hostile)('ATK-236 %s of a READ token is 400, and the application lives', async (_what, query) => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => asked(query)))
  for (const { status, text } of answers) {
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ code: 'query_invalid' })
  }
  expect((await asked({ text: 'short' })).status).toBe(200)
  expect(await status()).toMatchObject(alive)
})

test.each([
  ['the flag v', '\\p{RGI_Emoji}', 'iv'],
  ['many properties', '\\p{L}', 'iu'],
])('ATK-236 a pattern with %s is refused before it is compiled', async (_what, part, flags) => {
  const filter = { text: { $regex: part.repeat(100), $options: flags } }
  // crudlify answers a filter that cannot be read by text.
  expect(await asked(filter)).toMatchObject({ status: 400, text: expect.stringContaining('regular expression has') })
  const answer = await host.query('things', { filter })
  expect(answer.text).toContain('query_invalid')
  expect(await status()).toMatchObject(alive)
})

test('ATK-236 37 of them at once leave the application in place', async () => {
  const queries = Array.from({ length: 37 }, (_, n) => hostile[n % 2]?.[1] ?? {})
  const answers = await Promise.all(queries.map((query) => asked(query)))
  expect(answers.map(({ status }) => status)).toEqual(Array(37).fill(400))
  expect(await status()).toMatchObject(alive)
})

test('ATK-236 a position of a list far behind its end is refused', async () => {
  const body = JSON.stringify({ $set: { 'list.4294967290': 1 } })
  const headers = { ...writer, 'content-type': 'application/json' }
  const answer = await ask('/a', { method: 'PATCH', headers, body })
  // crudlify answers each fault of an update so.
  expect(answer).toMatchObject({ status: 404, text: expect.stringContaining('adds at most 10000 positions') })
  expect(JSON.parse((await ask('/a')).text)).toMatchObject({ list: [{ n: 1 }, { n: 2 }] })
  expect(await status()).toMatchObject(alive)
})

test.each(hostile)('ATK-236 %s in a query of the control API is 422', async (_what, filter) => {
  const answer = await host.query('things', { filter })
  expect(answer.text).toContain('query_invalid')
})
