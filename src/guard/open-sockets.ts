import type { Watch } from '../http/verdict.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { ImpersonatingActor, Principal, SessionPrincipal } from '../model/principal.js'
import type { ApiTokenGuard } from './api-token.js'
import type { Jwts } from './jwks.js'
import type { Revocations } from './revocations.js'

/** Connections that outlive their request, such as WebSockets, each with its principal. */
export interface OpenSockets {
  watch: Watch
  close(): void
}

interface OpenSocket {
  close(): void
  isOver(): boolean
}

export interface OpenSocketsOptions {
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow' | 'isFresh' | 'subscribe'>
  /** Must subscribe to the change feed before the sockets do. */
  apiTokens: Pick<ApiTokenGuard, 'isOver'>
  jwts: Pick<Jwts, 'isOver'>
  clock: Pick<SharedClock, 'now'>
  /** How long a session may last, however often it is refreshed. */
  sessionSeconds: number
  timer: (milliseconds: number, callback: () => void) => () => void
}

/** How often all connections are checked for expired tokens and stale revocation data. */
const checkEveryMs = 1_000

/**
 * Closes a connection when its principal loses access: the session has ended, the user was disabled, deleted or changed, the
 * API token was removed, replaced or has expired, or the other issuer's JWT has expired or lost its key set. Closes all
 * connections when revocation data is stale.
 */
export function createOpenSockets(options: OpenSocketsOptions): OpenSockets {
  const { revocations, timer } = options
  const open = new Set<OpenSocket>()
  let stopTimer: (() => void) | null = null

  function check(): void {
    const isFresh = revocations.isFresh()
    for (const socket of open) if (!isFresh || socket.isOver()) end(socket)
  }

  function end(socket: OpenSocket): void {
    open.delete(socket)
    socket.close()
  }

  function tick(): void {
    check()
    stopTimer = open.size > 0 ? timer(checkEveryMs, tick) : null
  }

  revocations.subscribe(() => {
    if (open.size > 0) check()
  })
  return {
    watch(principal, close) {
      const socket = { close, isOver: endOf(options, principal) }
      open.add(socket)
      stopTimer ??= timer(checkEveryMs, tick)
      return () => void open.delete(socket)
    },
    close() {
      stopTimer?.()
      for (const socket of open) end(socket)
    },
  }
}

/** Whether the principal has lost access. A user's version counts from now on: an older token would not have passed. */
function endOf(options: OpenSocketsOptions, principal: Principal): () => boolean {
  const { revocations, apiTokens, jwts, clock, sessionSeconds } = options
  if (principal.kind === 'apiToken') return () => apiTokens.isOver(principal)
  if (principal.kind === 'jwt') return () => jwts.isOver(principal)
  // We cannot know when a principal of an `authenticate` hook loses access.
  if (principal.kind === 'hook') return () => false
  const { userId, sessionId, actor } = principal
  if (actor !== null) return endOfActing(options, principal, actor)
  const version = revocations.deadBelow(userId)
  // A session that expires is not announced, so its longest lifetime is counted here.
  const endsAt = clock.now() + sessionSeconds
  return () => revocations.isEnded(sessionId) || revocations.deadBelow(userId) > version || endsAt <= clock.now()
}

/** An impersonation is over with the session of either person, with a change of either account, and after its lifetime. */
function endOfActing(
  { revocations, clock }: OpenSocketsOptions,
  { userId, sessionId }: SessionPrincipal,
  actor: ImpersonatingActor,
): () => boolean {
  const versions = [userId, actor.userId].map((id) => [id, revocations.deadBelow(id)] as const)
  return () =>
    actor.endsAt <= clock.now() ||
    revocations.isEnded(sessionId) ||
    revocations.isEnded(actor.sessionId) ||
    versions.some(([id, version]) => revocations.deadBelow(id) > version)
}
