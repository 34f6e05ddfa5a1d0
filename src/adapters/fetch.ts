import type { HttpRequest, HttpResponse, RequestBody } from '../http/message.js'
import type { Handle } from '../http/verdict.js'
import type { Principal } from '../model/principal.js'
import { decide, failure } from './adapter.js'
import { prepare, toResponse, withAdded } from './fetch-message.js'
import { targetOf } from './request-target.js'

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
