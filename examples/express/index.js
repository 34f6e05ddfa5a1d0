// A notes API whose accounts, sessions and guard are Latchkey's, with a page that shows them in seven steps.
// Run it from the repository: npm run demo. PORT and DATA_FOLDER may be set.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { init } from 'latchkey'
import { createTour, mailboxAddress } from './tour.js'

const folder = process.env.DATA_FOLDER ?? fileURLToPath(new URL('private', import.meta.url))
const port = Number(process.env.PORT ?? 3000)
const mailbox = mailboxAddress()
const notes = new Map()

const app = express()
const auth = init(app, {
  baseUrl: `http://localhost:${port}`,
  JWT_ACCESS_TOKEN_SECRET: secret('JWT_ACCESS_TOKEN_SECRET'),
  JWT_REFRESH_TOKEN_SECRET: secret('JWT_REFRESH_TOKEN_SECRET'),
  database: `sqlite:${folder}/demo.db`,
  brand: { name: 'Notes' },
})
const tour = createTour(auth, mailbox) // the routes of the demo's page: not needed in your application
app.use(express.json(), tour.router)
app.get('/api/notes', (req, res) => res.json(notes.get(tour.ownerOf(req.auth)) ?? []))
app.post('/api/notes', (req, res) => {
  const note = { text: String(req.body?.text).slice(0, 200) }
  const owner = tour.ownerOf(req.auth)
  notes.set(owner, [...(notes.get(owner) ?? []), note])
  res.status(201).json(note)
})
const server = app.listen(port, 'localhost', () => console.log(`Open http://localhost:${port}`))
process.once('SIGTERM', () => server.close(() => auth.close()))

/** From the environment; else made at the first start and kept in a file that only its owner can read. */
function secret(name) {
  const file = `${folder}/${name}`
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' })
  return process.env[name] ?? readFileSync(file, 'utf8')
}
