import type { Decisions } from '../guard/decisions.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import type { Router } from '../http/router.js'
import { nowSeconds, realMonotonic, type World } from '../lib/runtime.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Observation, Telemetry } from '../telemetry/telemetry.js'
import type { Operations } from './operations.js'

/** Puts each request to the router in a span and times it. Routes are named as in the table, without what the client sent. */
export function measured(router: Router, telemetry: Telemetry, basePath: string): Router {
  return {
    ...router,
    answer(request, match) {
      const [route] = match.byMethod.values()
      const path = `${basePath}${route?.path ?? ''}`
      const attributes = { 'http.request.method': methodOf(request), 'http.route': path }
      telemetry.route(path)
      const startedMs = realMonotonic()
      return telemetry.span('latchkey.request', attributes, async (note): Promise<HttpResponse> => {
        const response = await router.answer(request, match)
        const status = { 'http.response.status_code': response.status }
        note(status)
        const seconds = (realMonotonic() - startedMs) / 1_000
        telemetry.measure('latchkey.request.duration', seconds, { ...attributes, ...status })
        return response
      })
    },
  }
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Unknown methods share one name, so that clients cannot create new series. */
function methodOf({ method }: HttpRequest): string {
  return methods.includes(method) ? method : '_OTHER'
}

interface Observed {
  telemetry: Telemetry
  decisions: Decisions
  operations: Pick<Operations, 'depth' | 'feedAgeMs'>
  passwords: Pick<Passwords, 'queued'>
  world: Pick<World, 'now'>
}

/** Metrics that are read only on collection, so they cost nothing in between. */
export function observe({ telemetry, decisions, operations, passwords, world }: Observed): void {
  telemetry.observe(async () => {
    const ageMs = operations.feedAgeMs()
    return [
      ...decided(decisions),
      { name: 'latchkey.hashing.queued', value: passwords.queued() },
      ...(ageMs === null ? [] : [{ name: 'latchkey.change_feed.age' as const, value: ageMs / 1_000 }]),
      ...(await waiting(operations, nowSeconds(world))),
    ]
  })
}

function decided({ passed, refused }: Decisions): Observation[] {
  const name = 'latchkey.guard.decisions'
  return [
    ...Object.entries(passed).map(
      ([kind, value]) => ({ name, value, attributes: { 'latchkey.principal.kind': kind } }) as const,
    ),
    ...Object.entries(refused).map(([code, value]) => ({ name, value, attributes: { 'error.type': code } }) as const),
  ]
}

/** Without values while the store does not answer. */
async function waiting({ depth }: Pick<Operations, 'depth'>, now: number): Promise<Observation[]> {
  const found = await depth().catch(() => null)
  if (!found) return []
  return [
    { name: 'latchkey.outbox.waiting', value: found.waiting },
    { name: 'latchkey.outbox.oldest_age', value: found.oldestAt === null ? 0 : Math.max(0, now - found.oldestAt) },
    { name: 'latchkey.outbox.set_aside', value: found.setAside },
  ]
}
