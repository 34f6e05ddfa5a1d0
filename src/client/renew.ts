import { now } from './browser.js'
import { jsonOf, problemOf, retryAfterOf } from './error.js'
import type { WithLock } from './lock.js'
import { type SessionState, sessionIn } from './session-state.js'
import type { Board, TabMessage } from './tab-messages.js'

/** What a refresh needs. */
export interface Renewing {
  state: SessionState
  board: Board
  withLock: WithLock
  /** Asks a route of Latchkey, by its path below `basePath`. */
  ask(method: string, path: string, body?: unknown): Promise<Response>
}

export interface Renewal {
  message: TabMessage
  /** This call has asked the server; else another tab, or another call of this one, had done so already. */
  own: boolean
}

/** `/refresh` says with these that there is nothing left to refresh; nothing else signs anybody out. */
const ended = ['unauthenticated', 'token_revoked', 'session_expired']

/** For so long after the end of a session nobody asks again; a page of strangers would otherwise with every call. */
const quietMs = 10_000

/** After a failed refresh that does not say how long to wait. */
const patienceSeconds = 1

/**
 * One refresh for all tabs: whoever comes first does it, the others take what came of it.
 *
 * @param sentAt when the request went out that was refused, Unix milliseconds: only what happened since then counts
 */
export function renewOnce(renewing: Renewing, sentAt: number): Promise<Renewal> {
  return new Promise((resolve) => {
    let done: Renewal | null = null
    let ours = false
    // News of another tab come before its turn is over.
    void renewing.board.next().then(() => {
      if (ours) return
      done = known(renewing, sentAt)
      if (done) resolve(done)
    })
    void renewing.withLock(async () => {
      ours = true
      resolve(done ?? (await renew(renewing, sentAt)))
    })
  })
}

/** The same in a turn of this tab. */
export async function renew(renewing: Renewing, sentAt: number): Promise<Renewal> {
  return known(renewing, sentAt) ?? { message: renewing.board.publish(await refresh(renewing)), own: true }
}

function known({ board }: Renewing, sentAt: number): Renewal | null {
  const message = board.latest()
  if (!message) return null
  const counts =
    message.kind === 'wait'
      ? now() < (message.until ?? 0)
      : sentAt < message.at + (message.kind === 'out' ? quietMs : 0)
  return counts ? { message, own: false } : null
}

async function refresh({ ask, state }: Renewing): Promise<Omit<TabMessage, 'at'>> {
  try {
    const answer = await ask('POST', '/refresh')
    if (answer.ok) {
      state.set(sessionIn(await jsonOf(answer)))
      return { kind: 'fresh' }
    }
    const { code } = await problemOf(answer)
    if (answer.status === 401 && code && ended.includes(code)) {
      state.set(null)
      return { kind: 'out' }
    }
    return wait(answer.status, retryAfterOf(answer), code)
  } catch {
    return wait(0, null)
  }
}

function wait(status: number, retryAfter: number | null, code?: string): Omit<TabMessage, 'at'> {
  const until = now() + (retryAfter ?? patienceSeconds) * 1000
  return { kind: 'wait', until, status, ...(code && { code }) }
}
