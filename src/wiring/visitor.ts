import type { HttpRequest } from '../http/message.js'
import type { NativeExchange, Visitor } from '../model/visitor.js'

/** Who asks, as flows and hooks are told. */
export function visitorOf(ipOf: (request: HttpRequest) => string | null): (request: HttpRequest) => Visitor {
  return (request) => ({ ip: ipOf(request), userAgent: userAgentOf(request), native: () => nativeOf(request) })
}

/** Where the framework has no pair of request and response, hooks get what a request is made of, and nothing to answer with. */
function nativeOf({ native, method, path, query, headers, ip }: HttpRequest): NativeExchange {
  return native ?? { request: { method, path, query, headers: { ...headers }, ip }, response: {} }
}

function userAgentOf({ headers }: HttpRequest): string | null {
  const value = headers['user-agent']
  return typeof value === 'string' ? value.slice(0, 256) : null
}
