// A notes API on Hono whose accounts, sessions and guard are Latchkey's. Run it: node examples/hono/index.js
// Both secrets come from the environment, each from `openssl rand -base64 32`. PORT may be set.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { init } from 'latchkey'

const port = Number(process.env.PORT ?? 3000)
const notes = new Map()

const app = new Hono()
// Before the routes: what Hono knew earlier would not stand behind the guard, so init would throw.
const auth = init(app, {
  baseUrl: `http://localhost:${port}`,
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  redirectSuccessUrl: '/auth/account',
  database: process.env.DATABASE_URL ?? 'sqlite:./notes.db',
  password: { checkBreached: false }, // this example asks nobody outside; leave it on where people register
})

app.get('/api/notes', (c) => c.json(notes.get(c.get('auth').userId) ?? []))
app.post('/api/notes', async (c) => {
  const { userId } = c.get('auth')
  const note = { text: String((await c.req.json()).text).slice(0, 200) }
  notes.set(userId, [...(notes.get(userId) ?? []), note])
  return c.json(note, 201)
})
app.delete('/api/notes', auth.require({ recent: '10m' }), (c) => {
  notes.delete(c.get('auth').userId)
  return c.body(null, 204)
})

const open = () => console.log(`Open http://localhost:${port}/auth/register and create an account.`)
const server = serve({ fetch: app.fetch, port, hostname: 'localhost' }, open)
process.once('SIGTERM', () => server.close(() => auth.close()))
