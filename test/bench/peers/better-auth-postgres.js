// better-auth on the PostgreSQL of LATCHKEY_BENCH_DATABASE. `updateAge: 0`: each getSession refreshes the session, which
// is what a refresh is there; by default it would do so once a day.
import { betterAuth } from 'better-auth'
import { toNodeHandler } from 'better-auth/node'
import express from 'express'
import pg from 'pg'
import { migrate } from './better-auth.js'
import { configuration } from './better-auth-options.js'
import { cookiesOf } from './cookies-of.js'

const sessions = 32

export async function start({ baseUrl, secrets }) {
  const database = new pg.Pool({ connectionString: process.env.LATCHKEY_BENCH_DATABASE })
  const options = { ...configuration(baseUrl, ':memory:', secrets[0]), database, session: { updateAge: 0 } }
  await migrate(options)
  const app = express()
  app.all('/api/auth/{*any}', toNodeHandler(betterAuth(options)))
  return { app }
}

/** A session for each connection of the load, so that none waits for another's row. */
export async function signIn({ baseUrl, accounts: [account] }) {
  await post(baseUrl, '/api/auth/sign-up/email', { ...account, name: 'Ada' })
  const cookies = []
  for (let count = 0; count < sessions; count += 1) {
    cookies.push(cookiesOf(await post(baseUrl, '/api/auth/sign-in/email', account), '/api/auth'))
  }
  return { cookies }
}

async function post(baseUrl, path, body) {
  const headers = { 'content-type': 'application/json', origin: baseUrl }
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`better-auth ${path}: ${response.status} ${await response.text()}`)
  return response
}
