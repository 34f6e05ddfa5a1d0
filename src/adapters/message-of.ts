import { IncomingMessage } from 'node:http'
import type { HttpRequest } from '../http/message.js'
import { isCodehooksRequest, readRequest as readCodehooksRequest } from './codehooks/message.js'
import { readRequest as readFetchRequest } from './fetch.js'
import { HonoMessage, isHonoContext } from './hono/message.js'
import { readRequest as readNodeRequest } from './node/message.js'

/**
 * A request of any supported framework as plain data, from the request object that handlers have.
 *
 * @throws {TypeError} for a request of another framework
 */
export function messageOf(request: unknown): HttpRequest {
  if (request instanceof Request) return readFetchRequest(request, null)
  if (request instanceof IncomingMessage) return readNodeRequest(request)
  if (isHonoContext(request)) return new HonoMessage(request, null)
  if (isFastifyRequest(request)) return readNodeRequest(request.raw)
  if (isCodehooksRequest(request)) return readCodehooksRequest(request, null)
  throw new TypeError('not a request of a supported framework')
}

/** Fastify's own request wraps node's. */
function isFastifyRequest(request: unknown): request is { raw: IncomingMessage } {
  return request instanceof Object && 'raw' in request && request.raw instanceof IncomingMessage
}
