// An application as its owner would run it: Express, Latchkey on a file, mail over SMTP, a process of its own.
// It reads its options as JSON from its standard input, so that it can be started before it is needed.
// @ts-nocheck It stands on the built package, which a fresh checkout does not have.
import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import express from 'express'
import { createAuth, init } from 'latchkey'
import { createTestClock, createTestRuntime } from 'latchkey/testing'
import { breakableDialect } from './breakable-dialect.js'

const options = JSON.parse(await text(process.stdin))
const world = { aheadMs: options.aheadMs, storeDown: false }
const settings = { ...options.settings, logger: { warn: log, error: log } }
if (options.breakable) settings.database = breakableDialect(options.file, world)

if (options.listen) serve()
else await visit()

/** The whole application; SIGTERM ends it in the polite way, without process.exit. */
function serve() {
  const app = express()
  const auth = init(app, settings, runtime())
  app.get('/ping', (_req, res) => res.send('pong'))
  app.get('/api/me', (req, res) => res.json(req.auth))

  app.get('/control/ready', (_req, res) =>
    auth.ready().then(
      () => res.status(204).end(),
      (error) => res.status(500).send(error.message),
    ),
  )
  app.post('/control/advance', (req, res) => {
    world.aheadMs += Number(req.query.ms)
    res.status(204).end()
  })
  app.post('/control/store', (req, res) => {
    world.storeDown = req.query.down === 'true'
    res.status(204).end()
  })
  app.post('/control/close', async (_req, res) => {
    await Promise.all([auth.close(), auth.close()])
    await auth.close()
    res.status(204).end()
  })

  const server = app.listen(0, '127.0.0.1', () => log({ event: 'listening', port: server.address().port }))
  process.once('SIGTERM', () => server.close(() => auth.close().then(() => log({ event: 'closed' }))))
}

/** No server: one visitor registers, and nothing is closed. */
async function visit() {
  const auth = createAuth(settings, runtime())
  await auth.ready()
  const body = JSON.stringify(options.visitor)
  const request = new Request(`${settings.baseUrl}/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: settings.baseUrl },
    body,
  })
  log({ event: 'answered', status: (await auth.fetch(request, { ip: '127.0.0.1' })).status })
}

/** Real time, a little ahead if so wanted; the test kit's mark lets hashes be cheap and limits be off. */
function runtime() {
  if (options.plain) return undefined
  const timer = (milliseconds, callback) => {
    const timeout = setTimeout(callback, milliseconds)
    timeout.unref()
    return () => clearTimeout(timeout)
  }
  const now = () => Date.now() + world.aheadMs
  const monotonic = () => performance.now() + world.aheadMs
  return createTestRuntime({ clock: { ...createTestClock(), now, monotonic, timer } })
}

/** At once, whatever becomes of the process. */
function log(fields, message) {
  appendFileSync(1, `${JSON.stringify({ ...fields, message })}\n`)
}
