// A notes API on node:http alone, whose accounts, sessions and guard are Latchkey's. Run it: node examples/node/index.js
// Both secrets come from the environment, each from `openssl rand -base64 32`. PORT may be set.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { init } from 'latchkey'

const port = Number(process.env.PORT ?? 3000)
const notes = new Map()

const server = createServer(async (req, res) => {
  if (req.url !== '/api/notes') return res.writeHead(404).end()
  const { userId } = req.auth
  const mine = notes.get(userId) ?? []
  if (req.method === 'GET') return answer(res, 200, mine)
  if (req.method !== 'POST') return res.writeHead(405).end()
  const note = { text: String((await json(req)).text).slice(0, 200) }
  notes.set(userId, [...mine, note])
  answer(res, 201, note)
})

const auth = init(server, {
  baseUrl: `http://localhost:${port}`,
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  redirectSuccessUrl: '/auth/account',
  database: process.env.DATABASE_URL ?? 'sqlite:./notes.db',
  password: { checkBreached: false }, // this example asks nobody outside; leave it on where people register
})

const open = () => console.log(`Open http://localhost:${port}/auth/register and create an account.`)
server.listen(port, 'localhost', open)
process.once('SIGTERM', () => server.close(() => auth.close()))

function answer(res, status, value) {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
