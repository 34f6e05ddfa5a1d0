import type { Watch } from '../http/verdict.js'
import type { Principal } from '../model/principal.js'
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

/** How often they are looked through for news that has grown too old. */
const checkEveryMs = 1_000

/**
 * Ends what was opened by a session that has ended, by a user who was disabled, deleted or changed since, and everything
 * while the news is too old to tell.
 */
export function createOpenSockets({
  revocations,
  timer,
}: {
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow' | 'isFresh' | 'subscribe'>
  timer: (milliseconds: number, callback: () => void) => () => void
}): OpenSockets {
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
      const socket = { close, isOver: endOf(revocations, principal) }
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
function endOf(revocations: Pick<Revocations, 'isEnded' | 'deadBelow'>, principal: Principal): () => boolean {
  if (principal.kind !== 'session') return () => false
  const { userId, sessionId } = principal
  const version = revocations.deadBelow(userId)
  return () => revocations.isEnded(sessionId) || revocations.deadBelow(userId) > version
}
