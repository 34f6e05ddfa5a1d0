// node app.js {port, settings}: one application process as its owner would run it, and a few doors for the run.
import express from 'express'
import { init } from 'latchkey'

const { name, port, settings } = JSON.parse(process.argv[2])
let aheadMs = 0

const app = express()
const log = (level) => (fields, message) => process.send({ log: { name, level, message, ...fields } })
const auth = init(
  app,
  { ...settings, logger: { warn: log('warn'), error: log('error') } },
  { now: () => Date.now() + aheadMs },
)
app.use(express.json())
app.get('/api/me', (request, response) => response.json(request.auth))

// What an application offers its own staff. Not below /api: the run has no credential for it. A process that cannot open
// its store or Redis says so by what `ready()` rejects with; to the staff that is a 503, as it is on the auth routes.
const away = Object.assign(new Error(), { status: 503, code: 'store_unavailable' })
const opened = () =>
  auth.ready().catch(() => {
    throw away
  })
const door = (path, work) =>
  app.post(`/control/${path}`, (request, response) =>
    opened()
      .then(() => work(request.body))
      .then(
        (answer) => response.json(answer ?? null),
        (error) => response.status(error.status ?? 500).json({ code: error.code ?? error.message }),
      ),
  )
door('disable', ({ userId }) => auth.users.disable(userId))
door('api-token', () => auth.apiTokens.create({ name: 'scale' }))
door('remove-api-token', ({ id }) => auth.apiTokens.remove(id))

const server = app.listen(port, '127.0.0.1', () => auth.ready().then(ready, ready))
// Longer than any pause of a client, so that no idle connection is closed under a request that is on its way.
server.keepAliveTimeout = 120_000

process.on('message', (message) => {
  aheadMs = message.aheadMs
  process.send({ aheadMs })
})
process.on('disconnect', () => process.exit())

function ready() {
  process.send({ ready: true })
}
