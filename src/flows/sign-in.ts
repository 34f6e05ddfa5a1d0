import type { IssuedSession } from './issue-tokens.js'
import { type OpenSessionPorts, openSession, type SignIn } from './open-session.js'

/** How a way in ends: in a session, or one step before it. */
export type SignInResult =
  | { kind: 'session'; issued: IssuedSession }
  | {
      kind: 'challenge'
      /** Opens nothing but the second step. */
      challenge: string
      /** What that step takes. */
      methods: readonly string[]
    }

/**
 * What every way into an existing account ends with, once the first factor is proved: a session.
 *
 * @throws {AuthError} as `openSession`
 */
export async function signIn(ports: OpenSessionPorts, input: SignIn): Promise<SignInResult> {
  return { kind: 'session', issued: await openSession(ports, input) }
}
