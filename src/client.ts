/**
 * The client for browsers. It calls the application's API with the session's cookies, refreshes once for all tabs, and
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
export type { FieldError } from './errors.js'
export type { ActorEntry, SessionAnswer } from './model/session-answer.js'
export type { User, UserFields } from './model/user.js'

/** All calls except `fetch` reject with an `AuthClientError`. */
export interface AuthClient {
  /**
   * Like the global `fetch`, with cookies; a path begins at `baseUrl`. After a 401 `unauthenticated` or `token_expired`, it
   * refreshes the session, once for all tabs, and sends the request again (unless the body is a stream). If the refresh
   * fails for now, its 429 or 503 is the answer. Requests to other origins pass unchanged.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  session: SessionStore
  signUp(account: NewAccount): Promise<SignUpAnswer>
  /** Takes the link or the code of the mail that `signUp` sent. In another browser than that, it needs the password. */
  verifyEmail(proof: MailedProof & { password?: string }): Promise<SignInAnswer>
  signIn(credentials: Credentials): Promise<SignInAnswer>
  /** The second step, with a code of the authenticator or a backup code. */
  verifyTwoFactor(step: { code: string }): Promise<SessionAnswer>
  /** Mails a code and a link that sign in, in this browser. */
  requestCode(account: { email: string }): Promise<{ status: 'code_sent' }>
  verifyCode(proof: MailedProof): Promise<SignInAnswer>
  /** Ends the session in all tabs. */
  signOut(): Promise<void>

  /** Any other route, by its path below `basePath`. Every tab shows what it changes in the session. */
  get<T = unknown>(path: string): Promise<T>
  post<T = unknown>(path: string, body?: unknown): Promise<T>
  patch<T = unknown>(path: string, body?: unknown): Promise<T>
  delete<T = unknown>(path: string, body?: unknown): Promise<T>
}

/** The signed-in user; made for `useSyncExternalStore(session.subscribe, session.get)`. */
export interface SessionStore {
  /** null: signed out. undefined: not known yet. The same object until something in it changes. */
  get(): SessionAnswer | null | undefined
  /**
   * Calls back after each change, here or in another tab. The first subscriber loads the session, unless it passes the
   * `rendered` one of your server. Returns a function that unsubscribes.
   */
  subscribe(listener: () => void, rendered?: SessionAnswer | null): () => void
  /** Asks the server. */
  load(): Promise<SessionAnswer | null>
  /** Gets fresh tokens, and with them later changes of roles, address and name. */
  refresh(): Promise<SessionAnswer | null>
}

/** One a page is enough. It does nothing until it is used, so you may also create it where a server renders pages. */
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
      subscribe(listener, rendered) {
        if (state.get() === undefined) {
          if (rendered === undefined) load().catch(() => {})
          else state.set(rendered)
        }
        return state.subscribe(listener)
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
    get: (path) => call(calls, path, undefined, 'GET'),
    post: (path, body) => call(calls, path, body),
    patch: (path, body) => call(calls, path, body, 'PATCH'),
    delete: (path, body) => call(calls, path, body, 'DELETE'),
  }
}
