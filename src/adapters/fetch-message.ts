import type { HttpResponse } from '../http/message.js'
import type { Pass } from '../http/verdict.js'
import { withQuery } from '../lib/api-key-query.js'
import { failure } from './adapter.js'

/** An answer of ours; a broken one is a 500. Several cookies stay several headers. */
export function toResponse(method: string, response: HttpResponse): Response {
  try {
    return build(method, response)
  } catch {
    return build(method, failure)
  }
}

function build(method: string, { status, headers, body }: HttpResponse): Response {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  const empty = body === null || method === 'HEAD' || status === 204 || status === 304
  // Checked here and now: a runtime's own Response may look at them only when it is sent.
  return new Response(empty ? null : Buffer.from(body), { status, headers: new Headers(list) })
}

/** What `next` gets and what its answer gets; null when one of the headers cannot be. */
export function prepare(request: Request, pass: Pass): { request: Request; added: Headers | null } | null {
  try {
    const added = pass.responseHeaders === null ? null : new Headers(pass.responseHeaders)
    return { request: withHeaders(request, pass), added }
  } catch {
    return null
  }
}

/** The request as the application is to see it; the very same one when nothing changes. */
function withHeaders(request: Request, { spoofedHeaders, query, forwarded }: Pass): Request {
  if (forwarded === null && spoofedHeaders.length === 0 && query === null) return request
  const headers = new Headers(request.headers)
  for (const name of spoofedHeaders) headers.delete(name)
  for (const [name, value] of Object.entries(forwarded ?? {})) if (value !== null) headers.set(name, value)
  if (query === null) return new Request(request, { headers })
  return new Request(new Request(withQuery(request.url, query), request), { headers })
}

/** Copies, since the headers of a redirect or of a fetched response cannot be changed; 101 cannot be copied. */
export function withAdded(response: Response, added: Headers | null): Response {
  if (added === null || response.status < 200) return response
  const headers = new Headers(response.headers)
  for (const [name, value] of added) {
    if (name === 'vary') headers.append(name, value)
    else headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
