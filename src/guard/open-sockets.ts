import type { Watch } from '../http/verdict.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { Principal } from '../model/principal.js'
import type { ApiTokenGuard } from './api-token.js'
import type { Jwts } from './jwks.js'
import type { Revocations } from './revocations.js'

/** Connections that outlive the request they came by, such as WebSockets, each with the principal it was opened for. */
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
  /** Must have subscribed to the news before the sockets do. */
  apiTokens: Pick<ApiTokenGuard, 'isOver'>
  jwts: Pick<Jwts, 'isOver'>
  clock: Pick<SharedClock, 'now'>
  /** How long a session may last, however often it is refreshed. */
  sessionSeconds: number
  timer: (milliseconds: number, callback: () => void) => () => void
}

/** How often they are looked through for tokens that have expired and news that has grown too old. */
const checkEveryMs = 1_000

/**
 * Ends what was opened by a session that has ended or must have by now, by a user who was disabled, deleted or changed since, by an API token
 * that was removed, replaced or has expired, by another issuer's JWT that has expired or whose key set counts no more, and
 * everything while the news is too old to tell.
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

/** Whether that principal is over; a user's version counts from what it is now, since a token below it would not have passed. */
function endOf(options: OpenSocketsOptions, principal: Principal): () => boolean {
  const { revocations, apiTokens, jwts, clock, sessionSeconds } = options
  if (principal.kind === 'apiToken') return () => apiTokens.isOver(principal)
  if (principal.kind === 'jwt') return () => jwts.isOver(principal)
  // What an `authenticate` hook lets in has no end that we could know of.
  if (principal.kind === 'hook') return () => false
  const { userId, sessionId } = principal
  const version = revocations.deadBelow(userId)
  // A session that ends by itself is no news, and once its row is gone nobody can end it. By then it has ended in any case.
  const endsAt = clock.now() + sessionSeconds
  return () => revocations.isEnded(sessionId) || revocations.deadBelow(userId) > version || endsAt <= clock.now()
}
