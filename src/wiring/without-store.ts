import { type AuthError, storeUnavailable } from '../errors.js'
import type { Guard } from '../guard/guard.js'
import { preflight } from '../http/cors.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import { problem, transportHeaders, withHeaders } from '../http/problem.js'
import { refusalUnread } from '../http/refusal.js'
import { type Answer, untouched, type Verdict } from '../http/verdict.js'
import { createClientIp } from '../lib/client-ip.js'
import { createRequestIds } from '../lib/request-id.js'
import type { Settings } from '../settings.js'
import type { Early } from './early.js'

/** Serves requests while the store is not open. */
export interface WithoutStore {
  /** Decides requests that need no store; null when the request must wait for the store. */
  judge(request: HttpRequest): Verdict | Promise<Verdict> | null
  /** The 503 for a request that waited for a store that did not open. */
  refuse(request: HttpRequest): Promise<Answer>
  /** A problem response from outside the front door, with the headers of all our responses. */
  problem(fault: AuthError): HttpResponse
}

export function createWithoutStore(early: Pick<Early, 'settings' | 'scopeOf' | 'templates'>): WithoutStore {
  const { settings, scopeOf } = early
  const requestId = createRequestIds()
  const transport = transportHeaders(settings)
  const isOurs = ({ path }: HttpRequest) => path.startsWith(`${settings.basePath}/`)
  const answer = (response: HttpResponse): Answer => ({ kind: 'answer', response: withHeaders(response, transport) })
  let open: Promise<Guard['open']> | null = null

  /** As the guard will do it. Its code loads only when a request arrives this early. */
  async function openly(request: HttpRequest): Promise<Verdict> {
    const asked = preflight(request, settings)
    if (asked) return answer(withHeaders(asked, { 'x-request-id': requestId() }))
    open ??= loadOpen(settings, requestId).catch((error: unknown) => {
      open = null
      throw error
    })
    return (await open)(request)
  }

  return {
    judge(request) {
      const scope = isOurs(request) ? 'guarded' : scopeOf(request.path)
      if (scope === 'guarded') return null
      return scope === 'outside' ? untouched : openly(request)
    },
    async refuse(request) {
      const fault = storeUnavailable()
      if (!isOurs(request)) return answer(problem(fault, requestId()))
      // A visitor of our pages sees an error page.
      return answer(await refusalUnread(early, { request, fault, requestId: requestId() }))
    },
    problem: (fault) => problem(fault, requestId(), transport),
  }
}

async function loadOpen(settings: Settings, requestId: () => string): Promise<Guard['open']> {
  const { createOpen } = await import('../guard/guard.js')
  const clientIp = createClientIp(settings.trustedProxies)
  return createOpen({ settings, requestId, clientIp: ({ ip, headers }) => clientIp(ip, headers) })
}
