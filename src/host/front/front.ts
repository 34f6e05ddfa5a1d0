import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from '../../adapters/node/answer.js'
import { peerAddress } from '../../adapters/node/peer-address.js'
import { AuthError } from '../../errors.js'
import { logFault, toAuthError } from '../../http/faults.js'
import { type HttpRequest, type HttpResponse, type RequestBody, singleHeader } from '../../http/message.js'
import { problem, transportHeaders, withHeaders } from '../../http/problem.js'
import type { Pass } from '../../http/verdict.js'
import { withQuery } from '../../lib/api-key-query.js'
import { createRequestIds } from '../../lib/request-id.js'
import type { Logger } from '../../settings.js'
import type { QueuedRequest } from '../request-queue.js'
import type { CookieSpace } from './headers.js'
import { headersForChild } from './headers.js'
import { createProxy, type Hop, type ProxyRequest } from './proxy.js'
import type { Space, SpaceDirectory } from './space.js'
import { hostsOf, readTarget, requireHost, type Target } from './target.js'

interface FrontOptions {
  /** An http or https URL. If it has a path, the proxy in front strips it. */
  baseUrl: string
  spaces: SpaceDirectory
  /** The answer of `{baseUrl}/health`. */
  health(): HttpResponse
  logger: Logger
  /** Default: `limits`. */
  sizes?: FrontSizes
}

/** In bytes. */
export interface FrontSizes {
  /** The largest request target. */
  target: number
  /** The largest headers, names and values. */
  headers: number
}

/**
 * Takes a request to the spaces' socket, which counts for its space from now on. `start` of the result answers it. Nothing throws.
 */
export type Front = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => QueuedRequest

export const limits: FrontSizes = { target: 16 * 1024, headers: 32 * 1024 }

/** After a refusal, a connection on which more of the body is to come closes. */
const drainedBytes = 64 * 1024

interface Wired extends FrontOptions {
  url: URL
  /** The path of `baseUrl`, without a slash at the end. */
  prefix: string
  hosts: ReadonlySet<string>
  proxy: ProxyRequest
  requestId(): string
  /** How many requests are open, by the id of the space. */
  open: Map<string, number>
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  expectsContinue: boolean
}

/**
 * Handles requests to spaces: reads the target, asks the guard of the space, and passes the request to the child with the
 * headers that only the front may set.
 */
export function createFront(options: FrontOptions): Front {
  const url = new URL(options.baseUrl)
  const wired: Wired = {
    ...options,
    url,
    prefix: url.pathname.replace(/\/$/, ''),
    hosts: hostsOf(url),
    proxy: createProxy(),
    requestId: createRequestIds(),
    open: new Map(),
  }
  return (request, response, expectsContinue) => {
    const exchange = { request, response, expectsContinue }
    const arrived = arrive(wired, exchange)
    return {
      start: () => void answerTo(wired, exchange, arrived),
      drop() {
        if (!(arrived instanceof AuthError)) arrived.leave()
      },
    }
  }
}

/** A request that may go on to its space; null: to `/health`. */
interface Arrived {
  target: Target
  space: Space | null
  /** Gives its place in the space back. */
  leave(): void
}

/** The result is the refusal of a request that may not go on. */
function arrive(wired: Wired, exchange: Exchange): Arrived | AuthError {
  try {
    return admit(wired, exchange)
  } catch (error) {
    return toAuthError(error)
  }
}

/** @throws {AuthError} */
function admit(wired: Wired, { request, response }: Exchange): Arrived {
  requireSizes(request, wired.sizes ?? limits)
  requireHost(singleHeader(request, 'host'), wired.hosts)
  if (request.headers.upgrade !== undefined) throw new AuthError('not_here')
  // HTTP/1.0 has no chunks: another reader would find the end of the body elsewhere (RFC 9112 §6.1).
  if (request.httpVersion === '1.0' && isChunked(request)) {
    response.shouldKeepAlive = false
    throw new AuthError('invalid_request')
  }
  const target = readTarget(request.url ?? '', wired.hosts)
  if (target.path === '/health') return { target, space: null, leave: () => {} }
  const space = wired.spaces.find(target.space)
  if (space === null) throw new AuthError('space_not_found')
  return { target, space, leave: enter(wired, space, response) }
}

async function answerTo(wired: Wired, exchange: Exchange, arrived: Arrived | AuthError): Promise<void> {
  try {
    if (arrived instanceof AuthError) throw arrived
    if (arrived.space === null) send(exchange, wired.health())
    else await decide(wired, exchange, { ...arrived, space: arrived.space })
  } catch (error) {
    refuse(wired, exchange, toAuthError(error), wired.requestId())
  }
}

/** @throws {AuthError} */
async function decide(wired: Wired, exchange: Exchange, arrived: Arrived & { space: Space }): Promise<void> {
  const { target, leave } = arrived
  try {
    // The space may have changed or gone while the request waited.
    const space = wired.spaces.find(target.space)
    if (space?.id !== arrived.space.id) throw new AuthError('space_not_found')
    const verdict = await space.guard.decide(new FrontRequest(exchange.request, target))
    if (verdict.kind === 'pass') return await passOn(wired, exchange, { space, target, pass: verdict })
    leave()
    send(exchange, verdict.response)
  } catch (error) {
    leave()
    throw error
  }
}

/**
 * Counts the request until its answer has ended, or until the result is called: a refusal that waits for the rest of a body takes
 * no place.
 *
 * @throws {AuthError} `busy`
 */
function enter({ open }: Wired, { id, limits: { connections } }: Space, response: ServerResponse): () => void {
  const count = open.get(id) ?? 0
  if (count >= connections) throw new AuthError('busy', { retryAfterSeconds: 1 })
  open.set(id, count + 1)
  let hasLeft = false
  const leave = () => {
    if (hasLeft) return
    hasLeft = true
    const left = (open.get(id) ?? 1) - 1
    if (left > 0) open.set(id, left)
    else open.delete(id)
  }
  response.once('close', leave)
  return leave
}

interface Admitted {
  space: Space
  target: Target
  pass: Pass
}

async function passOn(wired: Wired, exchange: Exchange, admitted: Admitted): Promise<void> {
  const { request, response, expectsContinue } = exchange
  const { space } = admitted
  requireBodySize(request, space.limits.streamBytes)
  const child = await space.child()
  if (response.destroyed) return
  const hop = hopOf(wired, exchange, admitted, child)
  if (expectsContinue) response.writeContinue()
  wired.proxy(hop)
}

function hopOf(wired: Wired, exchange: Exchange, { space, target, pass }: Admitted, child: Hop['child']): Hop {
  const { request, response } = exchange
  const cookies: CookieSpace = {
    name: space.name,
    path: `${wired.prefix}/${space.name}`,
    isSpace: (name) => wired.spaces.isSpace(name),
  }
  const chunked = isChunked(request)
  const contentLength = chunked ? undefined : request.headers['content-length']
  const sent = { raw: request.rawHeaders, connection: request.headers.connection, contentLength }
  const query = pass.query ?? target.query
  return {
    space,
    child,
    request,
    response,
    target: withQuery(target.path, query),
    headers: headersForChild(sent, pass, { host: wired.url.host, cookies, hopKey: child.hopKey }),
    body: chunked ? 'chunked' : Number(contentLength ?? 0) === 0 ? 'none' : 'length',
    answer: { cookies, requestPath: wired.prefix + target.path, added: pass.responseHeaders },
    principal: pass.principal,
    fail: (fault) => refuse(wired, exchange, fault, pass.forwarded?.['x-request-id'] ?? wired.requestId()),
  }
}

/** Node's parser bounds the sum only. @throws {AuthError} `target_too_long`, `headers_too_large` */
function requireSizes({ url = '', rawHeaders }: IncomingMessage, sizes: FrontSizes): void {
  if (url.length > sizes.target) throw new AuthError('target_too_long')
  let bytes = 0
  for (const text of rawHeaders) bytes += text.length
  if (bytes > sizes.headers) throw new AuthError('headers_too_large')
}

function requireBodySize({ headers }: IncomingMessage, streamBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > streamBytes) throw new AuthError('payload_too_large')
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined
}

function refuse(wired: Wired, exchange: Omit<Exchange, 'expectsContinue'>, fault: AuthError, requestId: string): void {
  logFault(wired.logger, fault, requestId)
  send(exchange, withHeaders(problem(fault, requestId), transportHeaders({ origin: wired.url.origin })))
}

/** Answers. A large body that stays unread would hold the connection, so it closes. */
export function send({ request, response }: Omit<Exchange, 'expectsContinue'>, sent: HttpResponse): void {
  if (response.destroyed) return
  const length = isChunked(request) ? Number.POSITIVE_INFINITY : Number(request.headers['content-length'] ?? 0)
  const closes = !request.complete && length > drainedBytes
  answer(request, response, closes ? withHeaders(sent, { connection: 'close' }) : sent)
}

/** A request to a space as the guard reads it: the path is below the space, and the body stays on the wire. */
class FrontRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly mount: string
  readonly headers: HttpRequest['headers']
  readonly rawHeaders: readonly string[]
  readonly native = null
  private readonly request: IncomingMessage

  constructor(request: IncomingMessage, { space, path, query }: Target) {
    this.request = request
    this.method = request.method ?? 'GET'
    this.mount = `/${space}`
    this.path = path.slice(this.mount.length) || '/'
    this.query = query
    this.headers = request.headers
    this.rawHeaders = request.rawHeaders
  }

  get ip(): string | null {
    return peerAddress(this.request.socket)
  }

  get body(): RequestBody {
    return unread
  }
}

/** The body is the application's: reading it here would take it away. */
const unread: RequestBody = { kind: 'stream', read: () => Promise.resolve(null) }
