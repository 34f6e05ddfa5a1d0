import { type HttpRequest, type HttpResponse, type RequestBody, wholeBody } from '../../http/message.js'
import { isObject } from '../../lib/json-object.js'
import { memberOf } from '../../lib/members.js'
import type { ApiTokenPrincipal, JwtPrincipal, Principal } from '../../model/principal.js'
import { failure } from '../adapter.js'
import { mountPrefix } from '../request-target.js'

/** The common part of all hosts of a codehooks-js application. */
export interface CodehooksRequest {
  method: string
  headers: Record<string, string | string[] | undefined>
  /** The path without the space. Hosts before 1.1 spell it `apipath`. */
  apiPath?: string
  apipath?: string
  /** Path with the space, and query. */
  originalUrl: string
  url?: string
  /** The parts of the path that the route's pattern matched. */
  params?: Readonly<Record<string, unknown>>
  /** The query as crudlify reads it. */
  query?: unknown
  body?: unknown
  /** The body as text, if the host keeps it. */
  rawBody?: unknown
  auth?: Principal | null
}

export interface CodehooksResponse {
  status(code: number): unknown
  setHeader(name: string, value: string | string[]): unknown
  removeHeader(name: string): unknown
  write(data: Uint8Array, type: 'buffer'): unknown
  end(text?: string): unknown
}

/** Throws if the host does not give the path without the space, because we could not know what is guarded. */
export function readRequest(req: CodehooksRequest, res: CodehooksResponse | null): HttpRequest {
  const path = req.apiPath ?? req.apipath
  if (path === undefined) throw new TypeError('the host gives no apiPath')
  const [fullPath = '', ...query] = req.originalUrl.split('?')
  const { method, headers } = req
  const mount = mountPrefix(fullPath, path)
  const native = res && { request: req, response: res }
  const sent = { method, path, query: query.join('?'), mount, headers, rawHeaders: null, body: bodyOf(req) }
  return { ...sent, ip: addressByHost(headers), native, ...foundByHost(req) }
}

function bodyOf({ rawBody, body }: CodehooksRequest): RequestBody {
  if (typeof rawBody !== 'string' || rawBody === '') return { kind: 'parsed', value: body }
  const bytes = Buffer.from(rawBody)
  return { kind: 'stream', read: async (limitBytes) => (bytes.length > limitBytes ? null : bytes) }
}

/** Writes everything before the response ends, because the platform may stop us there. Never throws. */
export function answer(req: CodehooksRequest, res: CodehooksResponse, response: HttpResponse): void {
  try {
    write(req, res, response)
  } catch {
    if (response === failure) return
    for (const name of Object.keys(response.headers)) res.removeHeader(name)
    answer(req, res, failure)
  }
}

/** The platform keeps one value for each name, so several cookies are one call with a list. */
function write(req: CodehooksRequest, res: CodehooksResponse, { status, headers, ...sent }: HttpResponse): void {
  const body = wholeBody(sent.body)
  res.status(status)
  for (const [name, value] of Object.entries(headers)) {
    res.setHeader(name, typeof value === 'string' ? value : [...value])
  }
  if (body === null || req.method === 'HEAD') return void res.end()
  if (typeof body === 'string') return void res.end(body)
  res.write(body, 'buffer')
  res.end()
}

/** Where Latchkey's space host leaves the space on `globalThis`, and the principal on each request. */
const host = Symbol.for('latchkey.host')

/** The principal that the host's guard found; nothing elsewhere, and when the request has no API token or JWT of the space. */
function foundByHost(req: object): { hostPrincipal?: ApiTokenPrincipal | JwtPrincipal } {
  const found = memberOf(req, host)
  return isPrincipal(found) ? { hostPrincipal: found } : {}
}

/** The name of the space that this process runs; null elsewhere. */
export function hostSpace(): string | null {
  const space = memberOf(memberOf(globalThis, host), 'space')
  return typeof space === 'string' ? space : null
}

/** The client's address, which the host writes over whatever the client sent; null elsewhere, where any client could claim one. */
function addressByHost(headers: Readonly<Record<string, unknown>>): string | null {
  const address = headers['x-real-ip']
  return hostSpace() !== null && typeof address === 'string' ? address : null
}

function isPrincipal(value: unknown): value is ApiTokenPrincipal | JwtPrincipal {
  if (!isObject(value)) return false
  const { kind, tokenId, name, access, subject, issuer, claims } = value
  if (kind === 'jwt') return typeof subject === 'string' && typeof issuer === 'string' && isObject(claims)
  const isToken = kind === 'apiToken' && typeof tokenId === 'string' && typeof name === 'string'
  return isToken && (access === 'READ' || access === 'READWRITE')
}

export function isCodehooksRequest(request: unknown): request is CodehooksRequest {
  if (typeof request !== 'object' || request === null || !('headers' in request)) return false
  return 'originalUrl' in request && ('apiPath' in request || 'apipath' in request)
}

export function isCodehooksResponse(response: unknown): response is CodehooksResponse {
  return typeof response === 'object' && response !== null && 'status' in response && 'setHeader' in response
}
