import type { HttpRequest, HttpResponse, RequestBody } from '../http/message.js'
import type { Handle } from '../http/verdict.js'
import type { Principal } from '../model/principal.js'
import { decide, failure } from './adapter.js'
import { prepare, toResponse, withAdded } from './fetch-message.js'
import { targetOf } from './request-target.js'

export interface FetchOptions {
  /** Address of the client's end of the socket; without it there is no limit per IP. */
  ip?: string
  /** The application. What it throws is the caller's. */
  next?: (request: Request, principal: Principal | null) => Response | Promise<Response>
}

/** Any Fetch-API runtime: one function from `Request` to `Response`. `notFound` answers what passes when there is no `next`. */
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
 * The request as plain data, `ip` being the address of the client's end of the socket.
 *
 * Path and query are cut out of the URL as it stands, since routers of the Fetch world read it in more than one way.
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

/** What is too large is left lying, not cancelled: on node that would end the connection before it is answered. */
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
