import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawConnection, rawRequest } from '../../support/raw-http.js'
import { install, type ServedHost, startServedHost } from '../../support/served-host.js'

// The files of a release, from `latchkey deploy` to the bytes of a response.

/** Larger than what one read of a file gives. */
const film = Buffer.alloc(300_000, 'a film of many bytes ')
const large = Buffer.alloc(24 * 1024 * 1024, 'large ')
const odd = 'public/öl und essig.txt'
const project: Readonly<Record<string, string | Buffer>> = {
  'package.json': '{ "type": "module" }',
  'index.js': `
import { app, Datastore, filestore } from 'codehooks-js'
import handlebars from 'handlebars'
console.debug = () => {}
for (const path of ['/view', '/nothing', '/kept', '/read', '/pipe', '/mixed/*', '/ends', '/memory']) app.auth(path, (_req, _res, next) => next())
app.set('views', '/views')
app.set('layout', '/views/layout.hbs')
app.set('view engine', { hbs: handlebars })
app.get('/view', (req, res) => res.render('hello', { name: req.query.name }))
app.get('/kept', (_req, res) => res.render('kept', {}))
app.get('/nothing', (_req, res) => res.render('nothing', {}))
const source = { source: true }
app.get('/read', async (req, res) => {
  try {
    res.json({ text: await filestore.readFile(req.query.path, source) })
  } catch ({ code, message }) {
    res.status(404).json({ code, message })
  }
})
app.get('/pipe', async (req, res) => {
  res.set('content-type', 'video/mp4')
  const stream = await filestore.getReadStream(req.query.path, source)
  stream.pipe(res.writable)
})
const copy = async (res, write, end) => {
  const stream = await filestore.getReadStream('/public/film.mp4', source)
  stream.on('data', write).on('end', end)
}
app.get('/mixed/after', (_req, res) => copy(res, (chunk) => res.write(chunk), () => res.end('the end')))
app.get('/mixed/before', (_req, res) => (res.write('the beginning'), copy(res, (chunk) => res.write(chunk), () => res.end())))
app.get('/mixed/half', (_req, res) => copy(res, (chunk) => (res.write(chunk), res.end()), () => {}))
app.get('/mixed/upper', (_req, res) => copy(res, (chunk) => res.write(String(chunk).toUpperCase()), () => res.end()))
app.get('/mixed/json', (_req, res) => copy(res, (chunk) => res.write(chunk), () => res.json({ done: true })))
app.get('/mixed/writable', (_req, res) => copy(res, (chunk) => res.write(chunk), () => res.writable.end('piped')))
app.get('/mixed/late', (_req, res) => copy(res, (chunk) => res.write(chunk), () => (res.end(), res.write('late'), res.json({}))))
let ends = 0
app.get('/site/large.bin', async (_req, res) => {
  res.set('content-type', 'application/octet-stream')
  const stream = await filestore.getReadStream('/public/large.bin', source)
  stream.on('data', (chunk) => res.write(chunk)).on('end', () => (ends++, res.end()))
})
app.get('/ends', (_req, res) => res.end(String(ends)))
app.get('/memory', (_req, res) => res.end(String(process.memoryUsage().arrayBuffers)))
app.static({ route: '/site', directory: '/public' })
app.static({ route: '/pages', directory: '/public', notFound: '/missing.html', headers: { 'cache-control': 'max-age=60' } })
export default app.init(async () => {
  const conn = await Datastore.open()
  await conn.set('hbs:hello', 'the text of an older release')
  await conn.delAll('hbs:')
  await conn.set('hbs:kept', 'the text of an older release')
})
`,
  'views/layout.hbs': '<main>{{> @partial-block}}</main>',
  'views/hello.hbs': '{{#> layout}}Hello {{name}}{{/layout}}',
  'views/kept.hbs': 'the text of this release',
  'public/index.html': '<h1>Start</h1>',
  'public/missing.html': '<h1>Not here</h1>',
  'public/site.css': 'h1 { color: teal }',
  'public/docs/index.html': '<h1>Guide</h1>',
  'public/docs/plan.txt': 'as planned',
  'public/data.json': '{"n":1}',
  'public/empty.txt': '',
  'public/film.mp4': film,
  'public/large.bin': large,
  [odd]: 'odd',
}

let host: ServedHost
beforeAll(async () => {
  host = await startServedHost()
  const folder = join(host.desk.folder, 'app')
  for (const [name, content] of Object.entries(project)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  await install(folder, 'codehooks-js', 'ajv', 'handlebars')
  expect(await host.desk.run(['create', 'shop'])).toMatchObject({ code: 0 })
  expect(await host.desk.run(['deploy', '--space', 'shop', '--dir', 'app'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Deployed Codehook successfully!'),
  })
}, 120_000)
afterAll(() => host?.stop())

const request = (path: string, headers: Readonly<Record<string, string>>, method: string) =>
  `${method} /shop${path} HTTP/1.1\r\nhost: ${new URL(host.front).host}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** The path goes out as it is written. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const answer = await rawRequest(Number(new URL(host.front).port), request(path, headers, method))
  const header = (name: string) => answer.headers[name]?.join(', ') ?? null
  return { status: answer.status, header, body: answer.body, text: answer.body.toString() }
}

const tagOf = (content: string | Buffer) => `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`

describe('static files', () => {
  test.each([
    ['/site', 'public/index.html', 'text/html'],
    ['/pages/', 'public/index.html', 'text/html'],
    ['/site/index.html', 'public/index.html', 'text/html'],
    ['/site/site.css', 'public/site.css', 'text/css'],
    ['/site/data.json', 'public/data.json', 'application/json'],
    ['/pages/docs/', 'public/docs/index.html', 'text/html'],
    ['/site/docs/plan.txt', 'public/docs/plan.txt', 'text/plain'],
    ['/site/film.mp4', 'public/film.mp4', 'video/mp4'],
    ['/site/docs/plan.txt?v=1', 'public/docs/plan.txt', 'text/plain'],
  ])('%s is %s with its type, length and entity tag', async (path, file, type) => {
    const content = Buffer.from(project[file] ?? '')
    const answer = await ask(path)
    expect([answer.status, answer.header('content-type'), answer.header('content-length')]).toEqual([
      200,
      type,
      String(content.length),
    ])
    expect(answer.header('etag')).toBe(tagOf(content))
    expect(answer.header('accept-ranges')).toBe('bytes')
    expect(answer.body.equals(content)).toBe(true)
  })

  test('codehooks-js refuses a path without a file name, unless notFound is set', async () => {
    expect((await ask('/site/docs/')).status).toBe(401)
  })

  test('an empty file is an empty response', async () => {
    const answer = await ask('/site/empty.txt')
    expect([answer.status, answer.header('content-type'), answer.text]).toEqual([200, 'text/plain', ''])
  })

  test('a missing file is 404, or the file of notFound with that status', async () => {
    expect(await ask('/site/none.css')).toMatchObject({ status: 404, text: expect.stringContaining('No file here') })
    const answer = await ask('/pages/none.css')
    expect([answer.status, answer.header('content-type'), answer.text]).toEqual([
      404,
      'text/html',
      project['public/missing.html'],
    ])
    expect(answer.header('etag')).toBeNull()
    expect(await ask('/pages/deep/link')).toMatchObject({ status: 404, text: project['public/missing.html'] })
  })

  test('HEAD has the headers of GET and no body', async () => {
    const answer = await ask('/site/film.mp4', {}, 'HEAD')
    expect([answer.status, answer.header('content-length'), answer.header('etag'), answer.text]).toEqual([
      200,
      String(film.length),
      tagOf(film),
      '',
    ])
    expect((await ask('/site/film.mp4', { range: 'bytes=0-9' }, 'HEAD')).status).toBe(200)
  })

  test('headers of the application stay, and a file has the same entity tag under each route', async () => {
    const answer = await ask('/pages/site.css')
    expect([answer.header('cache-control'), answer.header('etag')]).toEqual(['max-age=60', tagOf('h1 { color: teal }')])
  })
})

describe('conditions and ranges', () => {
  const tag = tagOf(film)
  test.each([tag, `W/${tag}`, `"other", ${tag}`, '*'])('If-None-Match: %s is 304 without a body', async (sent) => {
    const answer = await ask('/site/film.mp4', { 'if-none-match': sent })
    expect([answer.status, answer.header('etag'), answer.header('content-type'), answer.text]).toEqual([
      304,
      tag,
      null,
      '',
    ])
  })

  test.each(['"other"', '', tag.slice(0, 9)])('If-None-Match: %s is 200', async (sent) => {
    expect((await ask('/site/film.mp4', { 'if-none-match': sent })).status).toBe(200)
  })

  const last = film.length - 1
  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=100000-', 100_000, last],
    ['bytes=-5', last - 4, last],
    ['bytes=299990-999999999', 299_990, last],
    ['BYTES = 7 - 7', 7, 7],
  ])('Range: %s is 206 with bytes %i to %i', async (range, from, to) => {
    const answer = await ask('/site/film.mp4', { range })
    expect([answer.status, answer.header('content-range'), answer.header('content-length')]).toEqual([
      206,
      `bytes ${from}-${to}/${film.length}`,
      String(to - from + 1),
    ])
    expect(answer.header('content-type')).toBe('video/mp4')
    expect(answer.body.equals(film.subarray(from, to + 1))).toBe(true)
  })

  test.each([
    'bytes=0-1,5-6',
    'bytes=9-5',
    'bytes=-',
    'bytes=x',
    'lines=0-1',
    `bytes=-${film.length}`,
    `bytes=-${'9'.repeat(14)}`,
  ])('Range: %s is the whole file', async (range) => {
    const answer = await ask('/site/film.mp4', { range })
    expect([answer.status, answer.body.length]).toEqual([200, film.length])
  })

  test.each([`bytes=${film.length}-`, 'bytes=-0', `bytes=${'9'.repeat(15)}-`])('Range: %s is 416', async (range) => {
    const answer = await ask('/site/film.mp4', { range })
    expect([answer.status, answer.header('content-range'), answer.text]).toEqual([416, `bytes */${film.length}`, ''])
  })

  test('If-Range gives the part for the same tag, and the whole file for every other value', async () => {
    const status = async (value: string) =>
      (await ask('/site/film.mp4', { range: 'bytes=0-9', 'if-range': value })).status
    expect(await status(tag)).toBe(206)
    for (const value of [`W/${tag}`, '"other"', 'Wed, 21 Oct 2026 07:28:00 GMT']) expect(await status(value)).toBe(200)
  })

  test('a part of the file of notFound is never sent', async () => {
    expect((await ask('/pages/none.css', { range: 'bytes=0-1' })).status).toBe(404)
  })
})

test('ATK-244 no spelling of a path leads out of the files of the release, and no file has a second name', async () => {
  const odd = [
    ...['/site/../bundle.mjs', '/site/../../bundle.mjs', '/site/..', '/site/docs/..', '/site/..%2f..%2fbundle.mjs'],
    ...['/site/%2e%2e/bundle.mjs', '/site/..;/bundle.mjs', '/site/..\\..\\bundle.mjs', '/site/%5c..%5cbundle.mjs'],
    ...['/site/release.json', '/site/../release.json', '/site/....//release.json', '/site//etc/passwd'],
    ...[
      '/site/site.css.',
      '/site/SITE.CSS',
      '/site/site.css/',
      '/site/site.css%00',
      '/site/site%2ecss',
      '/site/site.css%20',
    ],
    ...[
      '/site/.env',
      '/site/../.latchkeyignore',
      '/site/views/hello.hbs',
      '/site/../views/hello.hbs',
      '/site/../index.js',
    ],
    ...['/site/..%c0%af..%c0%afbundle.mjs', '/site/%252e%252e/bundle.mjs', '/site/docs/../../views/hello.hbs'],
  ]
  const found: string[] = []
  for (const path of odd) {
    const { status, text } = await ask(path)
    if (status < 400 || /teal|root:|codehooks|"format"|layout/.test(text))
      found.push(`${path} → ${status} ${text.slice(0, 40)}`)
  }
  expect(found).toEqual([])
  const names = [
    '/../bundle.mjs',
    '/../release.json',
    '../../../../etc/passwd',
    '/public/../../bundle.mjs',
    '/PUBLIC/site.css',
  ]
  for (const path of [
    ...names,
    '/public',
    '/',
    '',
    '/public/site.css/',
    '/public/site.css\0',
    '/public/site.css.',
    '/nothing',
  ]) {
    const answer = await ask(`/read?path=${encodeURIComponent(path)}`)
    expect(JSON.parse(answer.text)).toEqual({ code: 'ENOENT', message: 'There is no such file.' })
  }
})

describe('filestore with source: true', () => {
  test.each([
    ['/public/site.css', 'h1 { color: teal }'],
    ['public/site.css', 'h1 { color: teal }'],
    ['./public/docs/../site.css', 'h1 { color: teal }'],
    [`/${odd}`, 'odd'],
  ])('readFile gives %s', async (path, text) => {
    expect(JSON.parse((await ask(`/read?path=${encodeURIComponent(path)}`)).text)).toEqual({ text })
  })

  test('a stream can be piped into the response', async () => {
    const answer = await ask('/pipe?path=/public/film.mp4')
    expect([answer.status, answer.header('content-type')]).toEqual([200, 'video/mp4'])
    expect(answer.body.equals(film)).toBe(true)
  })

  test.each([
    ['after', Buffer.concat([film, Buffer.from('the end')])],
    ['before', Buffer.concat([Buffer.from('the beginning'), film])],
    ['half', film.subarray(0, 65_536)],
    ['upper', Buffer.from(film.toString().toUpperCase())],
    ['json', Buffer.concat([film, Buffer.from('{"done":true}')])],
    ['writable', Buffer.concat([film, Buffer.from('piped')])],
    ['late', film],
  ])('a response that is more or less than one file (%s) is what the application wrote', async (path, content) => {
    const answer = await ask(`/mixed/${path}`)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(content)).toBe(true)
    expect(answer.header('etag')).toBe(path === 'late' ? tagOf(film) : null)
  })
})

describe('views', () => {
  test('res.render fills a view and its layout, and escapes', async () => {
    const answer = await ask('/view?name=%3Cb%3E')
    expect([answer.status, answer.header('content-type'), answer.text]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<main>Hello &lt;b&gt;</main>',
    ])
  })

  test('codehooks-js shows the text that it keeps in the key-value store', async () => {
    expect(await ask('/kept')).toMatchObject({ status: 200, text: 'the text of an older release' })
  })

  test('a missing view is 500 without the cause', async () => {
    expect(await ask('/nothing')).toMatchObject({ status: 500, text: 'The view cannot be rendered.' })
  })
})

test('ATK-155 eight clients that do not read 24 MiB take less memory of the application than half of it', async () => {
  const port = Number(new URL(host.front).port)
  const slow = await Promise.all(Array.from({ length: 8 }, () => rawConnection(port)))
  for (const connection of slow) {
    connection.pause()
    connection.write(request('/site/large.bin', {}, 'GET'))
  }
  // The application has read each file to its end.
  await expect.poll(async () => Number((await ask('/ends')).text), { timeout: 60_000 }).toBe(slow.length)
  expect(Number((await ask('/memory')).text)).toBeLessThan((slow.length * large.length) / 2)
  for (const connection of slow) connection.destroy()
})
