import { AuthError, storeUnavailable } from '../errors.js'
import type { Guard } from '../guard/guard.js'
import { preflight } from '../http/cors.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import { problem, transportHeaders, withHeaders } from '../http/problem.js'
import { refusalUnread } from '../http/refusal.js'
import { type Answer, type Ask, type Handle, untouched, type Verdict, type Watch } from '../http/verdict.js'
import { createClientIp } from '../lib/client-ip.js'
import { createRequestIds } from '../lib/request-id.js'
import { realMonotonic } from '../lib/runtime.js'
import type { Requirement } from '../settings/requirement.js'
import type { Settings } from '../settings.js'
import type { Early } from './early.js'
import type { Home } from './home.js'
import type { Live } from './open.js'

/** The store and everything on it. It opens late and, after a failure, again. */
export interface Opening {
  /** Begins to open, unless that was tried before or `hold` was called. */
  start(): void
  /** From now on the store opens only when it is needed. False: it has begun to open already, or is closed. */
  hold(): boolean
  live(): Live | null
  /** @throws the fault of the store or the keys */
  ready(): Promise<Live>
  close(): Promise<void>
}

/** Requests try again to open a store that could not be opened, at most this often. */
const reopenAfterMs = 1_000

/** @param home null: an application */
export function createOpening(early: Early, home: Home | null = null): Opening {
  let live: Live | null = null
  let pending: Promise<Live> | null = null
  let failure: { error: unknown; atMs: number } | null = null
  let closing: Promise<void> | null = null
  let held = false

  async function tryOpen(): Promise<Live> {
    try {
      early.announceMailbox()
      // Everything behind the front door, and the store's driver, load while the application continues its start.
      const { open } = await import('./open.js')
      live = await open(early, home)
      return live
    } catch (error) {
      failure = { error, atMs: realMonotonic() }
      pending = null
      early.settings.logger.error(openingFault(error), 'Latchkey cannot open its store; requests get 503.')
      throw error
    }
  }

  function ready(): Promise<Live> {
    if (closing) return Promise.reject(new AuthError('store_unavailable', { detail: 'Latchkey is closed.' }))
    if (live) return Promise.resolve(live)
    if (!pending && failure && realMonotonic() - failure.atMs < reopenAfterMs) return Promise.reject(failure.error)
    pending ??= tryOpen()
    return pending
  }

  async function closeAll(): Promise<void> {
    const opened = live ?? (await pending?.catch(() => null)) ?? null
    live = null
    await opened?.close()
  }

  return {
    start() {
      if (!held && !live && !pending && !failure) ready().catch(() => {})
    },
    hold() {
      if (live !== null || pending !== null || closing !== null) return false
      held = true
      return true
    },
    live: () => live,
    ready,
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** The message is our own when a store cannot open. It names the folder or the key and holds no secret. */
function openingFault(error: unknown): Record<string, unknown> {
  return { event: 'store_unavailable', error: error instanceof Error ? error.message : String(error) }
}

/** What adapters mount at once. Requests wait until the store is open; once it is, calls stay synchronous. */
interface WhenOpen {
  handle: Handle
  watch: Watch
  /** The question of a single route, such as `auth.require` asks it. */
  ask(requirement: Requirement): Ask
}

export function createWhenOpen(opening: Opening, withoutStore: WithoutStore): WhenOpen {
  return {
    handle(request) {
      const live = opening.live()
      if (live) return live.handle(request)
      opening.start()
      return withoutStore.judge(request) ?? handleLate(opening, withoutStore, request)
    },
    watch(principal, close) {
      const live = opening.live()
      if (live) return live.watch(principal, close)
      close()
      return () => {}
    },
    ask(requirement) {
      return (request, found) => {
        const live = opening.live()
        if (live) return live.guard.require(request, requirement, found)
        return requireLate(opening, withoutStore, (late) => late.guard.require(request, requirement, found))
      }
    },
  }
}

async function handleLate(opening: Opening, { refuse }: WithoutStore, request: HttpRequest): Promise<Verdict> {
  const live = await opening.ready().catch(() => null)
  return live === null ? refuse(request) : live.handle(request)
}

async function requireLate(
  opening: Opening,
  withoutStore: WithoutStore,
  judge: (live: Awaited<ReturnType<Opening['ready']>>) => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  const live = await opening.ready().catch(() => null)
  return live === null ? unavailable(withoutStore) : judge(live)
}

function unavailable({ problem }: WithoutStore): Verdict {
  return { kind: 'answer', response: problem(storeUnavailable()) }
}

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
