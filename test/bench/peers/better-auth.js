// better-auth on Express.
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { configuration } from './better-auth-options.js'
import { cookiesOf } from './cookies-of.js'
import { frameworks } from './frameworks.js'

export async function migrate(options) {
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
}

export async function start({ baseUrl, file, secrets, accounts }, { cookieCache = true } = {}) {
  const options = configuration(baseUrl, file, secrets[0], { cookieCache })
  await migrate(options)
  const auth = betterAuth(options)

  const { create, route } = frameworks.express
  const app = create()
  app.all('/api/auth/{*any}', toNodeHandler(auth))
  route(app, async (request, response, next) => {
    if (await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })) next()
    else response.status(401).end()
  })

  return { app, login: { path: '/api/auth/sign-in/email', accounts } }
}

export async function signIn({ baseUrl, accounts }) {
  let cookie = ''
  for (const account of accounts) {
    const response = await fetch(`${baseUrl}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: baseUrl },
      body: JSON.stringify({ ...account, name: 'Ada' }),
    })
    if (!response.ok) throw new Error(`better-auth sign-up: ${response.status} ${await response.text()}`)
    cookie = cookiesOf(response, '/api/hello')
  }
  return { cookie: { cookie } }
}
