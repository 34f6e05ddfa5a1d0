import type { HttpRequest } from '../http/message.js'
import type { NativeExchange, Visitor } from '../model/visitor.js'

/** The visitor as flows and hooks get it. The actor is set once a route has found the session. */
export function visitorOf(ipOf: (request: HttpRequest) => string | null): (request: HttpRequest) => Visitor {
  return (request) => {
    const { ip } = request
    return { ip: ipOf(request), userAgent: userAgentOf(request), actor: null, native: () => nativeOf(request, ip) }
  }
}

/**
 * Where the framework has no pair of request and response, hooks get what a request is made of, and nothing to answer with.
 * By then the client may have gone, and its address with it: `ip` is from before.
 */
function nativeOf({ native, method, path, query, headers }: HttpRequest, ip: string | null): NativeExchange {
  return native ?? { request: { method, path, query, headers: { ...headers }, ip }, response: {} }
}

function userAgentOf({ headers }: HttpRequest): string | null {
  const value = headers['user-agent']
  return typeof value === 'string' ? value.slice(0, 256) : null
}
