// Latchkey on the PostgreSQL of LATCHKEY_BENCH_DATABASE. Every request of the load comes from an address of its own, as
// it would from people: limits stay on, and their counters are rows of the same database.
import { randomUUID } from 'node:crypto'
import express from 'express'
import { init } from '../../../dist/index.js'
import { cookiesOf } from './cookies-of.js'
import { configuration } from './latchkey-settings.js'

export async function start({ baseUrl, accounts }) {
  const settings = { ...configuration(baseUrl, ''), database: process.env.LATCHKEY_BENCH_DATABASE, trustedProxies: 1 }
  const app = express()
  const auth = init(app, settings)
  app.get('/api/hello', (_request, response) => response.send('hello'))
  await auth.ready()
  // A second server may be started on the same database.
  const account = { ...accounts[0], email: `${randomUUID()}@example.com` }
  await auth.users.create({ ...account, emailVerified: true })
  return { app, credentials: { account, secret: settings.JWT_REFRESH_TOKEN_SECRET } }
}

export async function signIn({ baseUrl, credentials: { account } }) {
  const headers = { 'content-type': 'application/json', origin: baseUrl }
  const response = await fetch(`${baseUrl}/auth/login`, { method: 'POST', headers, body: JSON.stringify(account) })
  if (!response.ok) throw new Error(`login: ${response.status} ${await response.text()}`)
  return {
    cookie: { cookie: cookiesOf(response, '/api/hello') },
    refreshCookie: cookiesOf(response, '/auth/refresh'),
  }
}
