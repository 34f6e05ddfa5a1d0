// A strict TypeScript application on Express: a typed principal and a typed custom field.
// Run it on Node 22.18 or newer: node examples/typescript/index.ts. On an older Node, compile it first. PORT may be set.
import { randomBytes } from 'node:crypto'
import express from 'express'
import { init, type LatchkeySettings, type Principal } from 'latchkey'
import { z } from 'zod'

const fields = z.object({ team: z.enum(['red', 'blue']).default('red') })

declare module 'latchkey' {
  interface UserFields extends z.infer<typeof fields> {}
}

const port = Number(process.env.PORT ?? 3000)
const settings: LatchkeySettings = {
  baseUrl: `http://localhost:${port}`,
  // New secrets and a new database at each start. A real app keeps both.
  JWT_ACCESS_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  JWT_REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  database: 'sqlite::memory:',
  registration: { fields },
  password: { checkBreached: false }, // keeps this example offline; leave it on in a real app
}

const app = express()
const auth = init(app, settings)

app.get('/api/hello', (req, res) => void res.json({ hello: nameOf(req.auth) }))
app.get('/api/team', auth.require({ kinds: ['session'] }), async (req, res) => {
  const user = req.auth?.kind === 'session' ? await auth.users.get(req.auth.userId) : null
  res.json({ team: user?.team })
})

const server = app.listen(port, 'localhost', () => console.log(`Open http://localhost:${port}/auth/register`))
process.once('SIGTERM', () => server.close(() => auth.close()))

function nameOf(principal: Principal | null): string {
  if (principal?.kind === 'session') return principal.email
  return principal?.kind === 'apiToken' ? principal.name : (principal?.subject ?? 'stranger')
}
