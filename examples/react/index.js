// A React page and its API in one process: Vite serves the page, Latchkey adds accounts, sign-in pages and the guard.
// Run it from the repository: node examples/react/index.js. PORT may be set.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { init } from 'latchkey'
import { createServer as createVite } from 'vite'

const port = Number(process.env.PORT ?? 3000)
const app = express()
const auth = init(app, {
  baseUrl: `http://localhost:${port}`,
  // New at each start, which signs every user out. Yours come from the environment.
  JWT_ACCESS_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  JWT_REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  database: 'sqlite::memory:',
  admin: { emails: ['ada@example.com'] },
})
app.get('/api/hello', (req, res) => res.json({ hello: req.auth.email }))
app.get('/api/users', auth.require({ roles: ['ADMIN'] }), async (_req, res) => {
  const { items } = await auth.users.list()
  res.json(items.map(({ email }) => email))
})

// In production, serve the output of `vite build`: app.use(express.static('dist')).
const server = createServer(app)
const root = fileURLToPath(new URL('.', import.meta.url))
const vite = await createVite({ root, appType: 'spa', server: { middlewareMode: true, hmr: { server } } })
app.use(vite.middlewares)
server.listen(port, 'localhost', () => console.log(`Open http://localhost:${port}`))

process.once('SIGTERM', async () => {
  await vite.close()
  server.close(() => auth.close())
})
