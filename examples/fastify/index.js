// A notes API on Fastify whose accounts, sessions and guard are Latchkey's. Run it: node examples/fastify/index.js
// Both secrets come from the environment, each from `openssl rand -base64 32`. PORT may be set.
import Fastify from 'fastify'
import { init } from 'latchkey'

const port = Number(process.env.PORT ?? 3000)
const notes = new Map()

const app = Fastify()
const auth = init(app, {
  baseUrl: `http://localhost:${port}`,
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  redirectSuccessUrl: '/auth/account',
  database: process.env.DATABASE_URL ?? 'sqlite:./notes.db',
  password: { checkBreached: false }, // this example asks nobody outside; leave it on where people register
})

app.get('/api/notes', async (request) => notes.get(request.auth.userId) ?? [])
app.post('/api/notes', async (request, reply) => {
  const note = { text: String(request.body.text).slice(0, 200) }
  notes.set(request.auth.userId, [...(notes.get(request.auth.userId) ?? []), note])
  return reply.code(201).send(note)
})
app.delete('/api/notes', { preHandler: auth.require({ recent: '10m' }) }, async (request, reply) => {
  notes.delete(request.auth.userId)
  return reply.code(204).send()
})

app.addHook('onClose', () => auth.close())
await app.listen({ port, host: 'localhost' })
console.log(`Open http://localhost:${port}/auth/register and create an account.`)
process.once('SIGTERM', () => app.close())
