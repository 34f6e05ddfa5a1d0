import type { AccessFeed } from '../guard/access-settings.js'
import type { Decisions } from '../guard/decisions.js'
import type { Revocations } from '../guard/revocations.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import type { Router } from '../http/router.js'
import { memberOf } from '../lib/members.js'
import { nowSeconds, realMonotonic, type World } from '../lib/runtime.js'
import type { Migrations } from '../model/migrations.js'
import type { Passwords } from '../passwords/passwords.js'
import type { ScopedParts, Store } from '../store/store.js'
import { noTelemetry, type Observation, type Telemetry } from '../telemetry/telemetry.js'

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

/** What the operator of the application can ask of a running Latchkey. */
export interface Operations {
  /** How many mails wait, and since when (Unix seconds). This query also shows that the store answers. */
  depth: Store['outbox']['depth']
  /** Resolves when Redis answers; null without Redis. */
  pingRedis: (() => Promise<unknown>) | null
  /** Milliseconds since the start of the last good read of the change feed. */
  feedAgeMs(): number | null
  /** Whether guarded requests can be decided, after one more read if needed; half a second for each of the two at most. */
  isDecisive(): Promise<boolean>
  migrations(): Promise<Migrations>
}

export function operationsOf(
  store: Pick<Store, 'outbox' | 'migrations'>,
  revocations: Pick<Revocations, 'ageMs' | 'isFresh' | 'catchUp'>,
  accessFeed: Pick<AccessFeed, 'isCurrent' | 'catchUp'>,
  pingRedis: Operations['pingRedis'],
): Operations {
  return {
    depth: () => store.outbox.depth(),
    pingRedis,
    feedAgeMs: () => revocations.ageMs(),
    async isDecisive() {
      const fresh = revocations.isFresh() || (await revocations.catchUp())
      return fresh && (accessFeed.isCurrent() || (await accessFeed.catchUp()))
    },
    migrations: () => store.migrations(),
  }
}

/** The store, each of its steps in a span. */
export function tracedStore(store: Store, telemetry: Telemetry): Store {
  if (telemetry === noTelemetry) return store
  return {
    ...store,
    users: traced('users', store.users, telemetry),
    identities: traced('identities', store.identities, telemetry),
    passkeys: traced('passkeys', store.passkeys, telemetry),
    sessions: traced('sessions', store.sessions, telemetry),
    oneTimeTokens: traced('oneTimeTokens', store.oneTimeTokens, telemetry),
    secondFactors: traced('secondFactors', store.secondFactors, telemetry),
    devices: traced('devices', store.devices, telemetry),
    counters: traced('counters', store.counters, telemetry),
    outbox: traced('outbox', store.outbox, telemetry),
    audit: traced('audit', store.audit, telemetry),
    ...tracedParts(store, telemetry),
    at: (scope) => tracedParts(store.at(scope), telemetry),
  }
}

function tracedParts({ apiTokens, accessSettings }: ScopedParts, telemetry: Telemetry): ScopedParts {
  return {
    apiTokens: traced('apiTokens', apiTokens, telemetry),
    accessSettings: traced('accessSettings', accessSettings, telemetry),
  }
}

function traced<Noun extends object>(name: string, noun: Noun, telemetry: Telemetry): Noun {
  return new Proxy(noun, {
    get(target, verb) {
      const step = memberOf(target, verb)
      if (typeof step !== 'function') return step
      const attributes = { 'db.operation.name': `${name}.${String(verb)}` }
      return (...input: unknown[]) =>
        telemetry.span('latchkey.store', attributes, () => Reflect.apply(step, target, input))
    },
  })
}
