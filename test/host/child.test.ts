import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hopHeader } from '../../src/host/runner/hop.js'
import { openWorkshop, type SpaceChild, type Workshop } from '../support/space-child.js'
import { openSqliteStore } from '../support/sqlite-store.js'

const ann = { kind: 'apiToken', tokenId: 't1', name: 'ci', access: 'READWRITE' }

let workshop: Workshop
let friendly: SpaceChild
let hostile: SpaceChild
beforeAll(async () => {
  workshop = await openWorkshop()
  friendly = await workshop.start('friendly')
  hostile = await workshop.start('hostile', { env: { SECRET: 's3cret' } })
})
afterAll(() => workshop.close())

const json = { 'content-type': 'application/json' }
const parsed = async (answer: ReturnType<SpaceChild['ask']>) => {
  const { status, text } = await answer
  return { status, body: JSON.parse(text) }
}

describe('start', () => {
  test('a child listens after the startup of its application, and signs a nonce with the hop key', async () => {
    const child = await workshop.start('friendly')
    expect(child.log()).toContain('startup ran')
    expect(await child.store.keyValues.get({ keyspace: '', key: 'started' })).toBe('1970-01-01T00:00:00.000Z')
    const { status, text } = await child.health('n0nce')
    const signature = createHmac('sha256', child.hopKey).update('health\nn0nce').digest('base64url')
    expect({ status, ...JSON.parse(text) }).toEqual({
      status: 200,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      signature,
    })
    await expect.poll(() => child.lines.filter((line) => line.includes('heartbeat')).length).toBeGreaterThan(0)
  })

  test.each([
    ['throws-at-import', 'no key is set', 1],
    ['rejects-in-startup', 'no index could be made', 1],
    ['no-application', 'export default app.init()', 1],
    ['forgets-at-import', 'a forgotten promise at import', 1],
    ['exits', '', 0],
  ])('ATK-162 a bundle that %s ends before it listens, and the log says why', async (bundle, reason, code) => {
    const child = await workshop.start(bundle, { expectEnd: true })
    expect(await child.ended).toEqual({ code, signal: null })
    expect(child.log()).toContain(reason)
    expect(child.lines.filter((line) => line.includes('listening'))).toEqual([])
  })

  test('the bundle finds the environment of the space at import, and the command line does not show it', async () => {
    const child = await workshop.start('friendly', { env: { SECRET_KEY: 's3cret value' } })
    const { body } = await parsed(child.ask('/dev/env', { principal: ann }))
    expect(body).toMatchObject({ SECRET_KEY: 's3cret value', NODE_ENV: 'production' })
    expect(child.process.spawnargs.join(' ')).not.toContain('s3cret')
  })

  test('a child ends when the pipe does, and after SIGTERM when its last request has ended', async () => {
    const first = await workshop.start('friendly')
    first.pipe.destroy()
    expect(await first.ended).toEqual({ code: 0, signal: null })

    const second = await workshop.start('friendly')
    const sent = request({
      socketPath: second.socketPath,
      path: '/dev/upload',
      method: 'POST',
      headers: { [hopHeader]: second.hopKey },
    })
    sent.write('one')
    await once(sent, 'socket')
    await second.ask('/dev/open')
    second.process.kill('SIGTERM')
    await expect.poll(() => second.ask('/dev/open').catch(({ code }) => code)).toMatch(/^ENOENT|ECONNREFUSED$/)
    sent.end('two')
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(200)
    expect(await second.ended).toEqual({ code: 0, signal: null })
  })
})

describe('the hop', () => {
  test.each([
    ['no hop key', { hop: null }],
    ['another hop key', { hop: 'x'.repeat(43) }],
    ['two hop keys', { hop: null, headers: { [hopHeader]: ['a', 'b'] } }],
  ])('ATK-184 a request with %s is 403, whatever principal it claims', async (_what, options) => {
    const answer = await friendly.ask('/dev/closed', { ...options, principal: ann })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'forbidden' })
    expect(answer.headers['content-type']).toBe('application/problem+json')
  })

  test('a principal that cannot be read is 403', async () => {
    for (const sent of ['', 'x', Buffer.from('1').toString('base64url'), Buffer.from('null').toString('base64url')]) {
      const answer = await friendly.ask('/dev/open', { headers: { 'x-latchkey-principal': sent } })
      expect(answer.status).toBe(403)
    }
  })

  test('a principal is frozen as req.auth, and the application sees no header of ours', async () => {
    const { body } = await parsed(
      friendly.ask('/dev/echo?a=1&b=2&b=3', { principal: { ...ann, claims: { deep: [1] } } }),
    )
    expect(body).toMatchObject({
      method: 'GET',
      hostname: 'api.example.org',
      query: { a: '1', b: ['2', '3'] },
      params: {},
      body: {},
      path: '/dev/echo',
      apiPath: '/echo',
      originalUrl: '/dev/echo?a=1&b=2&b=3',
      auth: { ...ann, claims: { deep: [1] } },
      symbol: { ...ann, claims: { deep: [1] } },
      frozen: true,
      host: { space: 'dev' },
    })
    expect(body.rawBody).toBeUndefined()
    expect(JSON.stringify([body.headers, body.raw, body.keys])).not.toMatch(/latchkey/i)
  })

  test('ATK-148 headers that a client plants do not make a principal', async () => {
    const { body } = await parsed(
      friendly.ask('/dev/echo', { headers: { 'X-Latchkey-Host': '{}', 'x-user': 'admin' } }),
    )
    expect(body).toMatchObject({ auth: null, symbol: null })
    expect((await friendly.ask('/dev/closed', { headers: { 'x-user': 'admin' } })).status).toBe(401)
  })

  test('upgrades are 501', async () => {
    const socket = connect(friendly.socketPath)
    socket.write(
      `GET /dev/open HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n${hopHeader}: ${friendly.hopKey}\r\n\r\n`,
    )
    const text = (await socket.setEncoding('utf8').toArray()).join('')
    expect(text).toMatch(/^HTTP\/1\.1 501 /)
    expect(text).toContain('"code":"not_here"')
  })
})

describe('routes and hooks', () => {
  test('a principal skips the auth hooks; without one the first hook that matches decides', async () => {
    expect(await parsed(friendly.ask('/dev/hooked/who', { principal: ann }))).toEqual({
      status: 200,
      body: { user: null },
    })
    const asked = (password: string) => friendly.ask('/dev/hooked/who', { headers: { 'x-password': password } })
    // A property of the request stays in the hook; a header reaches the route.
    expect(await parsed(asked('open'))).toEqual({ status: 200, body: { user: null, header: 'ann' } })
    expect(await parsed(asked('wrong'))).toEqual({ status: 401, body: { error: 'no password' } })
    expect(await parsed(asked('refused'))).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(await parsed(asked('broken'))).toMatchObject({ status: 500, body: { code: 'internal_error' } })
  })

  test('a request without a matching hook is 401, without a route 404, and every function of a hook runs', async () => {
    const refused = await friendly.ask('/dev/closed')
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toContain('Bearer')
    expect((await friendly.ask('/dev/closed', { principal: ann })).text).toBe('in')
    expect((await friendly.ask('/dev/nowhere', { principal: ann })).status).toBe(404)
    expect((await friendly.ask('/dev/closed', { principal: ann, method: 'POST' })).status).toBe(404)
    expect(await friendly.ask('/dev/two')).toMatchObject({ status: 403, text: 'the second hook refuses' })
  })

  test('middleware runs in order, by path, with the parameters of the route', async () => {
    const { status, headers, text } = await friendly.ask('/dev/open/a%20b?x=1')
    expect({ status, ...JSON.parse(text) }).toEqual({ status: 201, params: { ID: 'a%20b' }, query: { x: '1' } })
    expect(headers).toMatchObject({ 'x-layer': 'all', 'x-params': '{"ID":"a%20b"}', 'x-regex': 'yes' })
  })

  test('a path outside the space is 404, and its health is the runner’s', async () => {
    for (const path of ['/prod/open', '/development/open', '/', '/DEV/open']) {
      expect((await friendly.ask(path, { principal: ann })).status).toBe(404)
    }
    expect(await friendly.ask('/dev/health')).toMatchObject({ status: 200, text: 'Alive' })
  })

  test('HEAD is answered by a GET route, without its body', async () => {
    const head = await friendly.ask('/dev/open', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
  })
})

describe('bodies and answers', () => {
  test.each([
    ['application/json', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['application/vnd.api+json; charset=utf-8', '[1]', [1]],
    [
      'application/x-www-form-urlencoded',
      'a=1&b=2&b=3&__proto__=x',
      JSON.parse('{"a":"1","b":["2","3"],"__proto__":"x"}'),
    ],
    ['application/json', '', {}],
  ])('%s is parsed, and kept as text', async (type, text, expected) => {
    const { body } = await parsed(
      friendly.ask('/dev/echo', { method: 'POST', headers: { 'content-type': type }, body: text }),
    )
    expect(body).toMatchObject({ body: expected, rawBody: text })
  })

  test('invalid JSON is 400, and a parsed body that is too large is 413', async () => {
    const child = await workshop.start('friendly', { limits: { bodyBytes: 100 } })
    const post = (body: string | Readable) => child.ask('/dev/echo', { method: 'POST', headers: json, body })
    expect(await parsed(post('{'))).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const large = JSON.stringify('x'.repeat(100))
    expect(await parsed(post(large))).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    // Without a length of its own.
    expect((await post(Readable.from([large]))).status).toBe(413)
    expect((await post('{"a":1}')).status).toBe(200)
  })

  test('ATK-155 a form has 10,000 fields at most, because each takes many times its bytes in memory', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `f${n}=`).join('&')
    const post = (count: number) => parsed(friendly.ask('/dev/echo', { method: 'POST', headers, body: fields(count) }))
    expect(await post(10_000)).toMatchObject({ status: 200 })
    expect(await post(10_001)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(await post(1_000_000)).toMatchObject({ status: 413 })
  })

  test('ATK-155 JSON has 250,000 values at most, because small ones take many times their bytes in memory', async () => {
    const post = (body: string) => friendly.ask('/dev/open/count', { method: 'POST', headers: json, body })
    const list = (count: number) => `[${'{},'.repeat(count - 1)}{}]`
    expect(await parsed(post(list(125_000)))).toEqual({ status: 200, body: { count: 125_000 } })
    expect(await parsed(post(list(125_001)))).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(await parsed(post('['.repeat(5_000_000)))).toMatchObject({ status: 413 })
    // Commas of a text are no values.
    expect((await post(JSON.stringify([',{"'.repeat(500_000)]))).status).toBe(200)
  })

  test('other bodies are streams, however long, and long answers stream too', async () => {
    const child = await workshop.start('friendly', { limits: { bodyBytes: 100 } })
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const upload = child.ask('/dev/upload', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: Readable.from(Array.from({ length: 32 }, () => chunk)),
    })
    expect(await parsed(upload)).toEqual({ status: 200, body: { bytes: 32 * 1024 * 1024, body: {} } })
    const { status, text } = await child.ask('/dev/open/download/big')
    expect([status, text.length]).toEqual([200, 512 * 64 * 1024])
  })

  test('server-sent events arrive one by one, and their end reaches the application when the client leaves', async () => {
    const sent = request({
      socketPath: friendly.socketPath,
      path: '/dev/events',
      headers: { [hopHeader]: friendly.hopKey },
    })
    sent.end()
    const [response] = await once(sent, 'response')
    expect(response.headers['content-type']).toBe('text/event-stream')
    const [first] = await once(response.setEncoding('utf8'), 'data')
    expect(first).toBe('data: 1\n\n')
    const second = once(response, 'data')
    await friendly.ask('/dev/open/events/next')
    expect(await second).toEqual(['data: 2\n\n'])
    sent.destroy()
    await expect.poll(() => friendly.log()).toContain('events closed after 2')
  })

  test('redirects, several cookies and headers go out as they were set', async () => {
    expect(await friendly.ask('/dev/open/redirect/here')).toMatchObject({
      status: 303,
      headers: { location: '/dev/open' },
    })
    const { headers } = await friendly.ask('/dev/open/cookies/two')
    expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-one': '1' })
  })

  test('static files and views come from the release', async () => {
    expect(await friendly.ask('/dev/site')).toMatchObject({ status: 200, headers: { 'content-type': 'text/html' } })
    expect(await friendly.ask('/dev/site/site.css')).toMatchObject({
      status: 200,
      text: expect.stringContaining('color: teal'),
    })
    expect((await friendly.ask('/dev/site/none.css')).status).toBe(404)
    for (const path of ['/dev/site/../../bundle.mjs', '/dev/site/..%2f..%2fbundle.mjs']) {
      expect([401, 404]).toContain((await friendly.ask(path)).status)
    }
    const view = await friendly.ask('/dev/open/render/hbs?name=Ann')
    expect(view).toMatchObject({ status: 200, text: '<p>Hello Ann</p>\n' })
  })
})

describe('the Datastore', () => {
  const call = async (verb: string, ...input: readonly unknown[]) => {
    const body = JSON.stringify(input)
    const answer = await friendly.ask(`/dev/open/store/${verb}`, { method: 'POST', headers: json, body })
    return { status: answer.status, ...JSON.parse(answer.text) }
  }

  test('documents are written, found, changed and removed, by id and by query', async () => {
    const { value: made } = await call('insertOne', 'people', { name: 'Ann', n: 1 })
    expect(made).toEqual({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'Ann', n: 1 })
    expect((await call('insertOne', 'people', [{ name: 'Bob' }, { _id: 'c', name: 'Cid' }])).value).toHaveLength(2)
    expect((await call('getOne', 'people', made._id)).value).toEqual(made)
    expect((await call('findOne', 'people', { name: 'Cid' })).value).toEqual({ _id: 'c', name: 'Cid' })
    expect((await call('findOneOrNull', 'people', 'none')).value).toBeNull()
    expect(await call('getOne', 'people', 'none')).toMatchObject({ status: 500 })
    expect((await call('updateOne', 'people', 'c', { $inc: { n: 2 } })).value).toEqual({ _id: 'c', name: 'Cid', n: 2 })
    expect((await call('updateOne', 'people', { name: 'Dan' }, { n: 4 }, { upsert: true })).value).toMatchObject({
      n: 4,
    })
    expect((await call('replaceOne', 'people', 'c', { name: 'Cy' })).value).toEqual({ _id: 'c', name: 'Cy' })
    expect((await call('updateMany', 'people', {}, { seen: true })).value).toEqual({ count: 4 })
    expect((await call('removeOne', 'people', 'c')).value).toEqual({ _id: 'c' })
    expect((await call('removeMany', 'people', { name: 'Bob' })).value).toEqual({ count: 1 })
    expect((await call('count', 'people')).value).toEqual({ count: 2 })
    expect((await call('createIndex', 'people', ['name'])).value).toEqual({ collection: 'people', fields: ['name'] })
  })

  test('ATK-206 a taken value of a unique field is a response of 409, with the field and without the value', async () => {
    const store = await openSqliteStore()
    onTestFinished(store.file.close)
    const child = await workshop.start('friendly', { store })
    const ask = (verb: string, ...input: readonly unknown[]) =>
      child.ask(`/dev/open/store/${verb}`, { method: 'POST', headers: json, body: JSON.stringify(input) })
    expect((await ask('createIndex', 'users', ['email'], { unique: true })).status).toBe(200)
    expect((await ask('insertOne', 'users', { email: 'ann' })).status).toBe(200)
    const answer = await ask('insertOne', 'users', { email: 'ann' })
    expect(answer.status).toBe(409)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'already_exists', detail: expect.stringMatching(/email/) })
    expect(answer.text).not.toContain('ann')
    store.calls.length = 0
    expect(JSON.parse((await ask('getMany', 'users', { email: 'ann' })).text).value).toHaveLength(1)
    expect(store.calls).toContain('indexes/scan')
  })

  test('both signatures of the calls for many find the same', async () => {
    await call('insertOne', 'many', [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
      { _id: 'c', n: 3 },
    ])
    const filter = { n: { $gte: 2 } }
    const asked = [
      [filter, { sort: { n: -1 }, limit: 1 }],
      [{ filter, sort: { n: -1 }, limit: 1 }],
      [{ filter, hints: { $sort: { n: -1 }, $limit: 1 } }],
      [filter, { hints: { sort: { n: -1 }, skip: 0 }, limit: '1', filter: { ignored: 1 } }],
    ]
    for (const input of asked) expect((await call('getMany', 'many', ...input)).value).toEqual([{ _id: 'c', n: 3 }])
    expect((await call('find', 'many', {}, { hints: { $fields: { n: 1 } }, offset: 2 })).value).toEqual([
      { _id: 'c', n: 3 },
    ])
    expect((await call('updateMany', 'many', { seen: 1 }, { filter })).value).toEqual({ count: 2 })
    expect((await call('replaceMany', 'many', { n: 9 }, { filter: { n: 1 } })).value).toEqual({ count: 1 })
    expect((await call('removeMany', 'many', { filter: { n: 9 } })).value).toEqual({ count: 1 })
    expect((await call('getMany', 'many')).value).toHaveLength(2)
  })

  test('key-value pairs are texts, in keyspaces, and null when missing', async () => {
    const keyspace = { keyspace: 'k' }
    expect((await call('set', 'a:1', 'one', keyspace)).value).toBe('one')
    await call('setObj', 'a:2', { n: 2 }, keyspace)
    expect((await call('get', 'a:1', keyspace)).value).toBe('one')
    expect((await call('get', 'a:1')).value).toBeNull()
    expect((await call('getObj', 'a:2', keyspace)).value).toEqual({ n: 2 })
    expect((await call('incr', 'n', 2, keyspace)).value).toBe(2)
    expect((await call('decr', 'n', 1, keyspace)).value).toBe(1)
    expect((await call('getAll', 'a:', keyspace)).value).toEqual([
      { key: 'a:1', val: 'one' },
      { key: 'a:2', val: '{"n":2}' },
    ])
    expect((await call('del', 'a:1', keyspace)).value).toBe(1)
    expect((await call('delAll', '', keyspace)).value).toBe(2)
    const faults: [string, ...unknown[]][] = [
      ['set', '', 'x'],
      ['set', null, 'x'],
      ['set', 'lone \ud800', 'x'],
      ['get', 'a', { keyspace: 'lone \ud800' }],
      ['getAll', '\ud800'],
      ['set', 'a', 'lone \ud800'],
      ['incr', 'n', 'x'],
      ['set', 'a', 'x', { ttl: -1 }],
    ]
    for (const bad of faults) {
      expect(await call(...bad)).toMatchObject({ status: 400, code: 'query_invalid' })
    }
  })

  test('ATK-153 bad queries, names and ids are 400, and _ collections do not exist', async () => {
    const faults: [string, ...unknown[]][] = [
      ['getMany', 'people', { $where: 'true' }],
      ['getMany', '_x', {}],
      ['getMany', 'people', {}, { limit: -1 }],
      ['getMany', 'people', {}, { sort: { n: 2 } }],
      ['insertOne', 'people', { _id: 1 }],
      ['updateOne', 'people', {}, { $set: { 'constructor.evil.x': 1 } }, { upsert: true }],
    ]
    for (const input of faults) {
      expect(await call(...input)).toMatchObject({ status: 400, code: 'query_invalid' })
    }
  })

  test('a stream of documents is answered as one JSON array', async () => {
    expect((await friendly.ask('/dev/open/store/stream/json')).text).toBe('[\n\n]')
    await call('insertOne', 'notes', [{ _id: 'a' }, { _id: 'b' }])
    const { headers, text } = await friendly.ask('/dev/open/store/stream/json')
    expect([headers['content-type'], text]).toEqual(['application/json', '[\n{"_id":"a"},\n{"_id":"b"}\n]'])
    await call('removeMany', 'notes', {})
  })
})

describe('crudlify', () => {
  const rows = [
    { _id: 'a', name: 'Ally', age: 23, tags: ['x'], ok: true, addr: { city: 'Oslo' } },
    { _id: 'b', name: 'Bob', age: 31, tags: ['x', 'y'], ok: false, code: '23' },
    { _id: 'c', name: 'polly', age: 5 },
  ]
  const get = (query: string) => friendly.ask(`/dev/api/people?${query}`)
  beforeAll(async () => {
    const { documents } = friendly.store
    await documents.drop('people')
    for (const row of rows) await documents.put('people', row._id, JSON.stringify(row), 'absent')
  })
  const idsOf = (text: string) => JSON.parse(text).map(({ _id }: { _id: string }) => _id)

  test.each<[string, object, string[]]>([
    ['name=Ally', { name: 'Ally' }, ['a']],
    ['age=23', { age: 23 }, ['a']],
    ['age>23', { age: { $gt: 23 } }, ['b']],
    ['age>=23', { age: { $gte: 23 } }, ['a', 'b']],
    ['age>5&age<31', { age: { $gt: 5, $lt: 31 } }, ['a']],
    ['name!=Bob', { name: { $ne: 'Bob' } }, ['a', 'c']],
    ['name=Ally,Bob', { name: { $in: ['Ally', 'Bob'] } }, ['a', 'b']],
    ['name!=Ally,Bob', { name: { $nin: ['Ally', 'Bob'] } }, ['c']],
    ['tags', { tags: { $exists: true } }, ['a', 'b']],
    ['!tags', { tags: { $exists: false } }, ['c']],
    ['name=/^po/', { name: { $regex: '^po' } }, ['c']],
    ['name=/^A/i', { name: { $regex: '^A', $options: 'i' } }, ['a']],
    ['code="23"', { code: '23' }, ['b']],
    ['ok=true', { ok: true }, ['a']],
    ['addr.city=Oslo', { 'addr.city': 'Oslo' }, ['a']],
    ['age:mod=2,1', { age: { $mod: [2, 1] } }, ['a', 'b', 'c']],
    ['tags:all=x,y', { tags: { $all: ['x', 'y'] } }, ['b']],
    ['name:startsWith=po', { name: { $startsWith: 'po' } }, ['c']],
  ])('%s and its form in q find the same rows, byte by byte', async (query, filter, expected) => {
    const [plain, inQ] = [await get(query), await get(`q=${encodeURIComponent(JSON.stringify(filter))}`)]
    expect([plain.status, idsOf(plain.text)]).toEqual([200, expected])
    expect(inQ.text).toBe(plain.text)
  })

  test('sort, limit, offset and fields count in both forms', async () => {
    const plain = await get('sort=-age&limit=2&offset=1&fields=age')
    expect(JSON.parse(plain.text)).toEqual([
      { _id: 'a', age: 23 },
      { _id: 'c', age: 5 },
    ])
    const hints = JSON.stringify({ sort: { age: -1 }, limit: 2, offset: 1, fields: { age: 1 } })
    expect((await get(`q={}&h=${encodeURIComponent(hints)}`)).text).toBe(plain.text)
    expect((await get('q={}&sort=-age&offset=1&limit=2&fields=age')).text).toBe(plain.text)
  })

  test('rows are made, changed and removed, and faults have the status of the platform', async () => {
    const send = (method: string, path: string, body?: object) =>
      friendly.ask(`/dev/api/${path}`, { method, headers: json, ...(body && { body: JSON.stringify(body) }) })
    expect(await parsed(send('POST', 'things', { _id: 'x', n: 1 }))).toEqual({ status: 201, body: { _id: 'x', n: 1 } })
    expect((await send('POST', 'things', { _id: 'x', n: 2 })).status).toBe(400)
    expect(await parsed(send('PATCH', 'things/x', { $inc: { n: 1 } }))).toEqual({
      status: 200,
      body: { _id: 'x', n: 2 },
    })
    expect(await parsed(send('PUT', 'things/x', { m: 1 }))).toEqual({ status: 200, body: { _id: 'x', m: 1 } })
    expect(await parsed(send('PATCH', 'things/_byquery?m=1', { k: 1 }))).toEqual({ status: 200, body: { count: 1 } })
    expect((await send('GET', 'things/none')).status).toBe(404)
    expect(await parsed(send('DELETE', 'things/_byquery?k=1'))).toEqual({ status: 200, body: { count: 1 } })
    expect((await send('DELETE', 'things/x')).status).toBe(404)
  })

  test('ATK-153 hostile queries are 400, and hostile collections too', async () => {
    const deep = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`
    for (const filter of ['{"$where":"true"}', '{"a":{"$function":{}}}', '{"__proto__":{"a":1}}', '{', deep]) {
      expect((await get(`q=${encodeURIComponent(filter)}`)).status).toBe(400)
    }
    for (const path of ['_x', '__proto__', 'constructor..x']) {
      expect((await friendly.ask(`/dev/api/${path}`)).status).toBe(400)
    }
    expect((await friendly.ask('/dev/open')).status).toBe(200)
  })
})

describe('faults of the application', () => {
  test.each([
    ['throws', 500, 'internal_error'],
    ['rejects', 500, 'internal_error'],
    ['next', 500, 'internal_error'],
    ['falls', 404, 'not_found'],
    ['status', 500, 'internal_error'],
    ['header', 500, 'internal_error'],
  ])('a handler that %s is %i, without its cause in the answer', async (name, status, code) => {
    const { headers, ...answer } = await friendly.ask(`/dev/fails/${name}`, { headers: { 'x-request-id': 'r-1' } })
    expect({ status: answer.status, ...JSON.parse(answer.text) }).toMatchObject({ status, code, requestId: 'r-1' })
    expect(answer.text).not.toContain('secret cause')
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['x-layer']).toBeUndefined()
    if (status === 500) await expect.poll(() => friendly.log()).toMatch(/secret cause|ERR_/)
  })

  test('a handler that never answers is 504; one that stops in the middle is cut off; the next request is served', async () => {
    const child = await workshop.start('friendly', { limits: { requestMs: 300 } })
    const never = child.ask('/dev/fails/never')
    expect(await parsed(never)).toMatchObject({ status: 504, body: { code: 'application_timeout' } })
    await expect(child.ask('/dev/fails/half')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect((await child.ask('/dev/open')).status).toBe(200)
  })

  test('calls after the end of an answer do nothing, and neither does a second next()', async () => {
    const { status, headers, text } = await friendly.ask('/dev/fails/twice')
    expect([status, text, headers['x-late']]).toEqual([200, 'once', undefined])
    expect((await friendly.ask('/dev/open')).status).toBe(200)
  })

  test('a forgotten promise is logged and ends no process', async () => {
    expect((await friendly.ask('/dev/fails/forgotten')).text).toBe('still here')
    await expect.poll(() => friendly.log()).toContain('a forgotten promise')
    expect((await friendly.ask('/dev/open')).status).toBe(200)
  })

  test('with compat an exception is 200 with fatal: true, and every origin is echoed', async () => {
    const child = await workshop.start('friendly', { compat: { errors: 'platform', cors: 'echo' } })
    const { status, headers, text } = await child.ask('/dev/fails/throws', { headers: { origin: 'https://a.example' } })
    expect([status, JSON.parse(text)]).toEqual([200, { text: expect.any(String), fatal: true }])
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-credentials': 'true',
    })
    expect((await child.ask('/dev/open')).headers['access-control-allow-origin']).toBeUndefined()
  })

  test('an unsupported call rejects with not_supported and its name', async () => {
    const { body } = await parsed(friendly.ask('/dev/open/absent/calls'))
    expect(body.map(({ code }: { code: string }) => code)).toEqual([...Array(7).fill('not_supported'), 'ENOENT'])
    expect(body[0].message).toContain('enqueue')
    expect(body[3].message).toContain('realtime')
  })

  test('internalFetch reaches the own space only, without a principal', async () => {
    const { body } = await parsed(friendly.ask('/dev/open/internal/fetch?path=/dev/echo', { principal: ann }))
    expect(body).toMatchObject({ method: 'POST', body: { n: 1 }, auth: null })
    expect((await friendly.ask('/dev/open/internal/fetch?path=/dev/closed', { principal: ann })).status).toBe(401)
    expect((await friendly.ask('/dev/open/internal/fetch?path=/prod/echo', { principal: ann })).status).toBe(500)
  })
})

describe('a hostile bundle', () => {
  test.each([
    ['passwd', 'ERR_ACCESS_DENIED'],
    ['environ', 'ERR_ACCESS_DENIED'],
    ['parent', 'ERR_ACCESS_DENIED'],
    ['write', 'ERR_ACCESS_DENIED'],
    ['spawn', 'built_in_refused'],
    ['worker', 'built_in_refused'],
    ['addon', 'built_in_refused'],
    ['binding', 'built_in_refused'],
    ['send', 'TypeError'],
  ])('ATK-157 ATK-160 %s is refused', async (name, code) => {
    expect(JSON.parse((await hostile.ask(`/dev/try/${name}`)).text)).toEqual({ code })
  })

  test('it may write to its own tmp folder, and finds no secret in its arguments', async () => {
    expect(JSON.parse((await hostile.ask('/dev/try/temporary')).text)).toEqual({ value: null })
    expect(JSON.parse((await hostile.ask('/dev/try/tmpdir')).text)).toEqual({ value: null })
    const { text } = await hostile.ask('/dev/try/arguments')
    for (const secret of ['s3cret', hostile.hopKey]) expect(text).not.toContain(secret)
  })

  test('ATK-183 SIGUSR1 opens no inspector', async () => {
    expect((await hostile.ask('/dev/signal')).text).toBe('sent')
    hostile.process.kill('SIGUSR1')
    expect((await hostile.ask('/dev/try/evil')).status).toBe(200)
    expect(hostile.log()).not.toMatch(/debugger/i)
    const opened = await new Promise((resolve) => {
      const socket = connect(9229, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
    })
    expect(opened).toBe(false)
  })

  test('ATK-164 an identity that it sets itself stays in that request', async () => {
    expect(JSON.parse((await hostile.ask('/dev/forge')).text)).toEqual({
      auth: { kind: 'session', userId: 'admin' },
      symbol: 'TypeError',
    })
  })

  test('ATK-185 the runner itself writes short lines, however much the bundle writes into the pipe', async () => {
    expect((await hostile.ask('/dev/flood')).text).toBe('flooded')
    await expect.poll(() => hostile.lines.some((line) => line.endsWith('{"kind":"heartbeat"}'))).toBe(true)
    const own = hostile.lines.filter((line) => !line.startsWith('x'))
    expect(own.every((line) => line.length < 4_096)).toBe(true)
  })

  test('ATK-161 an endless loop ends the heartbeat, by which the front knows', async () => {
    await expect.poll(() => hostile.lines.length).toBeGreaterThan(1)
    hostile.ask('/dev/loop').catch(() => {})
    const beats = () => hostile.lines.length
    let last = -1
    await expect
      .poll(
        () => {
          const same = beats() === last
          last = beats()
          return same
        },
        { interval: 2_500, timeout: 30_000 },
      )
      .toBe(true)
  })
})
