import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createListener } from '../../adapters/node/listener.js'
import { AuthError } from '../../errors.js'
import { logFault, toAuthError } from '../../http/faults.js'
import { singleHeader } from '../../http/message.js'
import { problem, transportHeaders, withHeaders } from '../../http/problem.js'
import type { Handle } from '../../http/verdict.js'
import { createRequestIds } from '../../lib/request-id.js'
import type { Logger } from '../../settings.js'
import { send } from '../front/front.js'
import { answerOutside, endUntaken, usualServerTimes } from '../front/server.js'
import { hostsOf, readTarget, requireHost } from '../front/target.js'
import { createRequestQueue } from '../request-queue.js'

interface AdminServerOptions {
  /** An origin. */
  adminUrl: string
  /** Of the host's accounts. Their routes are below `/auth`. */
  handle: Handle
  logger: Logger
}

const ownSegment = 'auth'

const maxHeaderBytes = 64 * 1024
const maxConnections = 4_096

/**
 * The server of the admin's socket: pages and control API of the host, and nothing else. It answers for its own origin only.
 */
export function createAdminServer(options: AdminServerOptions): Server {
  const url = new URL(options.adminUrl)
  const hosts = hostsOf(url)
  const requestId = createRequestIds()
  const listener = createListener(options.handle)
  const queue = createRequestQueue()
  const times = usualServerTimes
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: times.headersMs,
    // `endSlowBody` bounds the time of a body.
    requestTimeout: 0,
    keepAliveTimeout: times.keepAliveMs,
    // A missing `Host` is `wrong_host`, not a bare 400.
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = maxConnections

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const fault = toAuthError(error)
    const id = requestId()
    logFault(options.logger, fault, id)
    send({ request, response }, withHeaders(problem(fault, id), transportHeaders({ origin: url.origin })))
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    endSlowBody(request)
    endUntaken(request, response, times.takeMs)
    try {
      requireHost(singleHeader(request, 'host'), hosts)
      if (request.headers.upgrade !== undefined) throw new AuthError('not_here')
      if (readTarget(request.url ?? '', hosts).space !== ownSegment) throw new AuthError('not_found')
      listener(request, response, () => refuse(request, response, new AuthError('not_found')))
    } catch (error) {
      refuse(request, response, error)
    }
  }

  server.on('request', (request, response) => {
    queue.enter(request, response, () => ({ start: () => serve(request, response), drop() {} }))
  })
  answerOutside(server, queue, requestId)
  return server
}

/** A body sends at least this much in each window, or ends in it: about 3.5 KB a second. */
export const slowBody = { windowMs: 300_000, bytes: 1024 * 1024 }

/**
 * Ends the connection of a client that sends its body too slowly (CWE-400). A large upload may take as long as it needs, and
 * a client that waits because the server has not read what it sent is not slow.
 */
export function endSlowBody(request: IncomingMessage): void {
  const { headers, socket } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return

  let before = socket.bytesRead
  const timer = setInterval(() => {
    const isSlow = socket.bytesRead - before < slowBody.bytes && request.readableLength === 0
    before = socket.bytesRead
    if (request.complete) clearInterval(timer)
    else if (isSlow) socket.destroy()
  }, slowBody.windowMs)
  timer.unref()
  request.once('close', () => clearInterval(timer))
}
