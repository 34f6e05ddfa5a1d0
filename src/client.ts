/**
 * The client for browsers: calls the application's API with the session's cookies, refreshes once for all tabs, and
 * knows who is signed in. No token ever passes through it.
 *
 * @example
 * import { createAuthClient } from 'latchkey/client'
 *
 * const auth = createAuthClient({ onSignedOut: () => location.assign('/') })
 * await auth.signIn({ email, password })
 * const notes = await auth.fetch('/api/notes').then((answer) => answer.json())
 *
 * @module
 */
import type { Credentials, MailedProof, NewAccount, SignInAnswer, SignUpAnswer } from './client/answers.js'
import type { Browser } from './client/browser.js'
import { type AuthClientOptions, call, createCalls, fetchApi } from './client/calls.js'
import type { SessionAnswer } from './model/session-answer.js'

export type {
  Credentials,
  MailedProof,
  NewAccount,
  SignInAnswer,
  SignUpAnswer,
  TwoFactorRequired,
} from './client/answers.js'
export type { AuthClientOptions } from './client/calls.js'
export { AuthClientError } from './client/error.js'
export type { SessionAnswer } from './model/session-answer.js'
export type { User, UserFields } from './model/user.js'

/** All calls but `fetch` reject with an `AuthClientError`. */
export interface AuthClient {
  /**
   * Like the global `fetch`, with cookies; a path begins at `baseUrl`. A 401 `unauthenticated` or `token_expired` has the
   * session refreshed, once for all tabs, and the request sent again (a stream cannot be); if the refresh cannot be done
   * now, its 429 or 503 is the answer. Other origins than the API's are left alone.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  session: SessionStore
  signUp(account: NewAccount): Promise<SignUpAnswer>
  /** By the link or the code of the mail that `signUp` caused, in the browser that registered; else with the password. */
  verifyEmail(proof: MailedProof & { password?: string }): Promise<SignInAnswer>
  signIn(credentials: Credentials): Promise<SignInAnswer>
  /** The second step, with a code of the authenticator or a backup code. */
  verifyTwoFactor(step: { code: string }): Promise<SessionAnswer>
  /** Mails a code and a link that sign in, in this browser. */
  requestCode(account: { email: string }): Promise<{ status: 'code_sent' }>
  verifyCode(proof: MailedProof): Promise<SignInAnswer>
  /** Ends the session, in all tabs. */
  signOut(): Promise<void>

  /** Any other route, by its path below `basePath`. What it changes in the session shows in all tabs. */
  post<T = unknown>(path: string, body?: unknown): Promise<T>
  patch<T = unknown>(path: string, body?: unknown): Promise<T>
  delete<T = unknown>(path: string, body?: unknown): Promise<T>
}

/** Who is signed in; made for `useSyncExternalStore(session.subscribe, session.get)`. */
export interface SessionStore {
  /** null: nobody. undefined: not known yet. The same object until something in it changes. */
  get(): SessionAnswer | null | undefined
  /** Called after each change, here or in another tab; the first subscriber has it loaded. Returns how to leave. */
  subscribe(listener: () => void): () => void
  /** Asks the server. */
  load(): Promise<SessionAnswer | null>
  /** Fresh tokens, and with them what has changed since: roles, address, name. */
  refresh(): Promise<SessionAnswer | null>
}

/** One a page is enough. Does nothing until it is used, so it may also be made where pages are rendered on a server. */
export function createAuthClient(options: AuthClientOptions = {}): AuthClient {
  return authClientIn(globalThis, options)
}

/** @internal */
export function authClientIn(browser: Browser, options: AuthClientOptions): AuthClient {
  const calls = createCalls(browser, options)
  const { state, load, refresh } = calls
  return {
    fetch: (input, init = {}) => fetchApi(calls, input, init),
    session: {
      get: state.get,
      subscribe(listener) {
        const leave = state.subscribe(listener)
        if (state.get() === undefined) load().catch(() => {})
        return leave
      },
      load,
      refresh,
    },
    signUp: (account) => call(calls, '/register', account),
    verifyEmail: (proof) => call(calls, '/verify-email', proof),
    signIn: (credentials) => call(calls, '/login', credentials),
    verifyTwoFactor: (step) => call(calls, '/login/two-factor', step),
    requestCode: (account) => call(calls, '/otp', account),
    verifyCode: (proof) => call(calls, '/otp/verify', proof),
    signOut: () => call(calls, '/logout'),
    post: (path, body) => call(calls, path, body),
    patch: (path, body) => call(calls, path, body, 'PATCH'),
    delete: (path, body) => call(calls, path, body, 'DELETE'),
  }
}
