import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { identityNotice } from './identity-notice.js'
import { type StartedOAuth, type StartOAuthPorts, startOAuth } from './start.js'

export type LinkPorts = Pick<
  Ports,
  'users' | 'sessions' | 'identities' | 'providers' | 'mails' | 'random' | 'clock' | 'policy'
>

export type StartLinkPorts = StartOAuthPorts &
  PasswordLimitPorts &
  Pick<Ports, 'sessions' | 'passwords' | 'audit' | 'random'>

/** Who asks, and what they prove themselves with. */
export interface Asking {
  provider: string
  /** null where none was given; then a sign-in that is young enough serves. */
  password: string | null
  visitor: Visitor
  device: string | null
}

/**
 * Sends whoever is signed in to a provider, to add a way into their account. It is finished only in this browser, and only
 * while it is signed in as this user in this session.
 *
 * @throws {AuthError} `not_found`, `recent_login_required`, `invalid_credentials`, `rate_limited`, `token_revoked`, `busy`,
 *   `forbidden` for an app without cookies, which has no browser to come back to
 */
export async function startLink(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: Asking & { returnTo: string | null; handle: string | null },
): Promise<StartedOAuth> {
  const link = await requireLinking(ports, principal, input)
  return startOAuth(ports, { provider: input.provider, returnTo: input.returnTo, handle: input.handle, link })
}

/** What must be so before a browser goes to link: whose account, and for which session. @throws as `startLink` */
export async function requireLinking(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: Asking,
): Promise<{ userId: string; sessionId: string }> {
  if (!ports.providers.find(input.provider)) throw new AuthError('not_found')
  const state = await readProfile(ports, principal)
  if (state.session.mode !== 'cookie') throw new AuthError('forbidden')
  await requireFresh(ports, state, { ...input, event: 'identity_linked' })
  return { userId: state.user.id, sessionId: state.session.id }
}

/**
 * Adds who came back from the provider to the account of the session that asked.
 *
 * `identity_taken` when it is another user's, or the user has another one of that provider; `session_ended` when the session
 * that asked has.
 */
export async function linkIdentity(
  ports: LinkPorts,
  input: {
    provider: string
    account: ProviderAccount
    by: { userId: string; sessionId: string }
    visitor: Visitor
  },
): Promise<'linked' | 'identity_taken' | 'session_ended'> {
  const { provider, visitor } = input
  const { userId, sessionId } = input.by
  const user = await ports.users.findById(userId)
  if (!user) return 'session_ended'
  const identity = { provider, subject: input.account.id, userId, linkedAt: ports.clock.now() }
  const facts = { userId, sessionId, detail: { provider } }
  const linked = await ports.identities.link(
    { identity, by: { sessionId } },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'identity_linked', visitor, facts),
      ...identityNotice(ports, { user, provider, visitor, change: 'linked' }),
    },
  )
  if (linked === 'taken') return 'identity_taken'
  return linked ? 'linked' : 'session_ended'
}

/**
 * Takes a way into the account away, never the last one. Sessions go on; the user sees them and may end them.
 *
 * @throws {AuthError} `not_found`, `last_credential`, `recent_login_required`, `invalid_credentials`, `rate_limited`,
 *   `token_revoked`, `busy`
 */
export async function unlinkIdentity(
  ports: LinkPorts & PasswordLimitPorts & Pick<Ports, 'passwords' | 'audit'>,
  principal: SessionPrincipal,
  input: Asking,
): Promise<void> {
  const { provider, visitor } = input
  const state = await readProfile(ports, principal)
  const { user, session } = state
  if (!user.identities.some((identity) => identity.provider === provider)) throw new AuthError('not_found')
  await requireFresh(ports, state, { ...input, event: 'identity_unlinked' })
  const facts = { userId: user.id, sessionId: session.id, detail: { provider } }
  const unlinked = await ports.identities.unlink(
    { userId: user.id, provider, fromSessionId: session.id },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'identity_unlinked', visitor, facts),
      ...identityNotice(ports, { user, provider, visitor, change: 'unlinked' }),
    },
  )
  if (unlinked === 'last') throw new AuthError('last_credential')
  if (unlinked) return
  await readProfile(ports, principal)
  throw new AuthError('not_found')
}
