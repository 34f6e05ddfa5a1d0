import { type HttpRequest, type HttpResponse, type RequestBody, wholeBody } from '../http/message.js'
import type { Ask, Handle, Pass } from '../http/verdict.js'
import { withQuery } from '../lib/api-key-query.js'
import type { Principal } from '../model/principal.js'
import { decide, failure } from './adapter.js'
import { targetOf } from './request-target.js'
import { variesBy } from './vary.js'

export interface FetchOptions {
  /** The address of the client's end of the socket. Without it there is no limit per IP. */
  ip?: string
  /** The application. Its errors go to the caller. */
  next?: (request: Request, principal: Principal | null) => Response | Promise<Response>
}

/** For any Fetch-API runtime: one function from `Request` to `Response`. Without `next`, `notFound` answers what passes. */
export function createFetch(
  handle: Handle,
  notFound: (request: HttpRequest) => HttpResponse,
): (request: Request, options?: FetchOptions) => Promise<Response> {
  return async (request, { ip, next } = {}) => {
    const message = readRequest(request, ip ?? null)
    const verdict = await decide(handle, message, null)
    if (verdict.kind === 'answer') return toResponse(request.method, verdict.response)
    if (!next) return toResponse(request.method, notFound(message))
    const prepared = prepare(request, verdict)
    if (prepared === null) return toResponse(request.method, failure)
    return withAdded(await next(prepared.request, verdict.principal), prepared.added)
  }
}

/**
 * The request as plain data. `ip` is the address of the client's end of the socket.
 *
 * Path and query are cut out of the URL text, because routers of the Fetch world parse it in more than one way.
 */
export function readRequest(request: Request, ip: string | null): HttpRequest {
  return {
    method: request.method,
    ...targetOf(request.url),
    mount: '',
    headers: Object.fromEntries(request.headers),
    rawHeaders: null,
    ip,
    body: bodyOf(request),
    native: null,
  }
}

export function bodyOf(request: Request): RequestBody {
  if (request.bodyUsed) return { kind: 'parsed', value: undefined }
  return { kind: 'stream', read: (limitBytes) => readBody(request, limitBytes).catch(() => null) }
}

/** Leaves the rest of a body over the limit unread. Cancelling it would end the connection before the response, on node. */
async function readBody(request: Request, limitBytes: number): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array()
  if (Number(request.headers.get('content-length')) > limitBytes) return null
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value)
    size += part.value.length
    if (size > limitBytes) return null
  }
  return Buffer.concat(chunks, size)
}

/** Middleware for one route of the Fetch world: answers the request itself, or passes it to `next` with its principal. */
export type FetchGate = (
  request: Request,
  next: (request: Request, principal: Principal | null) => Response | Promise<Response>,
  options?: Pick<FetchOptions, 'ip'>,
) => Promise<Response>

export function createFetchGate(ask: Ask): FetchGate {
  const gate = createFetch(
    (message) => ask(message, null),
    () => failure,
  )
  return (request, next, options) => gate(request, { ...options, next })
}

/** Converts our response; an invalid one becomes a 500. Several cookies stay several headers. */
export function toResponse(method: string, response: HttpResponse): Response {
  try {
    return build(method, response)
  } catch {
    return build(method, failure)
  }
}

function build(method: string, { status, headers, ...response }: HttpResponse): Response {
  const body = wholeBody(response.body)
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  const empty = body === null || method === 'HEAD' || status === 204 || status === 304
  // Checked here, because a runtime's own Response may check headers only when it is sent.
  return new Response(empty ? null : Buffer.from(body), { status, headers: new Headers(list) })
}

/** The request for `next` and the headers to add to its response; null when a header is invalid. */
export function prepare(request: Request, pass: Pass): { request: Request; added: Headers | null } | null {
  try {
    const added = pass.responseHeaders === null ? null : new Headers(pass.responseHeaders)
    return { request: withHeaders(request, pass), added }
  } catch {
    return null
  }
}

/** The request as the application may see it; the same object when nothing changes. */
function withHeaders(request: Request, { spoofedHeaders, query, forwarded }: Pass): Request {
  if (forwarded === null && spoofedHeaders.length === 0 && query === null) return request
  const headers = new Headers(request.headers)
  for (const name of spoofedHeaders) headers.delete(name)
  for (const [name, value] of Object.entries(forwarded ?? {})) if (value !== null) headers.set(name, value)
  if (query === null) return new Request(request, { headers })
  return new Request(new Request(withQuery(request.url, query), request), { headers })
}

/** Copies, since the headers of a redirect or of a fetched response cannot be changed; 101 cannot be copied. */
function withAdded(response: Response, added: Headers | null): Response {
  if (added === null || response.status < 200) return response
  const headers = new Headers(response.headers)
  for (const [name, value] of added) {
    if (name !== 'vary') headers.set(name, value)
    else if (!variesBy(headers.get(name), value)) headers.append(name, value)
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
