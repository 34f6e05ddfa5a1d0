import cookie from '@fastify/cookie'
import fastifyJwt from '@fastify/jwt'
import { frameworks } from './frameworks.js'
import { credentials, secret } from './own-token.js'

export async function guarded(options) {
  const { create, route, listener } = frameworks.fastify
  const app = create()
  await app.register(cookie)
  await app.register(fastifyJwt, { secret, cookie: { cookieName: 'token', signed: false }, ...options })
  app.addHook('onRequest', (request) => request.jwtVerify())
  route(app)
  return { app: await listener(app), credentials }
}
