import { AuthError } from '../errors.js'
import type { Guard } from '../guard/guard.js'
import { createScope } from '../guard/scope.js'
import { preflight } from '../http/cors.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import { problem, transportHeaders, withHeaders } from '../http/problem.js'
import { refusalUnread } from '../http/refusal.js'
import { type Answer, untouched, type Verdict } from '../http/verdict.js'
import { createClientIp } from '../lib/client-ip.js'
import { createRequestIds } from '../lib/request-id.js'
import type { Settings } from '../settings.js'
import type { Early } from './early.js'

/** What becomes of requests while the store is not open. */
export interface WithoutStore {
  /** What is served whether or not there is a store; null for what has to wait for it. */
  judge(request: HttpRequest): Verdict | Promise<Verdict> | null
  /** For what has waited in vain. */
  refuse(request: HttpRequest): Promise<Answer>
}

export function createWithoutStore(early: Pick<Early, 'settings' | 'templates'>): WithoutStore {
  const { settings } = early
  const scopeOf = createScope(settings)
  const requestId = createRequestIds()
  const transport = transportHeaders(settings)
  const isOurs = ({ path }: HttpRequest) => path.startsWith(`${settings.basePath}/`)
  const answer = (response: HttpResponse): Answer => ({ kind: 'answer', response: withHeaders(response, transport) })
  let open: Promise<Guard['open']> | null = null

  /** As the guard does it later; what that takes is loaded when somebody comes that early. */
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
      const fault = new AuthError('store_unavailable', { retryAfterSeconds: 1 })
      if (!isOurs(request)) return answer(problem(fault, requestId()))
      // People on our pages are told so in a page.
      return answer(await refusalUnread(early, { request, fault, requestId: requestId() }))
    },
  }
}

async function loadOpen(settings: Settings, requestId: () => string): Promise<Guard['open']> {
  const { createOpen } = await import('../guard/guard.js')
  const clientIp = createClientIp(settings.trustedProxies)
  return createOpen({ settings, requestId, clientIp: ({ ip, headers }) => clientIp(ip, headers) })
}
