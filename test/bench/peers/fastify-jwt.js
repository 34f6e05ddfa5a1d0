// @fastify/jwt with @fastify/cookie, as its documentation has it.
import { guarded } from './fastify-jwt-app.js'

export const start = () => guarded({})
