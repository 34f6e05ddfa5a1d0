import { type HttpResponse, wholeBody } from '../http/message.js'
import type { Pass } from '../http/verdict.js'
import { withQuery } from '../lib/api-key-query.js'
import { failure } from './adapter.js'
import { variesBy } from './vary.js'

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
export function withAdded(response: Response, added: Headers | null): Response {
  if (added === null || response.status < 200) return response
  const headers = new Headers(response.headers)
  for (const [name, value] of added) {
    if (name !== 'vary') headers.set(name, value)
    else if (!variesBy(headers.get(name), value)) headers.append(name, value)
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
