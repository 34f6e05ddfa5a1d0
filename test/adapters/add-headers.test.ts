import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Add, addHeaders } from '../../src/adapters/add-headers.js'
import { addLate } from '../../src/adapters/late-headers.js'
import { addVarying } from '../../src/adapters/late-vary.js'
import { privately } from '../../src/http/verdict.js'

type Answer = (res: ServerResponse) => void

/** What a client gets of an answer to which the headers were added that way. */
async function received(add: Add, answer: Answer, headers: Readonly<Record<string, string>> = privately) {
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
  ['writeHead with its type alone', (res) => res.writeHead(200, { 'Content-Type': 'text/x-own' }).end('in')],
  [
    'writeHead with a type that is not listed',
    (res) => res.writeHead(200, Object.defineProperty({ 'x-own': '1' }, 'Content-Type', { value: 'a/b' })).end('in'),
  ],
  ['writeHead with an inherited type', (res) => res.writeHead(200, Object.create({ 'Content-Type': 'a/b' })).end('in')],
  [
    'writeHead with the same, inherited',
    (res) => res.writeHead(200, Object.create({ 'cache-control': 'a' })).end('in'),
  ],
  ['writeHead with a list', (res) => res.writeHead(200, ['X-Own', '1', 'X-Own', '2']).end('in')],
  ['writeHead with the same header in a list', (res) => res.writeHead(200, ['Cache-Control', 'c']).end('in')],
  ['writeHead with reason and list', (res) => res.writeHead(200, 'Fine', ['Cache-Control', 'c']).end('in')],
  ['write', (res) => void res.write('i', () => res.end('n'))],
  ['flushHeaders', (res) => [res.flushHeaders(), res.end('in')]],
  ['a wrapped writeHead', (res) => [wrap(res), res.writeHead(200, { 'x-own': '1' }).end('in')]],
  ['a writeHead wrapped twice', (res) => [wrap(res), wrap(res), res.end('in')]],
]

test.each(ways)('headers of late and of early get the same answer: %s', async (_name, answer) => {
  const late = await received(addLate, answer)
  expect(late).toEqual(await received(addHeaders, answer))
  expect(late.fields).toMatchObject({ 'cache-control': expect.any(String), 'referrer-policy': expect.any(String) })
})

test('a response that inherits from another writes its head by what node has', async () => {
  const derived: Answer = (res) => {
    const lines = Object.create(Object.create(res)).writeHead(200, { 'x-own': '1' })._header
    res.end(
      lines
        .toLowerCase()
        .match(/(?:cache-control|x-own): .*/g)
        .join(),
    )
  }
  const { body, fields } = await received(addLate, derived)
  expect(body).toBe('cache-control: private, no-store,x-own: 1')
  expect(fields).toMatchObject(privately)
})

test('whoever wrapped writeHead before is still asked', async () => {
  const early: Add = (res, headers) => [wrap(res), addLate(res, headers)]
  const { fields } = await received(early, (res) => res.end('in'))
  expect(fields).toMatchObject({ ...privately, 'x-wrapped': '1' })
})

test('our Vary joins what is set later also where somebody wraps the response before us, after us, or inherits from it', async () => {
  const varying: Answer = (res) => res.setHeader('Vary', 'Accept').end('in')
  const before: Add = (res, headers) => [wrap(res), addVarying(res, headers)]
  const after: Add = (res, headers) => [addVarying(res, headers), wrap(res)]
  for (const add of [before, after]) {
    const { fields } = await received(add, varying, { vary: 'Origin' })
    expect(fields).toMatchObject({ vary: 'Accept, Origin', 'x-wrapped': '1' })
  }
  const derived: Answer = (res) => res.end(Object.create(res).writeHead(200, { vary: 'Accept' })._header)
  expect((await received(after, derived, { vary: 'Origin' })).body).toContain('vary: Accept, Origin')
})

test('a response that inherits from a wrapped one has its head completed, too', async () => {
  const derived: Add = (res, headers) => {
    wrap(res)
    const inheriting = Object.create(res)
    addLate(inheriting, headers)
    inheriting.writeHead(200, { 'x-own': '1' })
  }
  const { fields } = await received(derived, (res) => res.end('in'))
  expect(fields).toMatchObject({ ...privately, 'x-own': '1' })
})

test('other headers are added at once, and one that cannot be sent throws', async () => {
  const others = { vary: 'Origin', 'x-added': '1' }
  const own: Answer = (res) => res.appendHeader('Vary', 'Accept').end(String(res.getHeader('x-added')))
  const { fields, body } = await received(addLate, own, others)
  expect([fields.vary, body]).toEqual(['Origin, Accept', '1'])
  const bad: Answer = (res) => {
    expect(() => addLate(res, { 'x-bad': 'a\nb' })).toThrow(TypeError)
    res.end()
  }
  expect((await received(addHeaders, bad)).status).toBe(200)
})

test('a head that is written twice is refused as by node', async () => {
  const twice: Answer = (res) => {
    res.writeHead(200)
    expect(() => res.writeHead(201)).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }))
    res.end('in')
  }
  expect(await received(addLate, twice)).toEqual(await received(addHeaders, twice))
})
