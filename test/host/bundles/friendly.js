// An application that uses most of what codehooks-js offers.
import { Readable } from 'node:stream'
import { app, Datastore, filestore, realtime, schedule } from 'codehooks-js'

console.debug = () => {}

const open = (_req, _res, next) => next()
for (const path of ['/open', '/open/*', '/echo', '/notes', '/api/*', '/upload', '/events', '/fails/*'])
  app.auth(path, open)
app.auth('/hooked/*', (req, res, next) => {
  if (req.headers['x-password'] === 'open') {
    req.user = 'ann'
    req.headers['x-user'] = 'ann'
    return next()
  }
  if (req.headers['x-password'] === 'refused') return next('refused')
  if (req.headers['x-password'] === 'broken') throw new Error('the hook broke')
  res.status(401).json({ error: 'no password' })
})
app.auth(
  '/two',
  (_req, _res, next) => next(),
  (_req, res) => res.status(403).end('the second hook refuses'),
)

app.use((_req, res, next) => {
  res.set('x-layer', 'all')
  next()
})
app.use('/open/:id', (req, res, next) => {
  res.set('x-params', JSON.stringify(req.params))
  next()
})
app.use(/^\/OPEN/i, (_req, res, next) => {
  res.set('x-regex', 'yes')
  next()
})

app.queue('orders', () => {})
app.worker('mail', () => {})
app.job('*/5 * * * *', () => {})
app.realtime('/chat', () => {})

app.get('/open', (_req, res) => res.json({ first: true }))
app.post('/open/count', (req, res) => res.json({ count: req.body.length }))
app.get('/open/:ID', (req, res) => res.status(201).json({ params: req.params, query: req.query }))
app.all('/echo', (req, res) => {
  const { method, hostname, headers, query, params, body, rawBody, path, apiPath, originalUrl, auth } = req
  const symbol = req[Symbol.for('latchkey.host')]
  const keys = Object.keys(req).filter((name) => typeof req[name] !== 'function')
  res.json({
    ...{ method, hostname, headers, query, params, body, rawBody, path, apiPath, originalUrl, auth, symbol, keys },
    frozen: auth === null || (Object.isFrozen(auth) && Object.values(auth).every(Object.isFrozen)),
    raw: [res.writable.req.rawHeaders, res.writable.req.headersDistinct],
    host: globalThis[Symbol.for('latchkey.host')],
  })
})
app.get('/hooked/who', (req, res) => res.json({ user: req.user ?? null, header: req.headers['x-user'] }))
app.get('/two', (_req, res) => res.end('in'))
app.get('/closed', (_req, res) => res.end('in'))
app.get('/env', (_req, res) => res.json(process.env))

app.post('/upload', async (req, res) => {
  let bytes = 0
  for await (const chunk of req) bytes += chunk.length
  res.json({ bytes, body: req.body })
})
app.get('/open/download/big', (_req, res) => {
  res.set('content-type', 'application/octet-stream')
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let left = 512
  new Readable({
    read() {
      left -= 1
      this.push(left < 0 ? null : chunk)
    },
  }).pipe(res.writable)
})
let sendEvent = () => {}
app.get('/events', (_req, res) => {
  res.set('content-type', 'text/event-stream')
  let count = 0
  sendEvent = () => {
    count += 1
    res.write(`data: ${count}\n\n`)
  }
  sendEvent()
  res.writable.on('close', () => console.log(`events closed after ${count}`))
})
app.get('/open/events/next', (_req, res) => {
  sendEvent()
  res.end()
})
app.get('/open/redirect/here', (_req, res) => res.redirect(303, '/dev/open'))
app.get('/open/cookies/two', (_req, res) => res.setHeader('Set-Cookie', ['a=1', 'b=2']).headers({ 'x-one': '1' }).end())

app.get('/fails/throws', () => {
  throw new Error('secret cause')
})
app.get('/fails/rejects', async () => {
  throw new Error('secret cause')
})
app.get('/fails/next', (_req, _res, next) => next('secret cause'))
app.get('/fails/falls', (_req, _res, next) => next())
app.get('/fails/never', () => {})
app.get('/fails/half', (_req, res) => {
  res.write('half')
  throw new Error('secret cause')
})
app.get(
  '/fails/twice',
  (_req, _res, next) => {
    next()
    next()
    next('again')
  },
  (_req, res) => {
    res.end('once')
    res.status(500).set('x-late', '1').json({ late: true })
    res.redirect('/late')
    res.end('twice')
  },
)
app.get('/fails/status', (_req, res) => res.status(99_999).end())
app.get('/fails/header', (_req, res) => res.set('x-bad', 'a\r\nset-cookie: b=c').end())
app.get('/fails/forgotten', (_req, res) => {
  Promise.reject(new Error('a forgotten promise'))
  res.end('still here')
})

app.get('/open/render/hbs', (req, res) => res.render('hello', { name: req.query.name }))
app.set('views', '')
app.set('view engine', { hbs: { compile: (text) => (values) => text.replace('{{name}}', values.name) } })

app.get('/open/absent/calls', async (_req, res) => {
  const conn = await Datastore.open()
  const calls = [
    () => conn.enqueue('topic', {}),
    () => conn.enqueueFromQuery('notes', {}, 'topic'),
    () => schedule.runAt(new Date(), {}, 'worker'),
    () => realtime.publishEvent('/channel', {}),
    () => filestore.saveFile('/a', 'b'),
    () => filestore.readFile('/a'),
    () => filestore.list('/'),
    () => filestore.readFile('../../bundle.mjs', { source: true }),
  ]
  const settled = await Promise.allSettled(calls.map(async (call) => call()))
  res.json(settled.map(({ reason }) => ({ code: reason?.code, message: reason?.message })))
})
app.get('/open/internal/fetch', async (req, res) => {
  const answer = await app.internalFetch(`https://elsewhere.example${req.query.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-latchkey-principal': 'eyJraW5kIjoiYXBpVG9rZW4ifQ' },
    body: '{"n":1}',
  })
  res.status(answer.status).send(await answer.text())
})

app.all('/open/store/:verb', async (req, res) => {
  const conn = await globalThis.DB.open()
  const { verb } = req.params
  const found = conn[verb](...req.body)
  if (typeof found.toArray === 'function') return res.json({ value: await found.toArray() })
  res.json({ value: await found })
})
app.get('/open/store/stream/json', async (_req, res) => (await Datastore.open()).getMany('notes').json(res))

app.crudlify({}, { prefix: '/api' })
app.static({ route: '/site', directory: '/public' })

export default app.init(async () => {
  const conn = await Datastore.open()
  conn.createIndex('notes', ['text'])
  await conn.set('started', new Date(0).toISOString())
  console.log('startup ran')
})
