// @fastify/jwt with its cache of verified tokens.
import { guarded } from './fastify-jwt-app.js'

export const start = () => guarded({ verify: { cache: true } })
