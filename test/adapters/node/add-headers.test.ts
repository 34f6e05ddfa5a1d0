import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addHeaders } from '../../../src/adapters/node/late-vary.js'
import { privately } from '../../../src/http/verdict.js'

type Answer = (res: ServerResponse) => void
type Add = typeof addHeaders

const varying = { ...privately, vary: 'Origin' }

/** The response that a client receives when the headers were added before the application answered. */
async function received(
  answer: Answer,
  { add = addHeaders, headers = varying }: { add?: Add; headers?: Readonly<Record<string, string>> } = {},
) {
  const server = createServer((_req, res) => {
    add(res, headers)
    answer(res)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const { status, statusText } = response
  const { date: _date, ...fields } = Object.fromEntries(response.headers)
  return { status, statusText, fields, body: await response.text() }
}

/** As `on-headers` and what is made with it do it. */
function wrap(res: ServerResponse): void {
  const { writeHead } = res
  res.writeHead = ((...given: Parameters<typeof writeHead>) => {
    res.setHeader('x-wrapped', '1')
    return writeHead.apply(res, given)
  }) as typeof writeHead
}

const ways: [name: string, answer: Answer][] = [
  ['end', (res) => res.end('in')],
  ['end without a body', (res) => res.writeHead(204).end()],
  ['a header of its own', (res) => res.setHeader('x-own', '1').end('in')],
  ['the same header, set', (res) => res.setHeader('Cache-Control', 'public, max-age=60').end('in')],
  ['the same header as a list', (res) => res.setHeader('cache-control', ['public', 'max-age=60']).end('in')],
  ['writeHead with a status', (res) => res.writeHead(201).end('in')],
  ['writeHead with a reason', (res) => res.writeHead(201, 'Made').end('in')],
  ['writeHead with headers', (res) => res.writeHead(200, { 'x-own': '1', 'content-length': 2 }).end('in')],
  ['writeHead with reason and headers', (res) => res.writeHead(200, 'Fine', { 'x-own': '1' }).end('in')],
  ['writeHead with the same header', (res) => res.writeHead(200, { 'CACHE-CONTROL': 'public' }).end('in')],
  ['writeHead with both', (res) => res.writeHead(200, { 'Cache-Control': 'a', 'Referrer-Policy': 'origin' }).end('in')],
  ['writeHead after a header', (res) => res.setHeader('x-own', '1').writeHead(200, { 'x-two': '2' }).end('in')],
  [
    'writeHead after the same header',
    (res) => res.setHeader('cache-control', 'b').writeHead(200, { x: '2' }).end('in'),
  ],
  [
    'writeHead with a name that is not listed',
    (res) => res.writeHead(200, Object.defineProperty({}, 'cache-control', { value: 'public' })).end('in'),
  ],
  // Not in its types, but node takes it.
  ['writeHead with null', (res) => Reflect.apply(res.writeHead, res, [200, null]).end('in')],
  ['writeHead with inherited names', (res) => res.writeHead(200, Object.create({ 'x-not': '1' })).end('in')],
  [
    'writeHead with the same, inherited',
    (res) => res.writeHead(200, Object.create({ 'cache-control': 'a' })).end('in'),
  ],
  ['Vary, set', (res) => res.setHeader('Vary', 'Accept').end('in')],
  ['Vary with Origin, set', (res) => res.setHeader('Vary', 'Accept, origin').end('in')],
  ['writeHead with Vary', (res) => res.writeHead(200, { VARY: 'Accept' }).end('in')],
  ['writeHead with Vary in a list', (res) => res.writeHead(200, ['Vary', 'Accept']).end('in')],
  ['writeHead with a list', (res) => res.writeHead(200, ['X-Own', '1', 'X-Own', '2']).end('in')],
  ['writeHead with the same header in a list', (res) => res.writeHead(200, ['Cache-Control', 'c']).end('in')],
  ['writeHead with reason and list', (res) => res.writeHead(200, 'Fine', ['Cache-Control', 'c']).end('in')],
  ['write', (res) => void res.write('i', () => res.end('n'))],
  ['flushHeaders', (res) => [res.flushHeaders(), res.end('in')]],
  ['a wrapped writeHead', (res) => [wrap(res), res.writeHead(200, { 'x-own': '1' }).end('in')]],
  ['a writeHead wrapped twice', (res) => [wrap(res), wrap(res), res.end('in')]],
]

test.each(ways)('the response varies by Origin, whatever the application does: %s', async (name, answer) => {
  const plain = await received(answer, { headers: privately })
  const { fields, ...rest } = await received(answer)
  const { vary, ...others } = fields
  const listed = String(vary)
    .split(',')
    .map((one) => one.trim().toLowerCase())
  expect(listed.filter((one) => one === 'origin')).toEqual(['origin'])
  expect(listed.includes('accept')).toBe(name.includes('Vary'))
  const { vary: _vary, ...plainOthers } = plain.fields
  expect({ fields: others, ...rest }).toEqual({ ...plain, fields: plainOthers })
})

const ownHeaders: [name: string, answer: Answer, caching: string, referrer: string][] = [
  ['none', (res) => res.end('in'), privately['cache-control'], 'no-referrer'],
  ['set', (res) => res.setHeader('Cache-Control', 'public, max-age=60').end('in'), 'public, max-age=60', 'no-referrer'],
  ['given to writeHead', (res) => res.writeHead(200, { 'CACHE-CONTROL': 'public' }).end('in'), 'public', 'no-referrer'],
  ['both', (res) => res.writeHead(200, { 'Cache-Control': 'a', 'Referrer-Policy': 'origin' }).end('in'), 'a', 'origin'],
  ['in a list', (res) => res.writeHead(200, ['Cache-Control', 'c']).end('in'), 'c', 'no-referrer'],
]

test.each(ownHeaders)("the application's own headers replace ours: %s", async (_name, answer, caching, referrer) => {
  const { fields } = await received(answer)
  expect([fields['cache-control'], fields['referrer-policy']]).toEqual([caching, referrer])
})

test('Origin joins a Vary that is set later, also where somebody wraps the response before us, after us, or inherits from it', async () => {
  const later: Answer = (res) => res.setHeader('Vary', 'Accept').end('in')
  const before: Add = (res, headers) => [wrap(res), addHeaders(res, headers)]
  const after: Add = (res, headers) => [addHeaders(res, headers), wrap(res)]
  for (const add of [before, after]) {
    const { fields } = await received(later, { add })
    expect(fields).toMatchObject({ vary: 'Accept, Origin', 'x-wrapped': '1' })
  }
  const derived: Answer = (res) => res.end(Object.create(res).writeHead(200, { vary: 'Accept' })._header)
  expect((await received(derived, { add: after })).body).toContain('vary: Accept, Origin')
})

test('a response that inherits from a wrapped one varies by Origin, too', async () => {
  const derived: Add = (res, headers) => {
    wrap(res)
    const inheriting = Object.create(res)
    addHeaders(inheriting, headers)
    inheriting.writeHead(200, { 'x-own': '1' })
  }
  const { fields } = await received((res) => res.end('in'), { add: derived })
  expect(fields).toMatchObject({ vary: 'Origin', 'x-own': '1' })
})

test('a header that cannot be sent throws', async () => {
  const bad: Answer = (res) => {
    expect(() => addHeaders(res, { 'x-bad': 'a\nb' })).toThrow(TypeError)
    res.end()
  }
  expect((await received(bad)).status).toBe(200)
})

test('a head that is written twice is refused as by node', async () => {
  const twice: Answer = (res) => {
    res.writeHead(200)
    expect(() => res.writeHead(201)).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }))
    res.end('in')
  }
  expect((await received(twice)).status).toBe(200)
})
