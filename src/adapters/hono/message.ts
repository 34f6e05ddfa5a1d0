import { IncomingMessage } from 'node:http'
import type { HttpRequest, RequestBody, RequestHeaders } from '../../http/message.js'
import type { Pass } from '../../http/verdict.js'
import { memberOf } from '../../lib/members.js'
import type { Principal } from '../../model/principal.js'
import { bodyOf, prepare } from '../fetch.js'
import { countAsRead, dropUnread, listHeaders, writeHeaders } from '../node/headers.js'
import { peerAddress } from '../node/peer-address.js'
import { mountPrefix, targetAsRouted } from '../request-target.js'

/** The part of a Hono context that we use. */
export interface HonoContext {
  req: {
    raw: Request
    /** The path by which Hono chooses routes. */
    path: string
    routePath: string
    /** The parts of the body that Hono's own methods have read. Later reads use them. */
    bodyCache: object
    arrayBuffer(): Promise<ArrayBuffer>
  }
  /** What the runtime passed along with the request. */
  env: unknown
  get(name: 'auth'): Principal | null | undefined
  set(name: 'auth', principal: Principal | null): void
  /** The response, as far as it is known. */
  res: Response
  /** Whether `res` is the final response. */
  finalized: boolean
  error: Error | undefined
  header(name: string, value: string, options?: { append: boolean }): void
}

/**
 * The request as plain data. Its path is the one that Hono routes by, without a prefix of a parent application.
 *
 * Throws when that path differs from the URL's (`getPath`), because the guard would judge another path than Hono serves.
 * Hono's reading of an undecodable path is unpredictable, so the guard opens none (see `guard/scope.ts`).
 */
export class HonoMessage implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly mount: string
  readonly native = null
  readonly context: HonoContext
  /** The request as the guard judged it. */
  readonly raw: Request
  /**
   * Node's object for the request; null elsewhere. Also null for a request that the application makes while it handles
   * another: it carries the other's object but has headers of its own.
   */
  readonly incoming: IncomingMessage | null
  /** Read at once on node, because each request asks for them some ten times. */
  private listed: RequestHeaders | null

  /** `layer` is the layer's own path in its application; null outside the layer. */
  constructor(context: HonoContext, layer: string | null) {
    const { req } = context
    const { raw, path: routed } = req
    this.context = context
    this.raw = raw
    const incoming = incomingOf(context.env)
    this.incoming = incoming !== null && isMadeOf(raw, incoming) ? incoming : null
    this.listed = this.incoming === null ? null : headersOf(this.incoming, raw)
    this.method = raw.method
    const { path, query } = targetAsRouted(raw.url, routed)
    this.query = query
    const depth = layer === null ? 0 : depthBelow(layer, req.routePath)
    this.path =
      depth > 0
        ? `/${path
            .split('/')
            .slice(depth + 1)
            .join('/')}`
        : path
    this.mount = depth > 0 ? mountPrefix(path, this.path) : ''
    // In this order, because `plain` costs an exception for each invalid escape, and a path can have thousands.
    if (routed !== path && isDecodable(this.path) && plain(routed) !== plain(path)) throw new TypeError(ownPath)
  }

  get headers(): RequestHeaders {
    return this.listed ?? this.list()
  }

  private list(): RequestHeaders {
    this.listed = Object.fromEntries(this.raw.headers)
    return this.listed
  }

  get rawHeaders(): readonly string[] | null {
    return this.incoming?.rawHeaders ?? null
  }

  get ip(): string | null {
    const socket = this.incoming?.socket
    return socket ? peerAddress(socket) : addressIn(this.context.env, this.raw)
  }

  get body(): RequestBody {
    return this.raw.bodyUsed ? keptBody(this.context.req) : bodyOf(this.raw)
  }
}

function headersOf(incoming: IncomingMessage, raw: Request): RequestHeaders {
  // An earlier middleware may have made headers of those that node ignores.
  return dropUnread(incoming) ? Object.fromEntries(raw.headers) : incoming.headers
}

/**
 * The number of segments before the layer's own path: the prefix under which a parent has mounted the application. Throws
 * when it is unknown, because a pattern may match several segments (`/:place{.+}`).
 */
function depthBelow(layer: string, routePath: string): number {
  if (routePath === layer) return 0
  const segments = routePath.split('/')
  if (routePath.includes('{') && !segments.every(staysOneSegment)) throw new TypeError(manySegments)
  return segments.length - layer.split('/').length
}

/** A parameter whose pattern is of letters, digits, `\d`, `\w`, `\.` and classes of letters and digits. */
const narrowPattern = /^:[^{}]+\{(?:[\w|+*?()-]|\\[dw.-]|\{[\d,]+\}|\[(?:\w-\w|\w|\\[dw])+-?\])+\}$/

function staysOneSegment(segment: string): boolean {
  return !/[{}]/.test(segment) || narrowPattern.test(segment)
}

const manySegments = 'Latchkey cannot guard a Hono application below a pattern that may take several segments of a path'

const ownPath = 'Latchkey cannot guard a Hono application that routes by another path than the address has (getPath)'

/** The path in one spelling: Hono decodes what it can, and without `strict` drops a slash at the end. */
function plain(path: string): string {
  const decoded = path.replace(/(?:%[\da-f]{2})+/gi, decode)
  let end = decoded.length
  // A regular expression would search for the end again from each of many slashes.
  while (decoded.charCodeAt(end - 1) === 47) end -= 1
  return decoded.slice(0, end)
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function decode(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes
  }
}

export function isHonoContext(given: unknown): given is HonoContext {
  if (!(given instanceof Object && 'req' in given && 'set' in given && given.req instanceof Object)) return false
  return 'raw' in given.req && given.req.raw instanceof Request
}

/** The body as an earlier middleware has read it and Hono has kept it. */
function keptBody(req: HonoContext['req']): RequestBody {
  if (Object.keys(req.bodyCache).length === 0) return bodyOf(req.raw)
  async function read(limitBytes: number): Promise<Uint8Array | null> {
    const bytes = new Uint8Array(await req.arrayBuffer())
    return bytes.length > limitBytes ? null : bytes
  }
  return { kind: 'stream', read: (limitBytes) => read(limitBytes).catch(() => null) }
}

/** A body that was read cannot be copied. Handlers get what Hono has kept of it. */
function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal })
}

/** Changes the request into the one that the application may see. Throws when a header cannot be written. */
export function present({ context, raw, incoming }: HonoMessage, pass: Pass): void {
  if (!writeInPlace(raw, pass, incoming)) {
    const prepared = prepare(raw.bodyUsed ? withoutBody(raw) : raw, pass)
    if (prepared === null) throw new TypeError('a header cannot be written')
    context.req.raw = prepared.request
  }
  context.set('auth', pass.principal)
}

/**
 * On node, the runtime reads headers from node's object until they were accessed through the request. After that, or when the
 * client sent spoofed ones, the request has to be copied, which costs more than everything else here.
 */
function writeInPlace(
  raw: Request,
  { spoofedHeaders, query, forwarded }: Pass,
  incoming: IncomingMessage | null,
): boolean {
  if (spoofedHeaders.length > 0 || query !== null) return false
  if (forwarded === null) return true
  if (incoming === null) return false
  writeHeaders(incoming.headers, forwarded)
  listHeaders(incoming.rawHeaders, forwarded)
  countAsRead(incoming)
  return askForHeader(raw, forwarded['x-request-id'])
}

/** @hono/node-server gives `{ incoming, outgoing }`. */
function incomingOf(env: unknown): IncomingMessage | null {
  const incoming = env instanceof Object && 'incoming' in env ? env.incoming : null
  return incoming instanceof IncomingMessage ? incoming : null
}

/**
 * The client's address as the runtime gives it. @hono/node-server passes node's object, over http2 too. Deno passes
 * `{ remoteAddr: { hostname } }`, Bun its server. Other runtimes only send it in headers.
 */
function addressIn(env: unknown, raw: Request): string | null {
  if (!(env instanceof Object)) return null
  if ('incoming' in env && hasSocket(env.incoming)) return peerAddress(env.incoming.socket)
  if ('requestIP' in env && typeof env.requestIP === 'function') return textIn(env.requestIP(raw), 'address')
  return 'remoteAddr' in env ? textIn(env.remoteAddr, 'hostname') : null
}

/** `Http2ServerRequest` is no `IncomingMessage`. */
function hasSocket(incoming: unknown): incoming is Pick<IncomingMessage, 'socket'> {
  return incoming instanceof Object && 'socket' in incoming && incoming.socket instanceof Object
}

function textIn(holder: unknown, name: string): string | null {
  const text = memberOf(holder, name)
  return typeof text === 'string' ? text : null
}

/**
 * Whether the application will read the headers that were written to node's `incoming`.
 *
 * @hono/node-server copies the headers when they are first read, so a header written after that is lost. Reading one header
 * tells which case it is.
 */
function askForHeader(raw: Request, requestId: string): boolean {
  const before = Object.getOwnPropertySymbols(raw)
  if (raw.headers.get('x-request-id') !== requestId) return false
  return Object.getOwnPropertySymbols(raw).filter((symbol) => !before.includes(symbol)).length === 1
}

/**
 * Whether @hono/node-server made the request of node's `incoming`. It did not make one that the application itself makes
 * while it handles another: that request is judged by its own headers.
 */
function isMadeOf(raw: Request, incoming: IncomingMessage): boolean {
  return Object.getOwnPropertySymbols(raw).some((key) => memberOf(raw, key) === incoming)
}
