import { AuthError } from '../../errors.js'
import { rolesOf } from '../../model/admin-role.js'
import { hasFactor } from '../../model/factors/kinds.js'
import { factorMethods, provesFactor } from '../../model/second-factor.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import type { IssuedSession } from '../steps/issue-tokens.js'
import { factorsHere } from '../steps/usable-factors.js'
import { type OpenSessionPorts, openSession, type SignIn } from './open-session.js'
import { askSecondStep } from './two-factor-challenge.js'

export type SignInPorts = OpenSessionPorts & Pick<Ports, 'oneTimeTokens'>

/** The result of a sign-in: a session, or one step before it. */
export type SignInResult =
  | { kind: 'session'; issued: IssuedSession }
  | {
      kind: 'challenge'
      /** Valid only for the second step. */
      challenge: string
      /** The methods of that step. */
      methods: readonly string[]
    }

/**
 * The end of every sign-in to an existing account, after the first factor is proved: a session, or a challenge for the second
 * factor if one is on, whatever the first factor was (ASVS 5.0, 6.3.4).
 *
 * @throws {AuthError} as `openSession`
 */
export async function signIn(ports: SignInPorts, input: SignIn): Promise<SignInResult> {
  if (!asksSecondStep(ports, input.user)) return { kind: 'session', issued: await openSession(ports, input) }
  const methods = methodsOf(ports, input.user)
  return { kind: 'challenge', challenge: await askSecondStep(ports, input), methods }
}

/**
 * Whether a sign-in that is not by passkey asks for a second step: the account has two-factor authentication on, or must prove a second
 * factor and has a passkey for that.
 */
export function asksSecondStep(ports: Pick<Ports, 'policy'>, user: UserRecord): boolean {
  if (hasFactor(user)) return true
  const { policy } = ports
  return methodsOf(ports, user).length > 0 && policy.requiresFactor(rolesOf(user, policy.adminEmails))
}

/**
 * Requires a session that has passed the second step, where a sign-in today would ask for one: the password alone must not change what the
 * second step takes.
 *
 * @throws {AuthError} `recent_login_required`
 */
export function requireSecondStep(ports: Pick<Ports, 'policy'>, { user, session }: SessionState): void {
  if (asksSecondStep(ports, user) && !provesFactor(session.amr)) throw new AuthError('recent_login_required')
}

/** What the second step accepts here. Passkeys stay on the account while they are off, and after a change of the RP id. */
function methodsOf(ports: Pick<Ports, 'policy'>, user: UserRecord): string[] {
  return factorMethods({ factors: factorsHere(ports, user) })
}
