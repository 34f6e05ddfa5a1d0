import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { answer } from '../../adapters/node/answer.js'
import { createListener } from '../../adapters/node/listener.js'
import { refuseUpgrade } from '../../adapters/node/upgrade.js'
import { AuthError } from '../../errors.js'
import { logFault, toAuthError } from '../../http/faults.js'
import { singleHeader } from '../../http/message.js'
import { problem, transportHeaders, withHeaders } from '../../http/problem.js'
import type { Handle } from '../../http/verdict.js'
import { createRequestIds } from '../../lib/request-id.js'
import type { Logger } from '../../settings.js'
import { hostsOf, readTarget, requireHost } from '../front/target.js'
import { endSlowBody } from './slow-body.js'

export interface AdminServerOptions {
  /** An origin. */
  adminUrl: string
  /** Of the host's accounts. Their routes are below `/auth`. */
  handle: Handle
  logger: Logger
}

const ownSegment = 'auth'

/** Headers that come slowly end the connection. */
const headersMs = 20_000
/** Longer than proxies keep idle connections, 60 s in nginx. */
const keepAliveMs = 65_000
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
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersMs,
    // `endSlowBody` bounds the time of a body.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    // A missing `Host` is `wrong_host`, not a bare 400.
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxConnections = maxConnections

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const fault = toAuthError(error)
    const id = requestId()
    logFault(options.logger, fault, id)
    const refusal = withHeaders(problem(fault, id), transportHeaders({ origin: url.origin }))
    answer(request, response, request.complete ? refusal : withHeaders(refusal, { connection: 'close' }))
  }

  server.on('request', (request, response) => {
    endSlowBody(request)
    try {
      requireHost(singleHeader(request, 'host'), hosts)
      if (request.headers.upgrade !== undefined) throw new AuthError('not_here')
      if (readTarget(request.url ?? '', hosts).space !== ownSegment) throw new AuthError('not_found')
      listener(request, response, () => refuse(request, response, new AuthError('not_found')))
    } catch (error) {
      refuse(request, response, error)
    }
  })
  server.on('clientError', (error, socket) => refuseConnection(error, socket))
  server.on('connect', (_request, socket) => refuseUpgrade(socket, problem(new AuthError('not_here'), requestId())))
  return server

  function refuseConnection(error: Error & { code?: string }, socket: Parameters<typeof refuseUpgrade>[0]): void {
    const { code = '' } = error
    if (code === 'HPE_HEADER_OVERFLOW') refuseUpgrade(socket, problem(new AuthError('headers_too_large'), requestId()))
    else if (code.startsWith('HPE_')) refuseUpgrade(socket, problem(new AuthError('invalid_request'), requestId()))
    else socket.destroy()
  }
}
