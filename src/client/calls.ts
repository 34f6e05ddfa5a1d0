import type { SessionAnswer } from '../model/session-answer.js'
import { type Browser, now, sharedIn } from './browser.js'
import { AuthClientError, errorOf, jsonOf, problemOf } from './error.js'
import { createBoard, type News } from './news.js'
import { type Renewing, renew, renewOnce } from './renew.js'
import { refusal, sendFresh } from './send.js'
import { createSessionState, type SessionState, sessionIn } from './session-state.js'
import { createTurns } from './turn.js'

export interface AuthClientOptions {
  /** Where the API is: an origin, with a path in front of `basePath` if it has one. Default: the page's own. */
  baseUrl?: string
  /** As in the server's settings. Default: `/auth`. */
  basePath?: string
  /** Default: `include`. */
  credentials?: 'include' | 'same-origin' | 'omit'
  /** Called when a session that this tab knew has ended, here or elsewhere. */
  onSignedOut?: () => void
}

/** All that goes out of a tab. */
export interface Calls {
  state: SessionState
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  load(): Promise<SessionAnswer | null>
  refresh(): Promise<SessionAnswer | null>
  call<T>(method: string, path: string, body?: unknown): Promise<T>
}

/** A route that hangs holds up every tab no longer than this. */
const timeoutMs = 15_000

export function createCalls(browser: Browser, options: AuthClientOptions): Calls {
  const { basePath = '/auth', credentials = 'include', onSignedOut } = options
  const base = () => (options.baseUrl ?? browser.location?.origin ?? '').replace(/\/$/, '')
  const name = `latchkey:${base()}${basePath}`

  const state = createSessionState(onSignedOut)
  const shared = sharedIn(browser)
  const board = createBoard(browser, shared, name, onNews)
  const takeTurn = createTurns(browser.navigator?.locks, shared, name, board.settled)
  const renewing: Renewing = { state, board, takeTurn, ask }
  const renewed = (sentAt: number) => renewOnce(renewing, sentAt)
  const user = () => state.get()?.user.id
  let loading: Promise<SessionAnswer | null> | null = null

  function onNews({ kind }: News, late: boolean): void {
    if (kind === 'out') state.set(null)
    else if (late || kind === 'in' || kind === 'changed') reload()
  }

  function ask(method: string, path: string, body?: unknown): Promise<Response> {
    const json = body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    // Not every browser has it; without it a server that hangs is waited for.
    const signal = AbortSignal.timeout?.(timeoutMs)
    return browser.fetch(`${base()}${basePath}${path}`, { method, credentials, signal, ...json })
  }

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const isRequest = typeof input === 'object' && 'url' in input
    const isRooted = typeof input === 'string' && /^\/(?!\/)/.test(input)
    const url = new URL(isRequest ? input.url : isRooted ? base() + input : input, `${base()}/`)
    // Our cookies mean nothing elsewhere, and a stranger's 401 nothing to us.
    if (url.origin !== new URL(base()).origin) return browser.fetch(isRequest ? input : url, init)

    const send = () => browser.fetch(isRequest ? input.clone() : url, { credentials, ...init })
    // A stream is gone once it was sent.
    if (init.body && typeof init.body === 'object' && 'getReader' in init.body) return send()
    const answer = await sendFresh({ send, renew: renewed, user })
    // Ended elsewhere, and no refresh has told us; our own route has the last word, not whoever answered here.
    if (state.get() && answer.status === 401 && (await problemOf(answer)).code === 'token_revoked')
      await load().catch(() => {})
    return answer
  }

  function load(anew = false): Promise<SessionAnswer | null> {
    if (loading && !anew) return loading
    const mine = loadNow()
      .catch(rethrow)
      .finally(() => {
        if (loading === mine) loading = null
      })
    loading = mine
    return mine
  }

  async function loadNow(): Promise<SessionAnswer | null> {
    let age = 0
    const send = () => {
      age = state.age()
      return ask('GET', '/me')
    }
    const answer = await sendFresh({ send, renew: renewed })
    if (!answer.ok && answer.status !== 401) throw await errorOf(answer)
    const told = answer.ok ? sessionIn(await jsonOf(answer)) : null
    if (age === state.age()) {
      if (!told && state.get()) board.publish({ kind: 'out' })
      state.set(told)
    }
    return state.get() ?? null
  }

  /** What is known, and what is being asked, is older than what has happened. */
  function reload(): void {
    state.outdate()
    if (state.isWatched()) load(true).catch(() => {})
  }

  async function refresh(): Promise<SessionAnswer | null> {
    const { news, own } = await renewed(now())
    if (news.kind === 'wait') throw await Promise.resolve(news).then(refusal).then(errorOf, rethrow)
    return news.kind === 'out' || own ? (state.get() ?? null) : load()
  }

  /** In turn with the refreshes of all tabs, whose cookies would overwrite those of a sign-in and outlive a sign-out. */
  function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return takeTurn(async () => {
      const renewHere = (sentAt: number) => renew(renewing, sentAt)
      const answer = await sendFresh({ send: () => ask(method, path, body), renew: renewHere, user })
      if (!answer.ok) throw await errorOf(answer)
      const result = await jsonOf<T>(answer)
      tell(sessionIn(result), path === '/logout' || (method === 'DELETE' && path === '/me'))
      return result
    }).catch(rethrow)
  }

  function tell(session: SessionAnswer | null, ended: boolean): void {
    const known = state.get()
    if (session || ended) state.set(session)
    else if (known) reload()
    else return
    board.publish({ kind: ended ? 'out' : !session || known?.session.id === session.session.id ? 'changed' : 'in' })
  }

  return { state, fetch, load, refresh, call }
}

/** What `fetch` throws says no more than that no answer came. */
function rethrow(cause: unknown): never {
  throw cause instanceof AuthClientError ? cause : new AuthClientError(0, {}, null, cause)
}
