import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Principal } from '../model/principal.js'

/** The part of a Fastify request that we use. */
export interface FastifyRequest {
  raw: IncomingMessage
  /** Parsed before any hook. */
  query?: unknown
  auth?: Principal | null
}

export interface FastifyReply {
  raw: ServerResponse
  header(name: string, value: string): unknown
}

/** A hook of Fastify, such as `preHandler`, for one route. */
export type FastifyGate = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** The part of a Fastify application that we use. */
export interface FastifyApp {
  addHook(name: 'onRequest', hook: FastifyGate): unknown
  decorateRequest(name: string, value: null): unknown
  hasRequestDecorator(name: string): boolean
  server: Pick<Server, 'emit'>
}
