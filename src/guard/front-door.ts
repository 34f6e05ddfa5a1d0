import { corsHeaders, preflight } from '../http/cors.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import type { OriginCheck } from '../http/origin-check.js'
import { transportHeaders, withHeaders } from '../http/problem.js'
import type { RouteMatch } from '../http/route-table.js'
import type { Router } from '../http/router.js'
import { type Answer, type Handle, untouched } from '../http/verdict.js'
import type { Settings } from '../settings.js'
import type { Guard } from './guard.js'
import type { Revocations } from './revocations.js'
import type { ScopeOf } from './scope.js'

export interface Behind {
  scopeOf: ScopeOf
  router: Router
  guard: Guard
  origins: Pick<OriginCheck, 'noteRefused'>
  revocations: Pick<Revocations, 'isFresh' | 'catchUp'>
}

/**
 * Sends a request to the auth routes, to the guard, or untouched to the application. Answers preflights.
 *
 * Routes wait for fresh revocation data too, and without it the router refuses every change: a process that slept, or whose
 * clock jumped, must not sign tokens by a wrong clock.
 */
export function createFrontDoor(settings: Settings, behind: Behind, requestId: () => string): Handle {
  const { router, guard, origins, scopeOf } = behind
  const transport = transportHeaders(settings)
  const ownPaths = `${settings.basePath}/`

  return (request) => {
    const match = router.find(request)
    const scope = match ? null : scopeOf(request.path)
    if (scope === 'outside') {
      if (!request.path.startsWith(ownPaths)) return untouched
      return router.missing(request).then((response) => ({
        kind: 'answer',
        response: withHeaders(response, transport),
      }))
    }
    const early = preflight(request, settings)
    if (early) {
      if (early.headers['access-control-allow-origin'] === undefined) origins.noteRefused(request)
      return { kind: 'answer', response: withHeaders(early, { ...transport, 'x-request-id': requestId() }) }
    }
    if (!match) return scope === 'public' ? guard.open(request) : guard.protect(request)
    const added = { ...transport, ...corsHeaders(request, settings) }
    return answer(behind, { request, match, added })
  }
}

/** A request to one of our routes. `added` are the headers of all its responses. */
interface Asked {
  request: HttpRequest
  match: RouteMatch
  added: HttpResponse['headers']
}

async function answer({ router, revocations }: Behind, { request, match, added }: Asked): Promise<Answer> {
  if (!revocations.isFresh()) await revocations.catchUp()
  return { kind: 'answer', response: withHeaders(await router.answer(request, match), added) }
}
