import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { refuseUpgrade } from '../../adapters/node/upgrade.js'
import { AuthError } from '../../errors.js'
import { problem } from '../../http/problem.js'
import { createRequestIds } from '../../lib/request-id.js'
import { type Front, type FrontSizes, limits } from './front.js'

/** Waiting times in milliseconds. */
export interface ServerTimes {
  /** From the start of a connection, or of the next request on it, to the end of the headers. */
  headersMs: number
  /** How long a connection may be idle between two requests: longer than proxies keep theirs, 60 s in nginx. */
  keepAliveMs: number
}

export const usualServerTimes: ServerTimes = { headersMs: 20_000, keepAliveMs: 65_000 }

/** Node closes further connections at once. */
const maxConnections = 16_384

/**
 * The server of the spaces' socket. Node's parser reads requests strictly, whatever flags the process has; headers that come
 * slowly end the connection. The time of a body is bounded by the space's limits.
 */
export function createFrontServer(
  front: Front,
  times: ServerTimes = usualServerTimes,
  sizes: FrontSizes = limits,
): Server {
  const server = createServer({
    insecureHTTPParser: false,
    // A target that is too long gets its own answer, so the parser must be able to read it.
    maxHeaderSize: 2 * sizes.target + sizes.headers,
    headersTimeout: times.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: Math.min(times.headersMs, 5_000),
    // A missing `Host` is `wrong_host`, not a bare 400.
    requireHostHeader: false,
    highWaterMark: 64 * 1024,
    noDelay: true,
  })
  // By default, Node leaves headers beyond a certain number unread. Their size is bounded already.
  server.maxHeadersCount = 0
  server.maxConnections = maxConnections
  const requestId = createRequestIds()
  const latest = new WeakMap<Duplex, ServerResponse>()

  /**
   * Runs one request of a connection at a time. Node would start pipelined requests at once, and would not report when the
   * client of a waiting request leaves.
   */
  function serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const { socket } = request
    const before = latest.get(socket)
    latest.set(socket, response)
    // After an answer that closes the connection, the requests behind it are dropped.
    const start = () => {
      if (!socket.destroyed && !socket.writableEnded) void front(request, response, expectsContinue)
    }
    if (before === undefined || before.closed) start()
    else before.once('close', start)
  }

  server.on('request', (request, response) => serve(request, response, false))
  server.on('checkContinue', (request, response) => serve(request, response, true))
  server.on('clientError', (error, socket) => {
    const fault = faultOf(error)
    const isAnswering = latest.get(socket)?.closed === false
    if (fault === null || isAnswering) socket.destroy()
    else refuseUpgrade(socket, problem(fault, requestId()))
  })
  server.on('connect', (_request, socket) => refuseUpgrade(socket, problem(new AuthError('not_here'), requestId())))
  return server
}

/** null for a connection that broke or timed out, and so gets no answer. */
function faultOf(error: Error & { code?: string }): AuthError | null {
  const { code = '' } = error
  if (code === 'HPE_HEADER_OVERFLOW') return new AuthError('headers_too_large')
  return code.startsWith('HPE_') ? new AuthError('invalid_request') : null
}
