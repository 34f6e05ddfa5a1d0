// Two sites: a page on localhost and the API on 127.0.0.1, so that every call crosses from one to the other.
// Run it from the repository: node examples/spa/index.js. PAGE_PORT, API_PORT and DATA_FOLDER may be set.
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { init } from 'latchkey'

const { PAGE_PORT = '3000', API_PORT = '3001', DATA_FOLDER } = process.env
const page = `http://localhost:${PAGE_PORT}`

const api = express()
const auth = init(api, {
  baseUrl: `http://127.0.0.1:${API_PORT}`,
  // Made anew at each start, which signs everybody out. Yours come from the environment.
  JWT_ACCESS_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  JWT_REFRESH_TOKEN_SECRET: randomBytes(32).toString('base64url'),
  database: DATA_FOLDER ? `sqlite:${DATA_FOLDER}/spa.db` : 'sqlite::memory:',
  trustedOrigins: [page], // CORS with cookies for this page, and no other
  cookies: { sameSite: 'none', partitioned: true }, // sent across sites, and kept apart for each site that embeds us
  password: { checkBreached: false }, // this example asks nobody outside; leave it on where people register
})
api.get('/api/hello', (req, res) => res.json({ hello: req.auth.email }))
const apiServer = api.listen(Number(API_PORT), '127.0.0.1')

// Any static host will do. The page has its client from a bundler, usually; here the browser loads the modules as they are.
const site = express()
site.get('/settings.js', (_req, res) => res.type('js').send(`export const baseUrl = 'http://127.0.0.1:${API_PORT}'`))
site.use('/latchkey', express.static(dirname(fileURLToPath(import.meta.resolve('latchkey/client')))))
site.use(express.static(fileURLToPath(new URL('page', import.meta.url))))
const siteServer = site.listen(Number(PAGE_PORT), 'localhost', () => console.log(`Open ${page} and create an account.`))

process.once('SIGTERM', () => {
  siteServer.close()
  apiServer.close(() => auth.close())
})
