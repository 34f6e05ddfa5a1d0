// A notes API on Express as it runs in production: behind nginx, on PostgreSQL, with mails over SMTP.
// compose.yaml starts all of it. Every setting that differs between installations comes from the environment.
import express from 'express'
import { init } from 'latchkey'

const { BASE_URL, DATABASE_URL, MAIL_URL, TRUSTED_PROXIES = '', HOST = '127.0.0.1', PORT = '3000' } = process.env
const notes = new Map()

const app = express()
const auth = init(app, {
  baseUrl: BASE_URL, // the https address that browsers use, not the address that nginx uses
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  database: DATABASE_URL,
  mail: { from: 'Notes <notes@example.com>', transport: MAIL_URL },
  trustedProxies: TRUSTED_PROXIES.split(',').filter((network) => network !== ''),
  redirectSuccessUrl: '/auth/account',
  brand: { name: 'Notes' },
})
app.use(express.json())
app.get('/health', async (_req, res) => {
  const health = await auth.health()
  res.status(health.status === 'down' ? 503 : 200).json(health)
})
app.get('/api/notes', (req, res) => res.json(notes.get(req.auth.userId) ?? []))
app.post('/api/notes', (req, res) => {
  const note = { text: String(req.body.text).slice(0, 200), from: req.get('x-real-ip') }
  notes.set(req.auth.userId, [...(notes.get(req.auth.userId) ?? []), note])
  res.status(201).json(note)
})

await auth.ready() // a wrong database URL ends the process here
const server = app.listen(Number(PORT), HOST, () => console.log(`Listening on http://${HOST}:${PORT} for ${BASE_URL}`))
process.once('SIGTERM', () => server.close(() => auth.close()))
