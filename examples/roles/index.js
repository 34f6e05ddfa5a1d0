// An API with roles: every user reads notices, editors write them, admins give roles. Run it: node examples/roles/index.js
// Set FIRST_ADMIN to your address: the account that proves this address has the role ADMIN. PORT may be set.
import { randomBytes } from 'node:crypto'
import express from 'express'
import { init } from 'latchkey'

const { PORT = '3000', FIRST_ADMIN } = process.env
const notices = []

const app = express()
const auth = init(app, {
  baseUrl: `http://localhost:${PORT}`,
  // New secrets and a new database at each start. A real app keeps both.
  JWT_ACCESS_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  JWT_REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  database: 'sqlite::memory:',
  redirectSuccessUrl: '/auth/account',
  password: { checkBreached: false }, // keeps this example offline; leave it on in a real app
  admin: { emails: FIRST_ADMIN ? [FIRST_ADMIN] : [] },
})

app.use(express.json())
app.get('/api/notices', (_req, res) => res.json(notices))
app.post('/api/notices', auth.require({ roles: ['EDITOR', 'ADMIN'] }), (req, res) => {
  const notice = { text: String(req.body.text).slice(0, 200), by: req.auth.email }
  notices.push(notice)
  res.status(201).json(notice)
})
app.get('/api/users', auth.require({ roles: ['ADMIN'] }), async (_req, res) => res.json(await auth.users.list()))
app.put('/api/users/:id/roles', auth.require({ roles: ['ADMIN'], recent: '10m' }), async (req, res) => {
  res.json(await auth.users.update(req.params.id, { roles: req.body }))
})

const server = app.listen(Number(PORT), 'localhost', () => console.log(`Open http://localhost:${PORT}/auth/register`))
process.once('SIGTERM', () => server.close(() => auth.close()))
