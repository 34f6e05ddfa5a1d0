// better-auth on Express.
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import express from 'express'
import { configuration } from './better-auth-options.js'
import { cookiesOf } from './cookies-of.js'
import { hello } from './hello.js'

export async function migrate(options) {
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
}

export async function start({ baseUrl, file, accounts }) {
  const options = configuration(baseUrl, file)
  await migrate(options)
  const auth = betterAuth(options)

  const app = express()
  app.all('/api/auth/{*any}', toNodeHandler(auth))
  app.get('/api/hello', async (request, response) => {
    const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
    if (session) hello(request, response)
    else response.status(401).end()
  })

  return { app, ready: () => signUp(baseUrl, accounts), login: { path: '/api/auth/sign-in/email', accounts } }
}

async function signUp(baseUrl, accounts) {
  let cookie = ''
  for (const account of accounts) {
    const response = await fetch(`${baseUrl}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: baseUrl },
      body: JSON.stringify({ ...account, name: 'Ada' }),
    })
    if (!response.ok) throw new Error(`better-auth sign-up: ${response.status} ${await response.text()}`)
    cookie = cookiesOf(response)
  }
  return { cookie: { cookie } }
}
