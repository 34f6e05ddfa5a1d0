/**
 * The session of the page for React 18 and 19, over `latchkey/client`.
 *
 * @example
 * import { createAuthClient } from 'latchkey/client'
 * import { LatchkeyProvider, SignedIn, SignedOut, useSession } from 'latchkey/react'
 *
 * const auth = createAuthClient()
 * const Hello = () => <p>Hello {useSession().user?.email}</p>
 *
 * export const App = () => (
 *   <LatchkeyProvider client={auth}>
 *     <SignedIn><Hello /></SignedIn>
 *     <SignedOut><a href="/auth/login">Sign in</a></SignedOut>
 *   </LatchkeyProvider>
 * )
 *
 * @module
 */
import {
  createContext,
  createElement,
  Fragment,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'
import type { AuthClient } from './client.js'
import type { SessionAnswer } from './model/session-answer.js'
import type { User } from './model/user.js'

export interface LatchkeyProviderProps {
  /** The client of the page: one for all components, made outside of them. */
  client: AuthClient
  /**
   * The session that your server rendered, null where the visitor is signed out. The page then shows it at the first
   * paint and asks for nothing. Without it the first component that uses the session has it loaded.
   */
  session?: SessionAnswer | null | undefined
  children?: ReactNode
}

/** What `useSession` returns. */
export type SessionView =
  | { status: 'loading'; user: null; session: null; client: AuthClient }
  | { status: 'signedOut'; user: null; session: null; client: AuthClient }
  | { status: 'signedIn'; user: User; session: SessionAnswer['session']; client: AuthClient }

type Session = ReturnType<AuthClient['session']['get']>

interface Provided {
  client: AuthClient
  subscribe(listener: () => void): () => void
  get(): Session
  rendered(): Session
}

const Context = createContext<Provided | null>(null)

/** Gives the session to all components below. */
export function LatchkeyProvider({ client, session, children }: LatchkeyProviderProps): ReactNode {
  const value = useMemo((): Provided => {
    const { subscribe, get } = client.session
    return {
      client,
      subscribe: (listener) => subscribe(listener, session),
      get() {
        const known = get()
        return known === undefined ? session : known
      },
      // A server renders for many visitors with one client, so it never asks the client.
      rendered: () => session,
    }
  }, [client, session])
  return createElement(Context.Provider, { value }, children)
}

/**
 * The session of the page. Any number of components share one request, and all of them follow sign-in and sign-out, also
 * in other tabs.
 *
 * @throws {Error} outside a `LatchkeyProvider`
 * @example const { status, user, client } = useSession()
 */
export function useSession(): SessionView {
  const provided = useContext(Context)
  if (provided === null) throw new Error('useSession needs a LatchkeyProvider above it.')
  const { client } = provided
  const known = useSyncExternalStore(provided.subscribe, provided.get, provided.rendered)
  if (known) return { status: 'signedIn', ...known, client }
  return { status: known === null ? 'signedOut' : 'loading', user: null, session: null, client }
}

/** Renders its children while a user is signed in. */
export function SignedIn({ children }: { children?: ReactNode }): ReactNode {
  return createElement(Fragment, null, useSession().status === 'signedIn' ? children : null)
}

/** Renders its children once it is known that no user is signed in. */
export function SignedOut({ children }: { children?: ReactNode }): ReactNode {
  return createElement(Fragment, null, useSession().status === 'signedOut' ? children : null)
}

export interface ProtectProps {
  /** The user needs one of these roles. Default: any signed-in user. */
  roles?: readonly string[] | undefined
  /** Rendered for users without such a role, and for signed-out visitors. Default: nothing. */
  fallback?: ReactNode
  /** Rendered until the session is known. Default: nothing. */
  loading?: ReactNode
  children?: ReactNode
}

/**
 * Renders its children for signed-in users, and with `roles` for those who have one of them. It decides what is shown;
 * the data stays safe by the guard of the API.
 *
 * @example <Protect roles={['ADMIN']} fallback={<a href="/auth/login">Sign in</a>}><Reports /></Protect>
 */
export function Protect({ roles, fallback, loading, children }: ProtectProps): ReactNode {
  const { status, user } = useSession()
  const allowed = user !== null && (roles === undefined || roles.some((role) => user.roles.includes(role)))
  return createElement(Fragment, null, status === 'loading' ? loading : allowed ? children : fallback)
}
