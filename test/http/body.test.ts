import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { AuthError, type ErrorCode } from '../../src/errors.js'
import { bodyLimitBytes, readBody } from '../../src/http/body.js'
import type { HttpRequest, RequestBody } from '../../src/http/message.js'
import { readVectors } from '../support/vectors.js'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** A body on the wire that counts what was taken from it; it may never end. */
function stream(chunks: Iterable<Uint8Array>): RequestBody & { taken: number } {
  return {
    kind: 'stream',
    taken: 0,
    async read(limitBytes) {
      const kept: Uint8Array[] = []
      for (const chunk of chunks) {
        this.taken += chunk.length
        if (this.taken > limitBytes) return null
        kept.push(chunk)
      }
      return Buffer.concat(kept)
    },
  }
}

function post(body: RequestBody | string | Uint8Array, headers: HttpRequest['headers'] = json): HttpRequest {
  const onWire = typeof body === 'string' || body instanceof Uint8Array ? stream([Buffer.from(body)]) : body
  const common = {
    path: '/auth/login',
    query: 'email=alice@example.com',
    mount: '',
    rawHeaders: null,
    ip: null,
    native: null,
  }
  return { method: 'POST', ...common, headers, body: onWire }
}

const parsed = (value: unknown): RequestBody => ({ kind: 'parsed', value })

async function fault(request: HttpRequest): Promise<ErrorCode | null> {
  try {
    await readBody(request)
    return null
  } catch (error) {
    if (error instanceof AuthError) return error.code
    throw error
  }
}

describe('what is read', () => {
  test('a JSON object', async () => {
    const text = '{"email":"alice@example.com","profile":{"tags":["a",1,true,null]}}'
    expect(await readBody(post(text))).toEqual({ value: JSON.parse(text), form: false, method: null, redirect: null })
  })

  test('a form, with plus for a blank', async () => {
    expect(await readBody(post('email=alice%40example.com&name=J%C3%BCrgen+M&empty=&bare', form))).toEqual({
      value: { email: 'alice@example.com', name: 'Jürgen M', empty: '', bare: '' },
      form: true,
      method: null,
      redirect: null,
    })
  })

  test.each(['PATCH', 'DELETE'])('a form that means %s', async (method) => {
    const body = await readBody(post(`_method=${method}&name=x`, form))
    expect(body).toEqual({ value: { name: 'x' }, form: true, method, redirect: null })
  })

  test('a form that says where it wants to end', async () => {
    const body = await readBody(post('_redirect=%2Finbox&name=x', form))
    expect(body).toEqual({ value: { name: 'x' }, form: true, method: null, redirect: '/inbox' })
  })

  test.each(['GET', 'PUT', 'patch', '', 'POST'])('a form that means %j is refused', async (method) => {
    expect(await fault(post(`_method=${method}`, form))).toBe('invalid_request')
  })

  test('_method in JSON is a field like any other', async () => {
    expect(await readBody(post('{"_method":"DELETE"}'))).toMatchObject({
      value: { _method: 'DELETE' },
      method: null,
      redirect: null,
    })
  })

  test.each([
    ['no type', {}],
    ['JSON', json],
    ['a form', form],
  ])('an empty body of %s is an empty object', async (_, headers) => {
    expect((await readBody(post('', headers))).value).toEqual({})
    expect((await readBody(post(parsed(undefined), headers))).value).toEqual({})
    expect((await readBody(post(parsed({}), headers))).value).toEqual({})
  })

  test.each(['GET', 'HEAD'])('the body of %s is not even looked at', async (method) => {
    const body = stream([Buffer.from('{"email":"x"}')])
    const request = { ...post(body, { ...json, 'content-encoding': 'gzip' }), method }
    expect(await readBody(request)).toEqual({ value: {}, form: false, method: null, redirect: null })
    expect(body.taken).toBe(0)
  })

  test.each([
    'application/json',
    'APPLICATION/JSON; Charset=UTF-8',
    'application/json;charset="utf-8"',
    ' application/json ; charset=utf8',
    'application/json; profile=x',
  ])('the type %j is JSON', async (type) => {
    expect((await readBody(post('{"a":1}', { 'content-type': type }))).value).toEqual({ a: 1 })
  })

  test.each([
    'text/plain',
    'text/plain; application/json',
    'text/plain, application/json',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=iso-8859-1',
    'application/json; charset="utf-8;x"',
    'application/json; charset=',
    'application/x-www-form-urlencoded; charset=iso-8859-1',
    'application/jsonp',
    'application/ld+json',
    'multipart/form-data; boundary=x',
    '\u00a0application/json',
    '',
  ])('ATK-110 the type %j is not supported', async (type) => {
    const body = stream([Buffer.from('{"a":1}')])
    expect(await fault(post(body, { 'content-type': type }))).toBe('unsupported_media_type')
    expect(body.taken).toBe(0)
    expect(await fault(post(parsed({ a: 1 }), { 'content-type': type }))).toBe('unsupported_media_type')
  })

  test('ATK-110 a body without a type, or with two, is not supported', async () => {
    expect(await fault(post('{"a":1}', {}))).toBe('unsupported_media_type')
    expect(await fault(post(parsed({ a: 1 }), {}))).toBe('unsupported_media_type')
    const twice = ['Content-Type', 'application/json', 'content-type', 'text/plain']
    expect(await fault({ ...post('{"a":1}'), rawHeaders: twice })).toBe('unsupported_media_type')
  })
})

describe('ATK-216 the cost of a body', () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=1`).join('&')
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]))

  test('200 fields pass, one more does not, in a form and in JSON, on the wire and parsed', async () => {
    for (const [count, code] of [
      [200, null],
      [201, 'invalid_request'],
      [5_000, 'invalid_request'],
    ] as const) {
      expect(await fault(post(fields(count), form))).toBe(code)
      expect(await fault(post(parsed(Object.fromEntries(new URLSearchParams(fields(count)))), form))).toBe(code)
      expect(await fault(post(JSON.stringify(members(count))))).toBe(code)
      expect(await fault(post(parsed(members(count))))).toBe(code)
    }
  })

  test('1,000 values pass in all, one more does not, on the wire before it is parsed', async () => {
    const lists = (count: number) => ({ a: Array.from({ length: count - 1 }, () => ({})) })
    expect(await fault(post(JSON.stringify(lists(1_000))))).toBeNull()
    expect(await fault(post(parsed(lists(1_000))))).toBeNull()
    expect(await fault(post(parsed(lists(1_001))))).toBe('invalid_request')
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    expect(await fault(post(JSON.stringify({ a: Array(5_000).fill(1), b: 1 })))).toBe('invalid_request')
    expect(parse).not.toHaveBeenCalled()
  })

  test('a body that is nested too deeply is refused before it is parsed', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    expect(await fault(post('{"a":'.repeat(33)))).toBe('invalid_request')
    expect(await fault(post('['.repeat(60_000)))).toBe('invalid_request')
    expect(parse).not.toHaveBeenCalled()
    expect(await fault(post(JSON.stringify({ a: '[{'.repeat(100), b: '\\"[['.repeat(50) })))).toBeNull()
    expect(parse).toHaveBeenCalledTimes(1)
  })
})

describe('bodies that a parser of the application has read', () => {
  test.each([
    ['an object', { email: 'x' }],
    ['text', '{"email":"x"}'],
    ['bytes', Buffer.from('{"email":"x"}')],
    ['an object of another realm', runInNewContext('({ email: "x" })')],
  ])('JSON as %s', async (_, value) => {
    expect((await readBody(post(parsed(value)))).value).toEqual({ email: 'x' })
  })

  test.each([
    ['an object', { email: 'x', _method: 'PATCH' }],
    ['text', 'email=x&_method=PATCH'],
    ['bytes', Buffer.from('email=x&_method=PATCH')],
  ])('a form as %s', async (_, value) => {
    expect(await readBody(post(parsed(value), form))).toEqual({
      value: { email: 'x' },
      form: true,
      method: 'PATCH',
      redirect: null,
    })
  })

  test.each([
    ['an array', ['x']],
    ['a number', 1],
    ['true', true],
    ['a date', { at: new Date(0) }],
    ['bytes inside', { email: Buffer.from('x') }],
    ['a function', { email: () => 'x' }],
    ['a big integer', { count: 1n }],
    ['undefined', { email: undefined }],
    ['a Map', new Map([['email', 'x']])],
    ['text that is no JSON', 'email=x'],
  ])('ATK-110 JSON as %s is refused', async (_, value) => {
    expect(await fault(post(parsed(value)))).toBe('invalid_request')
  })

  test.each([
    ['a repeated field', { email: ['a', 'b'] }],
    ['brackets', { email: { $ne: '' } }],
    ['an array', ['a']],
    ['a number', { email: 1 }],
  ])('ATK-110 a form with %s is refused', async (_, value) => {
    expect(await fault(post(parsed(value), form))).toBe('invalid_request')
  })

  test('a cycle is nested too deeply', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.again = cycle
    expect(await fault(post(parsed(cycle)))).toBe('invalid_request')
  })

  test('neither toJSON nor a getter of the object counts', async () => {
    expect(await fault(post(parsed({ toJSON: () => ({ role: 'ADMIN' }) })))).toBe('invalid_request')
  })

  test('the size counts by content-length, and by itself where there is none', async () => {
    const large = { password: 'x'.repeat(bodyLimitBytes) }
    for (const value of [large, JSON.stringify(large), Buffer.from(JSON.stringify(large))]) {
      expect(await fault(post(parsed(value)))).toBe('payload_too_large')
    }
    expect(await fault(post(parsed(large), form))).toBe('payload_too_large')
    expect(await fault(post(parsed({}), { ...json, 'content-length': '65537' }))).toBe('payload_too_large')
  })
})

describe('size and framing', () => {
  const { size_and_framing: cases } = readVectors<{ size_and_framing: { id: string }[] }>('request-bodies')

  const wide = `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`
  const integers = `{${Array.from({ length: 100_000 }, (_, index) => `"${index}":1`).join(',')}}`
  const multipart = '--x\r\ncontent-disposition: form-data; name="email"\r\n\r\nalice@example.com\r\n--x--\r\n'

  const requests: Readonly<Record<string, [make: () => HttpRequest, code: ErrorCode | null]>> = {
    'depth-object': [() => post(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`), 'payload_too_large'],
    wide: [() => post(wide), 'payload_too_large'],
    'hash-collide': [() => post(integers), 'payload_too_large'],
    'long-string': [() => post(`{"password":"${'x'.repeat(1_048_576)}"}`), 'payload_too_large'],
    'gzip-bomb': [
      () => post(gzipSync(Buffer.alloc(10_000_000)), { ...json, 'content-encoding': 'gzip' }),
      'unsupported_media_type',
    ],
    'chunked-endless': [() => post(stream(endless())), 'payload_too_large'],
    multipart: [() => post(multipart, { 'content-type': 'multipart/form-data; boundary=x' }), 'unsupported_media_type'],
    'urlencoded-brackets': [() => post('email[$ne]=&password[$ne]=', form), null],
    'urlencoded-proto': [() => post('__proto__[role]=ADMIN&email=a%40example.com', form), null],
    'json-charset-utf16': [
      () => post(Buffer.from('{}', 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }),
      'unsupported_media_type',
    ],
    'content-type-list': [
      () => post('{}', { 'content-type': 'text/plain, application/json' }),
      'unsupported_media_type',
    ],
    'content-type-case': [() => post('{}', { 'content-type': 'APPLICATION/JSON; Charset=UTF-8' }), null],
    'query-instead-of-body': [() => post(''), null],
    'get-login': [() => ({ ...post(''), method: 'GET' }), null],
  }

  function* endless(): Generator<Uint8Array> {
    while (true) yield Buffer.from(' ')
  }

  test('every case of the vectors is here, but for the one whose clock is the server’s', () => {
    expect(Object.keys(requests)).toEqual(cases.map(({ id }) => id).filter((id) => id !== 'slow-body'))
  })

  test.each(Object.entries(requests))('ATK-110 %s', async (_, [make, code]) => {
    expect(await fault(make())).toBe(code)
  })

  test('ATK-110 brackets in a form are plain characters, and the query is no body', async () => {
    const brackets = await readBody(post('email[$ne]=&password[$ne]=', form))
    expect(brackets.value).toEqual({ 'email[$ne]': '', 'password[$ne]': '' })
    const proto = await readBody(post('__proto__[role]=ADMIN&__proto__=x&email=a%40example.com', form))
    expect(Object.keys(proto.value)).toEqual(['__proto__[role]', 'email'])
    expect((await readBody(post(''))).value).toEqual({})
  })

  test.each(['gzip', 'br', 'GZIP', '', 'identity, gzip'])(
    'ATK-110 a content-encoding of %j is not supported',
    async (encoding) => {
      expect(await fault(post('{}', { ...json, 'content-encoding': encoding }))).toBe('unsupported_media_type')
      expect(await fault(post(parsed({ a: 1 }), { ...json, 'content-encoding': encoding }))).toBe(
        'unsupported_media_type',
      )
      expect(await fault(post('{}', { ...json, 'content-encoding': 'identity' }))).toBeNull()
    },
  )

  test('a body that says it is too large is not read', async () => {
    const body = stream([Buffer.from('{}')])
    expect(await fault(post(body, { ...json, 'content-length': '65537' }))).toBe('payload_too_large')
    expect(body.taken).toBe(0)
  })

  test('65,536 bytes pass, one more does not, whatever the length said', async () => {
    const largest = `{"a":"${'x'.repeat(bodyLimitBytes - 8)}"}`
    expect(largest).toHaveLength(bodyLimitBytes)
    expect(await fault(post(largest, { ...json, 'content-length': '65536' }))).toBeNull()
    expect(await fault(post(` ${largest}`, { ...json, 'content-length': '2' }))).toBe('payload_too_large')
    expect(await fault(post(parsed(` ${largest}`)))).toBe('payload_too_large')
  })

  test.each(['x', '-1', '1e3', '0x10', ''])('a content-length of %j is refused', async (length) => {
    expect(await fault(post('{}', { ...json, 'content-length': length }))).toBe('invalid_request')
  })

  test('32 levels pass, one more does not', async () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(await fault(post(nested(32)))).toBeNull()
    expect(await fault(post(nested(33)))).toBe('invalid_request')
    expect(await fault(post(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`))).toBe('invalid_request')
  })
})

describe('raw texts', () => {
  const { cases } = readVectors<{ cases: { id: string; body_raw?: string }[] }>('request-bodies')
  const raw = cases.flatMap(({ id, body_raw }) => (body_raw === undefined ? [] : [{ id, body_raw }]))

  /** What the reader lets through; the route's schema judges it. */
  const passing: Readonly<Record<string, unknown>> = {
    'raw-105': { email: 'alice@example.com', password: 'x' },
    'raw-106': { constructor: { prototype: { role: 'ADMIN' } }, email: 'a@example.com', password: 'x' },
    'raw-107': { email: 'a@example.com', password: 'x' },
    'raw-108': { email: 'a@example.com' },
    'raw-109': { email: 'b@example.com', password: 'x' },
    'raw-110': { password: { $ne: null }, email: 'a@example.com' },
    'raw-118': {},
    'raw-125': { email: 'a@example.com', password: 'x\u0000y' },
    'raw-126': { email: 'a@example.com', password: 'x' },
  }

  test('every exception belongs to a vector', () => {
    expect(Object.keys(passing).filter((id) => !raw.some((one) => one.id === id))).toEqual([])
  })

  test.each(raw)('ATK-110 $id', async ({ id, body_raw }) => {
    const expected = passing[id]
    if (expected === undefined) expect(await fault(post(body_raw))).toBe('invalid_request')
    else expect({ ...(await readBody(post(body_raw))).value }).toEqual(expected)
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(Reflect.get({}, 'role')).toBeUndefined()
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
  })

  test('ATK-110 nothing of __proto__ survives, however deep and whoever copies it on', async () => {
    const text =
      '{"__proto__":{"role":"ADMIN"},"a":{"__proto__":{"role":"ADMIN"},"b":[{"__proto__":{"role":"ADMIN"}}]}}'
    for (const body of [text, parsed(JSON.parse(text)), parsed(text)]) {
      const { value, lostKeys } = await readBody(post(body))
      expect(JSON.stringify(value)).toBe('{"a":{"b":[{}]}}')
      expect(lostKeys).toBe(true)
      expect(Reflect.get(Object.assign({}, value), 'role')).toBeUndefined()
      expect(Reflect.get(Object.assign({}, value.a), 'role')).toBeUndefined()
    }
  })

  test('ATK-110 what a body does not say, its prototype does not say either', async () => {
    const { value } = await readBody(post('{"email":"x"}'))
    expect('constructor' in value).toBe(false)
    expect('toString' in value).toBe(false)
  })

  test('a schema reads the value as it reads any object', async () => {
    const schema = z.looseObject({ email: z.string(), profile: z.record(z.string(), z.number()).optional() })
    const { value } = await readBody(post('{"email":"x","profile":{"a":1},"more":true}'))
    expect(schema.parse(value)).toEqual({ email: 'x', profile: { a: 1 }, more: true })
    expect(z.strictObject({ email: z.string() }).safeParse(value).success).toBe(false)
  })

  test.each([
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ['an overlong form', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc0, 0x80, 0x22, 0x7d])],
    ['a byte order mark', Buffer.from('\ufeff{"a":1}')],
  ])('%s is refused, on the wire and already read', async (_, bytes) => {
    expect(await fault(post(bytes))).toBe('invalid_request')
    expect(await fault(post(parsed(bytes)))).toBe('invalid_request')
  })

  test.each(['a=%', 'a=%E0%A4%A', 'a=%ff', '%zz=1', 'a=1&a=2', 'a=1&a=1', 'a=1&%61=2', '\ufeffa=1'])(
    'ATK-110 the form %j is refused',
    async (text) => {
      expect(await fault(post(text, form))).toBe('invalid_request')
    },
  )

  test.each(['{"\\ud800":1}', '{"a":"\\udc00\\ud800"}', '{"a":["\\ud83d"]}'])(
    'ATK-110 a text without UTF-8 is refused: %s',
    async (text) => {
      expect(await fault(post(text))).toBe('invalid_request')
    },
  )

  test('a pair of surrogates is a character like any other', async () => {
    expect((await readBody(post('{"a":"\\ud83d\\ude00"}'))).value).toEqual({ a: '😀' })
  })
})
