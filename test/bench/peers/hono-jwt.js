// hono/jwt, with a CryptoKey instead of a string, which is faster.
import { webcrypto } from 'node:crypto'
import { jwt } from 'hono/jwt'
import { frameworks } from './frameworks.js'
import { credentials, secret } from './own-token.js'

export async function start() {
  const { create, route, listener } = frameworks.hono
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await webcrypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify'])
  const app = create()
  app.use('/api/*', jwt({ secret: key, alg: 'HS256', cookie: 'token' }))
  route(app)
  return { app: await listener(app), credentials: { cookie: credentials.cookie } }
}
