import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest } from '../../support/raw-http.js'
import { install, type ServedHost, startServedHost } from '../../support/served-host.js'

// docs/host/applications.md, line by line, with one application that `latchkey deploy` brings to a host.

const application = `
import { app, Datastore as exported, filestore, realtime, schedule } from 'codehooks-js'
console.debug = () => {}
const AsyncFunction = (async () => {}).constructor
for (const path of ['/run', '/open', '/open/*', '/never', '/fails', '/notes', '/notes/*', '/starts', '/headers', '/auth'])
  app.auth(path, (_req, _res, next) => next())
app.auth('/refused', (_req, res) => res.status(401).json({ error: 'the hook refuses' }))
app.use((_req, res, next) => (res.set('x-layer', 'all'), next()))
app.use('/open/:id', (_req, res, next) => (res.set('x-path', 'one'), next()))
app.post('/run', async (req, res) => {
  const scope = { conn: await exported.open(), bare: await Datastore.open(), app, filestore, realtime, schedule, req, load: (name) => import(name) }
  try {
    res.json({ value: await new AsyncFunction(...Object.keys(scope), req.body.code)(...Object.values(scope)) })
  } catch (error) {
    res.status(422).json({ code: error.code, message: error.message })
  }
})
for (const method of ['get', 'post', 'put', 'patch', 'delete'])
  app[method]('/open/' + method, (req, res) => res.status(201).set('x-one', '1').json({ method: req.method, body: req.body }))
app.all('/open/all', (req, res) => res.end(req.method))
app.get('/closed', (_req, res) => res.end('in'))
app.get('/refused', (_req, res) => res.end('in'))
app.get('/auth', (req, res) => res.json({ auth: req.auth, query: req.query }))
app.post('/auth', (req, res) => res.json({ auth: req.auth }))
app.get('/headers', (req, res) => res.json(req.headers))
app.get('/never', () => {})
app.get('/fails', () => { throw new Error('a secret cause') })
app.get('/starts', async (_req, res) => {
  const conn = await exported.open()
  res.json({ starts: await conn.get('starts'), greeting: process.env.GREETING ?? null })
})
app.get('/open/after', async (_req, res) => {
  res.status(401).end('no')
  await (await exported.open()).insertOne('after', { n: 1 })
})
app.post('/open/raw', (req, res) => res.json({ raw: req.rawBody ?? null }))
app.get('/open/log', (_req, res) => (console.log('greeting is', process.env.GREETING), res.end()))
app.queue('orders', () => {})
app.worker('mailer', () => {})
app.job('0 * * * *', () => {})
app.realtime('/chat', () => {})
app.createWorkflow('signup', 'text', { begin: async () => {} })
app.crudlify({ notes: {} })
export default app.init(async () => {
  const conn = await exported.open()
  await conn.incr('starts', 1)
  conn.createIndex('notes', ['text'])
})
`

const patient = { timeout: 20_000 }
let host: ServedHost
let deployed = ''
const tool = async (...args: readonly string[]) => {
  const outcome = await host.desk.run([...args, '--space', 'dev'])
  if (outcome.code !== 0) throw new Error(outcome.stderr)
  return outcome.stdout + outcome.stderr
}
beforeAll(async () => {
  host = await startServedHost({ limits: { request: '3s' } })
  const folder = join(host.desk.folder, 'app')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'index.js'), application)
  await install(folder, 'codehooks-js', 'ajv')
  await tool('create', 'dev')
  deployed = await tool('deploy', '--dir', 'app')
}, 120_000)
afterAll(() => host?.stop())

interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

async function ask(path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = { method, headers: { ...json, ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${host.front}/dev${path}`, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null }
}

/** Runs code in the application. `conn` is a connection of the Datastore. */
const run = async (code: string) => (await ask('/run', { method: 'POST', body: { code } })).body
const value = async (code: string) => (await run(code)).value

describe('what works', () => {
  test('routes, chains and middleware', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'GET' ? undefined : { n: 1 }
      const answer = await ask(`/open/${method.toLowerCase()}`, { method, body })
      expect(answer).toMatchObject({ status: 201, body: { method, body: body ?? {} } })
      expect(['x-one', 'x-layer', 'x-path'].map((name) => answer.headers.get(name))).toEqual(['1', 'all', 'one'])
    }
    expect((await ask('/open/all', { method: 'PUT' })).text).toBe('PUT')
  })

  test('the Datastore with operators of MongoDB, exported and global, and both signatures of getMany', async () => {
    const code = `
      await bare.insertOne('people', [{ name: 'ann', age: 30 }, { name: 'bob', age: 40, tags: ['x'] }])
      await conn.updateOne('people', { name: 'ann' }, { $inc: { age: 1 }, $push: { tags: 'y' } })
      const name = ({ name }) => name
      return [
        await conn.getOne('people', { name: 'ann' }).then(({ age, tags }) => [age, tags]),
        (await conn.getMany('people', { age: { $gt: 35 } }).toArray()).map(name),
        (await conn.getMany('people', { filter: { tags: { $in: ['y'] } }, sort: { age: 1 } }).toArray()).map(name),
        (await conn.getMany('people', {}, { sort: { age: -1 }, limit: 1 }).toArray()).map(name),
        await conn.count('people'),
      ]`
    expect(await value(code)).toEqual([[31, ['y']], ['bob'], ['ann'], ['bob'], { count: 2 }])
  })

  test('createIndex, also unique', async () => {
    expect(await value(`return conn.createIndex('people', 'age')`)).toEqual({ collection: 'people', fields: ['age'] })
    const code = `
      await conn.createIndex('unique', 'mail', { unique: true })
      await conn.insertOne('unique', { mail: 'a' })
      await conn.insertOne('unique', { mail: 'a' })`
    expect(await run(code)).toMatchObject({ code: 'already_exists' })
  })

  test('key-value pairs with ttl in milliseconds, keyspace, incr and decr; a missing key is null', async () => {
    const code = `
      await conn.set('k', 'one')
      await conn.set('k', 'two', { keyspace: 'other' })
      await conn.set('short', 'x', { ttl: 1 })
      await new Promise((resolve) => setTimeout(resolve, 50))
      return [
        await conn.get('k'), await conn.get('k', { keyspace: 'other' }), await conn.get('short'), await conn.get('none'),
        await conn.incr('n', 5), await conn.decr('n', 2),
      ]`
    const [k, other, short, none, up, down] = await value(code)
    expect([k, other, short, none, Number(up), Number(down)]).toEqual(['one', 'two', null, null, 5, 3])
  })

  test('crudlify with plain parameters, q and h; a is ignored', async () => {
    for (const text of ['feed the cat', 'buy milk', 'sleep']) await ask('/notes', { method: 'POST', body: { text } })
    const texts = async (query: string) => (await ask(`/notes?${query}`)).body.map(({ text }: { text: string }) => text)
    expect(await texts('text=sleep')).toEqual(['sleep'])
    expect(await texts(`q=${encodeURIComponent('{"text":{"$regex":"^b"}}')}`)).toEqual(['buy milk'])
    const hints = encodeURIComponent('{"sort":{"text":1},"limit":2}')
    expect(await texts(`q=%7B%7D&h=${hints}`)).toEqual(['buy milk', 'feed the cat'])
    expect(await texts(`a=${encodeURIComponent('[{"$limit":1}]')}&sort=text`)).toEqual([
      'buy milk',
      'feed the cat',
      'sleep',
    ])
  })

  test('internalFetch reaches the same space and no other address', async () => {
    const code = (address: string) =>
      `const answer = await app.internalFetch('${address}'); return [answer.status, await answer.text()]`
    expect(await value(code(`${host.front}/dev/open/all`))).toEqual([200, 'GET'])
    expect(await run(code(`${host.front}/other/open/all`))).toMatchObject({ message: expect.any(String) })
  })

  test('startup runs at every start, and an environment of now is read', async () => {
    const before = Number((await ask('/starts')).body.starts)
    await tool('set-env', 'GREETING', 'good morning', '--no-encrypted')
    await expect.poll(async () => (await ask('/starts')).body.greeting, patient).toBe('good morning')
    expect(Number((await ask('/starts')).body.starts)).toBeGreaterThan(before)
    await ask('/open/log')
    await expect.poll(() => tool('log'), patient).toContain('greeting is ***')
  })
})

describe('what does not work', () => {
  test('deploy names queues, workers, jobs, channels and steps of workflows', () => {
    for (const name of ['orders', 'mailer', '0 * * * *', '/chat', 'signup']) expect(deployed).toContain(name)
  })

  test.each([
    ['conn.enqueue("orders", {})', 'enqueue'],
    ['conn.enqueueFromQuery("notes", {}, "orders")', 'enqueueFromQuery'],
    ['schedule.runAt(new Date(), {}, "mailer")', 'runAt'],
    ['realtime.publishEvent("/chat", {})', 'realtime'],
    ['filestore.saveFile("/a", "b")', 'filestore.saveFile'],
    ['filestore.readFile("/a")', 'filestore without source: true'],
    ['filestore.list("/")', 'filestore.list'],
  ])('%s rejects with the code not_supported', async (call, name) => {
    expect(await run(`return ${call}`)).toEqual({
      code: 'not_supported',
      message: expect.stringContaining(name),
    })
  })

  test('an upgrade is 501', async () => {
    const { host: name, port } = new URL(host.front)
    const answer = await rawRequest(
      Number(port),
      `GET /dev/open/get HTTP/1.1\r\nhost: ${name}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    )
    expect([answer.status, JSON.parse(answer.body.toString()).code]).toEqual([501, 'not_here'])
  })

  test.each([
    ['child processes', `(await load('node:child_process')).execFileSync('/bin/true')`],
    ['worker threads', `const { Worker } = await load('node:worker_threads'); new Worker('1', { eval: true })`],
    ['native addons', `process.dlopen({ exports: {} }, '/a.node')`],
    ['files of the machine', `(await load('node:fs')).readFileSync('/etc/passwd')`],
    ['writes beside the temporary folder', `(await load('node:fs')).writeFileSync('/var/tmp/latchkey', '')`],
  ])('%s are refused', async (_what, code) => {
    expect(await run(code)).toMatchObject({ message: expect.any(String) })
  })

  test('a collection whose name begins with _ does not exist', async () => {
    expect(await run(`return conn.insertOne('_secret', {})`)).toMatchObject({ message: expect.any(String) })
  })
})

describe('differences from the platform', () => {
  test('an error in a handler is 500 as problem details, without its cause', async () => {
    const { status, headers, text } = await ask('/fails')
    expect([status, headers.get('content-type')]).toEqual([500, 'application/problem+json'])
    expect(text).not.toContain('secret cause')
  })

  test('CORS is that of the application: no header is added, and a preflight is judged like every request', async () => {
    const origin = { origin: 'https://elsewhere.example' }
    expect((await ask('/open/get', { headers: origin })).headers.get('access-control-allow-origin')).toBeNull()
    const asked = { ...origin, 'access-control-request-method': 'POST' }
    expect((await ask('/closed', { method: 'OPTIONS', headers: asked })).status).toBe(401)
    expect((await ask('/open/get', { method: 'OPTIONS', headers: asked })).status).toBe(404)
  })

  test.each([
    [
      'dots in an update nest',
      `const { _id } = await conn.insertOne('d', {}); return (await conn.updateOne('d', _id, { 'a.b': 1 })).a`,
      { b: 1 },
    ],
    [
      'getOne of a missing document rejects',
      `return conn.getOne('d', { none: 1 }).catch(({ message }) => message)`,
      'Not found',
    ],
    ['findOneOrNull gives null', `return conn.findOneOrNull('d', { none: 1 })`, null],
    [
      'an _id that exists rejects',
      `await conn.insertOne('d', { _id: 'x' }); return conn.insertOne('d', { _id: 'x' }).then(() => 'inserted', () => 'rejected')`,
      'rejected',
    ],
    [
      'a nested object is replaced',
      `const { _id } = await conn.insertOne('d', { o: { x: 1, y: 2 } }); return (await conn.updateOne('d', _id, { o: { x: 9 } })).o`,
      { x: 9 },
    ],
    [
      'a date and its text are two values',
      `await conn.insertOne('t', { at: new Date(0) }); return (await conn.getMany('t', { at: new Date(0).toISOString() }).toArray()).length`,
      0,
    ],
    [
      'hints that count are ignored',
      `return (await conn.getMany('people', {}, { hints: { count: true } }).toArray()).length`,
      2,
    ],
  ])('%s', async (_what, code, expected) => {
    expect(await value(code)).toEqual(expected)
  })

  test('a handler that does not end is 504, and a path without a route is 404', async () => {
    expect((await ask('/never')).status).toBe(504)
    expect((await ask('/open/nothing')).status).toBe(404)
  })

  test('code after the end of a response goes on, and rawBody is there for JSON and forms only', async () => {
    expect((await ask('/open/after')).status).toBe(401)
    await expect.poll(() => value(`return (await conn.getMany('after').toArray()).length`), patient).toBe(1)
    expect((await ask('/open/raw', { method: 'POST', body: { n: 1 } })).body).toEqual({ raw: '{"n":1}' })
    expect((await ask('/open/raw', { method: 'POST', headers: { 'content-type': 'text/xml' }, body: 1 })).body).toEqual(
      { raw: null },
    )
  })
})

describe('who gets in', () => {
  let tokens: { write: string; read: string }
  beforeAll(async () => {
    const added = async (...more: readonly string[]) => JSON.parse(await tool('add-token', '--json', ...more)).token
    tokens = { write: await added(), read: await added('--readonly') }
  })
  const withToken = (token: string): Sent => ({ headers: { 'x-apikey': token } })

  test('a valid API token skips auth hooks, in both forms, and is req.auth; apikey is gone from the query', async () => {
    expect((await ask('/closed', withToken(tokens.write))).text).toBe('in')
    expect((await ask('/refused', withToken(tokens.write))).text).toBe('in')
    const auth = expect.objectContaining({ kind: 'apiToken', access: 'READWRITE' })
    expect((await ask('/auth', withToken(tokens.write))).body).toEqual({ auth, query: {} })
    expect((await ask(`/auth?apikey=${tokens.write}&a=1`)).body).toEqual({ auth, query: { a: '1' } })
    expect((await ask('/auth')).body).toEqual({ auth: null, query: {} })
  })

  test('invalid tokens, tokens of a browser and writes with a READ token are refused', async () => {
    expect((await ask('/open/get', withToken('wrong'))).status).toBe(401)
    expect((await ask('/auth', withToken(tokens.read))).status).toBe(200)
    expect((await ask('/auth', { method: 'POST', ...withToken(tokens.read) })).status).toBe(403)
    const browser = { 'x-apikey': tokens.write, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
    const { status, body } = await ask('/auth', { headers: browser })
    expect([status, body.code]).toEqual([403, 'api_token_in_browser'])
  })

  test('without a token the first hook that matches decides; without a hook it is 401', async () => {
    expect((await ask('/refused')).body).toEqual({ error: 'the hook refuses' })
    const { status, body } = await ask('/closed')
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
  })

  test('the host writes the headers of the address over what a client sent', async () => {
    const names = ['x-real-ip', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']
    const headers = Object.fromEntries(
      [...names, 'x-request-id', 'x-scheme', 'x-api-key'].map((name) => [name, 'spoofed']),
    )
    const { body } = await ask('/headers', { headers: { ...headers, 'user-agent': 'mine/1.0', accept: 'text/x' } })
    expect(JSON.stringify(body)).not.toContain('spoofed')
    expect(body).toMatchObject({
      'x-real-ip': '127.0.0.1',
      'x-forwarded-for': '127.0.0.1',
      'user-agent': 'mine/1.0',
      accept: 'text/x',
    })
    expect((await ask('/headers', withToken(tokens.write))).body['x-api-key']).toBe(tokens.write)
  })

  test('an address that is not on the allow-list is 403', async () => {
    await tool('whitelist', '192.0.2.0/24', '--force', '--confirm', '127.0.0.1')
    await expect.poll(async () => (await ask('/open/get')).body.code, patient).toBe('ip_not_allowed')
  })
})
