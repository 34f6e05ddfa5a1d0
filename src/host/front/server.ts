import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { refuseUpgrade } from '../../adapters/node/upgrade.js'
import { AuthError } from '../../errors.js'
import { problem } from '../../http/problem.js'
import { createRequestIds } from '../../lib/request-id.js'
import { createRequestQueue, type RequestQueue } from '../request-queue.js'
import { type Front, type FrontSizes, limits } from './front.js'

/** Waiting times in milliseconds. */
export interface ServerTimes {
  /** From the start of a connection, or of the next request on it, to the end of the headers. */
  headersMs: number
  /** How long a connection may be idle between two requests: longer than proxies keep theirs, 60 s in nginx. */
  keepAliveMs: number
  /** How long a client may take nothing of an answer that is complete. */
  takeMs: number
}

export const usualServerTimes: ServerTimes = { headersMs: 20_000, keepAliveMs: 65_000, takeMs: 30_000 }

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
  const queue = createRequestQueue()

  function serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    queue.enter(request, response, () => {
      endUntaken(request, response, times.takeMs)
      return front(request, response, expectsContinue)
    })
  }

  server.on('request', (request, response) => serve(request, response, false))
  server.on('checkContinue', (request, response) => serve(request, response, true))
  answerOutside(server, queue, requestId)
  return server
}

/**
 * Answers what Node does not hand over as a request. An answer before that of an earlier request would be taken for it, so the
 * connection is then cut.
 */
export function answerOutside(server: Server, queue: RequestQueue, requestId: () => string): void {
  function refuse(fault: AuthError | null, socket: Duplex): void {
    if (fault === null || queue.isAnswering(socket)) socket.destroy()
    else refuseUpgrade(socket, problem(fault, requestId()))
  }

  server.on('clientError', (error, socket) => refuse(faultOf(error), socket))
  server.on('connect', (_request, socket) => refuse(new AuthError('not_here'), socket))
  // Node itself would answer an unknown expectation before the requests that came first (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => {
    const start = () => void response.writeHead(417, { 'content-length': 0 }).end()
    queue.enter(request, response, () => ({ start, drop() {} }))
  })
}

/** null for a connection that broke or timed out, and so gets no answer. */
function faultOf(error: Error & { code?: string }): AuthError | null {
  const { code = '' } = error
  if (code === 'HPE_HEADER_OVERFLOW') return new AuthError('headers_too_large')
  return code.startsWith('HPE_') ? new AuthError('invalid_request') : null
}

/**
 * Cuts the connection of a client that takes nothing of a complete answer for that long. Every byte that it takes restarts the
 * time, and afterwards the time between two requests counts. A shorter time of the connection stays.
 */
export function endUntaken({ socket }: IncomingMessage, response: ServerResponse, takeMs: number): void {
  response.once('prefinish', () => {
    const before = socket.timeout ?? 0
    if (before === 0 || before > takeMs) socket.setTimeout(takeMs)
  })
}
