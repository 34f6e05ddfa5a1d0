import { mark, now, type Shared, sleep, type TabLocks } from './browser.js'
import { jsonOf, problemOf } from './error.js'
import { type SessionState, sessionIn } from './session-state.js'
import type { Board, TabMessage } from './tab-messages.js'

/** The dependencies of a refresh. */
export interface Renewing {
  state: SessionState
  board: Board
  withLock: WithLock
  /** Calls a route of Latchkey by its path below `basePath`. */
  ask(method: string, path: string, body?: unknown): Promise<Response>
}

export interface Renewal {
  message: TabMessage
  /** True if this call has asked the server; false if another tab, or another call of this one, had done so already. */
  own: boolean
}

/** With these codes `/refresh` says that the session has ended. No other answer signs the user out. */
const ended = ['unauthenticated', 'token_revoked', 'session_expired']

/** After the end of a session, the tabs do not refresh for so long. A page of signed-out visitors would with every call. */
const quietMs = 10_000

/** The wait after a failed refresh whose answer does not say how long to wait. */
const patienceSeconds = 1

/**
 * Refreshes once for all tabs: the first call refreshes, and the others use its result.
 *
 * @param sentAt when the refused request was sent, Unix milliseconds; only later refreshes count
 */
export function renewOnce(renewing: Renewing, sentAt: number): Promise<Renewal> {
  return new Promise((resolve) => {
    let done: Renewal | null = null
    let ours = false
    // Messages of another tab arrive before it releases the lock.
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

/** The same, while this tab holds the lock. */
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
    const { code, retryAfter } = await problemOf(answer)
    if (answer.status === 401 && code && ended.includes(code)) {
      state.set(null)
      return { kind: 'out' }
    }
    return wait(answer.status, retryAfter, code)
  } catch {
    return wait(0)
  }
}

function wait(status: number, retryAfter?: number | null, code?: string): Omit<TabMessage, 'at'> {
  const until = now() + (retryAfter ?? patienceSeconds) * 1000
  return { kind: 'wait', until, status, ...(code && { code }) }
}

/** Runs a task while no other tab runs one. */
type WithLock = <T>(task: () => Promise<T>) => Promise<T>

/** A tab that was closed in the middle of its turn blocks the others no longer than this. */
const leaseMs = 20_000

/** Two tabs that take a free lease at once both write it; this much later all read the same winner. */
const electionMs = 50

/**
 * One turn after the other, over all tabs: by Web Locks; where there are none (Safari before 15.4, plain http), by a
 * lease in the storage, which is nearly as good. A turn too many does no harm, since the server takes refreshes that race.
 *
 * @param settled what to wait for after a task before the turn ends, though the task's result is handed on at once
 */
export function createLock(
  locks: TabLocks | undefined,
  shared: Shared,
  name: string,
  settled: () => Promise<void> | null,
): WithLock {
  return (task) =>
    new Promise((resolve, reject) => {
      const critical = async () => {
        await task().then(resolve, reject)
        await settled()
      }
      const byLease = () => withLease(shared, `${name}:turn`, critical)
      // Locks are refused to documents without an origin of their own.
      void (locks ? locks.request(name, critical).catch(byLease) : byLease())
    })
}

async function withLease(shared: Shared, key: string, critical: () => Promise<void>): Promise<void> {
  let lease = mark()
  while (shared.read(key) !== lease) {
    const left = Number(shared.read(key).split(' ')[1]) - now()
    // Longer than ours would be: the clock was set back.
    if (!(left > 0 && left <= leaseMs)) {
      lease = `${mark()} ${now() + leaseMs}`
      shared.write(key, lease)
    }
    await sleep(electionMs)
  }
  await critical()
  if (shared.read(key) === lease) shared.write(key, '')
}
