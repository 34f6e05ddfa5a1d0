import type { SessionAnswer } from '../model/session-answer.js'
import { type Browser, sharedIn } from './browser.js'
import { errorOf, jsonOf, problemOf, rethrow } from './error.js'
import { createLoader, type Loader } from './loader.js'
import { createLock, type Renewing, renew, renewOnce } from './renew.js'
import { sendFresh } from './send.js'
import { createSessionState, sessionIn } from './session-state.js'
import { createBoard } from './tab-messages.js'

export interface AuthClientOptions {
  /** The URL of the API: an origin, with the path before `basePath` if there is one. Default: the page's own origin. */
  baseUrl?: string
  /** As in the server's settings. Default: `/auth`. */
  basePath?: string
  /** Default: `include`. */
  credentials?: 'include' | 'same-origin' | 'omit'
  /** Called when a session that this tab knew has ended, here or elsewhere. */
  onSignedOut?: () => void
}

/** What every call of a tab needs. */
export interface Calls extends Renewing, Loader {
  browser: Browser
  /** Without a slash at its end. */
  base(): string
  credentials: 'include' | 'same-origin' | 'omit'
}

/** A route that hangs blocks the tabs no longer than this. */
const timeoutMs = 15_000

export function createCalls(browser: Browser, options: AuthClientOptions): Calls {
  const { basePath = '/auth', credentials = 'include', onSignedOut } = options
  const base = () => (options.baseUrl ?? browser.location?.origin ?? '').replace(/\/$/, '')
  const name = `latchkey:${base()}${basePath}`

  const state = createSessionState(onSignedOut)
  const shared = sharedIn(browser)
  const board = createBoard(browser, shared, name, ({ kind }, late) => {
    if (kind === 'out') state.set(null)
    else if (late || kind === 'in' || kind === 'changed') loader.reload()
  })
  const withLock = createLock(browser.navigator?.locks, shared, name, board.settled)

  function ask(method: string, path: string, body?: unknown): Promise<Response> {
    const json = body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    // Not every browser has it. Without it, a server that hangs is waited for.
    const signal = AbortSignal.timeout?.(timeoutMs)
    return browser.fetch(`${base()}${basePath}${path}`, { method, credentials, signal, ...json })
  }

  const renewing = { state, board, withLock, ask }
  const loader = createLoader(renewing)
  return { ...renewing, ...loader, browser, base, credentials }
}

/** `fetch` of the API, with our cookies. */
export async function fetchApi(calls: Calls, input: string | URL | Request, init: RequestInit): Promise<Response> {
  const { browser, base, credentials, state } = calls
  const isRequest = input instanceof Request
  const isRooted = typeof input === 'string' && /^\/(?!\/)/.test(input)
  const url = new URL(isRequest ? input.url : isRooted ? base() + input : input, `${base()}/`)
  // Other origins do not accept our cookies, and their 401 says nothing about our session.
  if (url.origin !== new URL(base()).origin) return browser.fetch(isRequest ? input : url, init)

  const send = () => browser.fetch(isRequest ? input.clone() : url, { credentials, ...init })
  // A stream cannot be sent twice.
  if (init.body instanceof ReadableStream) return send()
  const answer = await sendFresh({ send, renew: (sentAt) => renewOnce(calls, sentAt), session: state.get })
  // The session ended elsewhere, and no refresh has shown it. Ask our own route before believing this answer.
  if (state.get() && answer.status === 401 && (await problemOf(answer)).code === 'token_revoked') {
    await calls.load().catch(() => {})
  }
  return answer
}

/**
 * Calls a route of Latchkey under the lock of all tabs' refreshes. Otherwise a refresh could overwrite the cookies of a
 * sign-in, or set cookies after a sign-out.
 */
export function call<T>(calls: Calls, path: string, body?: unknown, method = 'POST'): Promise<T> {
  const send = () => calls.ask(method, path, body)
  return calls
    .withLock(async () => {
      const answer = await sendFresh({ send, renew: (sentAt) => renew(calls, sentAt), session: calls.state.get })
      if (!answer.ok) throw await errorOf(answer)
      const result = await jsonOf<T>(answer)
      if (method !== 'GET')
        notifyTabs(calls, sessionIn(result), path === '/logout' || (method === 'DELETE' && path === '/me'))
      return result
    })
    .catch(rethrow)
}

function notifyTabs({ state, board, reload }: Calls, session: SessionAnswer | null, ended: boolean): void {
  const known = state.get()
  if (session || ended) state.set(session)
  else if (known) reload()
  else return
  board.publish({ kind: ended ? 'out' : !session || known?.session.id === session.session.id ? 'changed' : 'in' })
}
