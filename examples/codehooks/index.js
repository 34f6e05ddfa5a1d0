// The whole backend of an app: a database API under /api that only signed-in users reach.
// Deploy it (coho deploy) after storing both secrets, each from `openssl rand -base64 32`:
//   coho set-env JWT_ACCESS_TOKEN_SECRET "…" --encrypted      coho set-env JWT_REFRESH_TOKEN_SECRET "…" --encrypted
// On a space host say latchkey instead of coho. BASE_URL is where the app is reached, MAIL_URL an SMTP server, and PAGE_ORIGIN
// another origin of the same site whose pages may call the app. Accounts are kept in the app's own Datastore.
import { app, Datastore } from 'codehooks-js'
import { init } from 'latchkey'

const { BASE_URL = 'http://localhost:3000', MAIL_URL, PAGE_ORIGIN } = process.env

// Every collection but those of accounts becomes /api/<collection>, with GET, POST, PUT, PATCH and DELETE.
app.crudlify({}, { prefix: '/api' })

init(app, {
  JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
  redirectSuccessUrl: '/',
  baseAPIRoutes: '/api',
  baseUrl: BASE_URL,
  database: Datastore,
  ...(PAGE_ORIGIN && { trustedOrigins: [PAGE_ORIGIN] }),
  ...(MAIL_URL && { mail: { from: 'Accounts <accounts@example.com>', transport: MAIL_URL } }),
})

export default app.init()
