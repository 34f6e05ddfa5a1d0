import type { ServerResponse } from 'node:http'
import type { HttpRequest, RequestHeaders } from '../../../http/message.js'
import { takeApiKey } from '../../../lib/api-key-query.js'
import { NodeMessage } from '../message.js'
import { dropUnread } from '../unread-headers.js'
import type { Judged, JudgedRequest } from './judged.js'
import { pathBelow } from './outdated.js'

/**
 * The request with its current path and method, and with the headers that the client sent. Since then we have written some
 * headers, and the application may have written credentials.
 */
export function messageAsArrived(judged: Judged, req: JudgedRequest, res: ServerResponse): HttpRequest {
  // The framework has prepared the request by now.
  const now = new NodeMessage(req, res, () => {})
  dropUnread(req)
  const rawHeaders = rawHeadersOf(judged) ?? req.rawHeaders
  return Object.create(now, {
    // Empty: the host makes the path ambiguous, so no path can be judged.
    path: { value: now.path === '' ? '' : pathBelow(judged, req) },
    query: { value: queryOf(now, judged.arrived) },
    mount: { value: judged.arrived.mount },
    headers: { value: rawHeaders.length === 0 ? req.headers : headersOf(rawHeaders) },
    rawHeaders: { value: rawHeaders },
  })
}

/** The raw headers as the outermost guard got them, which was the first to remove some. */
function rawHeadersOf(judged: Judged): readonly string[] | null {
  return (judged.outer && rawHeadersOf(judged.outer)) ?? judged.rawHeaders
}

/** An API token in the URL counts, even if it was removed on a public route. */
function queryOf(now: HttpRequest, arrived: HttpRequest): string {
  const key = takeApiKey(now.query) === null ? takeApiKey(arrived.query) : null
  if (key === null) return now.query
  const pairs = key.values.map((value) => (value === null ? 'apikey[]' : `apikey=${encodeURIComponent(value)}`))
  return [now.query, ...pairs].filter((pair) => pair !== '').join('&')
}

/** Joins repeated headers as node does (RFC 9110 §5.3, RFC 9113 §8.2.3). Repeated credentials never count. */
function headersOf(rawHeaders: readonly string[]): RequestHeaders {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? ';' : ','} ${value}`
  }
  return headers
}
