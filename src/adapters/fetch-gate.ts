import type { Ask } from '../http/verdict.js'
import type { Principal } from '../model/principal.js'
import { failure } from './adapter.js'
import { createFetch, type FetchOptions } from './fetch.js'

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
