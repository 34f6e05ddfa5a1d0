import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { type StartedOAuth, type StartOAuthPorts, startOAuth } from './start.js'

export type StartLinkPorts = StartOAuthPorts &
  PasswordLimitPorts &
  Pick<Ports, 'sessions' | 'passwords' | 'audit' | 'random'>

/** A change of a user's linked providers, with the proof that the user wants it. */
export interface IdentityRequest {
  provider: string
  /** null if none was given. Then a recent sign-in suffices. */
  password: string | null
  visitor: Visitor
  device: string | null
}

/**
 * Sends a signed-in user to a provider, to add it to the account. Only this browser can finish, and only while this user is
 * signed in with this session.
 *
 * @throws {AuthError} `not_found`, `recent_login_required`, `invalid_credentials`, `rate_limited`, `token_revoked`, `busy`,
 *   `forbidden` for an app without cookies, which has no browser to come back to
 */
export async function startLink(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: IdentityRequest & { returnTo: string | null; handle: string | null },
): Promise<StartedOAuth> {
  const link = await requireLinking(ports, principal, input)
  return startOAuth(ports, { provider: input.provider, returnTo: input.returnTo, handle: input.handle, link })
}

/** Checks what must hold before a browser goes to a provider to link it. @throws as `startLink` */
export async function requireLinking(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: IdentityRequest,
): Promise<{ userId: string; sessionId: string }> {
  if (!ports.providers.find(input.provider)) throw new AuthError('not_found')
  const state = await readProfile(ports, principal)
  if (state.session.mode !== 'cookie') throw new AuthError('forbidden')
  await requireFresh(ports, state, { ...input, event: 'identity_linked' })
  return { userId: state.user.id, sessionId: state.session.id }
}
