// The whole backend of an app: a database API under /api that only signed-in users reach.
// Deploy it (coho deploy) after storing both secrets, each from `openssl rand -base64 32`:
//   coho set-env JWT_ACCESS_TOKEN_SECRET "…" --encrypted      coho set-env JWT_REFRESH_TOKEN_SECRET "…" --encrypted
// BASE_URL is where the app is reached, MAIL_URL an SMTP server, DATABASE_URL where accounts are kept.
import { app } from 'codehooks-js'
import { init } from 'latchkey'

const { BASE_URL = 'http://localhost:3000', MAIL_URL, DATABASE_URL = 'sqlite:./latchkey.db' } = process.env

// Every collection becomes /api/<collection>, with GET, POST, PUT, PATCH and DELETE.
app.crudlify({}, { prefix: '/api' })

init(app, {
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  redirectSuccessUrl: '/',
  baseAPIRoutes: '/api',
  baseUrl: BASE_URL,
  database: DATABASE_URL,
  ...(MAIL_URL && { mail: { from: 'Accounts <accounts@example.com>', transport: MAIL_URL } }),
})

export default app.init()
