// @auth/express with a session in a JWT cookie, asked in every request as its documentation has it.

import { encode } from '@auth/core/jwt'
import { ExpressAuth, getSession } from '@auth/express'
import Credentials from '@auth/express/providers/credentials'
import { frameworks } from './frameworks.js'
import { secret } from './own-token.js'

const cookieName = 'authjs.session-token'

export async function start() {
  const { create, route } = frameworks.express
  const providers = [Credentials({ authorize: async () => null })]
  const config = { secret, trustHost: true, providers, session: { strategy: 'jwt' } }
  const app = create()
  app.use('/auth/*any', ExpressAuth(config))
  route(app, async (request, response, next) => {
    if (await getSession(request, config)) next()
    else response.status(401).end()
  })
  const claims = { sub: 'ada', name: 'Ada', email: 'ada@example.com' }
  const token = await encode({ token: claims, secret, salt: cookieName, maxAge: 7200 })
  return { app, credentials: { cookie: { cookie: `${cookieName}=${token}` } } }
}
