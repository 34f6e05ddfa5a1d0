import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { hasMethods } from '../../lib/members.js'
import type { Principal } from '../../model/principal.js'

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
  addHook(name: 'onReady', hook: () => void): unknown
  /** Calls back when everything that was registered before has loaded. */
  after(callback: (error: Error | null, done: (error: Error | null) => void) => void): unknown
  decorateRequest(name: string, value: null): unknown
  hasRequestDecorator(name: string): boolean
  server: Pick<Server, 'emit'>
}

export function isFastify(app: unknown): app is FastifyApp {
  return typeof app === 'object' && hasMethods(app, ['addHook', 'after', 'decorateRequest', 'hasPlugin', 'inject'])
}
