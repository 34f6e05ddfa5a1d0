import { AuthError } from '../../errors.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { currentRpId } from '../steps/usable-factors.js'
import type { IdentityRequest } from './start.js'
import type { OAuthState } from './state.js'

export type LinkIdentityPorts = Pick<
  Ports,
  'users' | 'sessions' | 'identities' | 'providers' | 'mails' | 'random' | 'clock' | 'policy'
>

/** The user and the session that asked for the link. */
type LinkOwner = NonNullable<OAuthState['link']>

/**
 * Adds an identified account of a provider to the user that asked for it.
 *
 * `identity_taken` when it belongs to another user, or the user has another account of that provider; `oauth_state` when the
 * session that asked has ended.
 */
export async function linkIdentity(
  ports: LinkIdentityPorts,
  { userId, sessionId }: LinkOwner,
  { provider, account, visitor }: { provider: string; account: ProviderAccount; visitor: Visitor },
): Promise<'linked' | 'identity_taken' | 'oauth_state'> {
  const user = await ports.users.findById(userId)
  if (!user) return 'oauth_state'
  const identity = { provider, subject: account.id, userId, linkedAt: ports.clock.now() }
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
  return linked ? 'linked' : 'oauth_state'
}

/**
 * Whether the browser is signed in as exactly that user with that session. Otherwise an attacker could begin a link in their
 * own account and let another person's browser finish it, or the other way round (ATK-095; RFC 9700 §4.7.1).
 */
export function isBrowserOf(
  ports: Pick<Ports, 'tokens'>,
  { userId, sessionId }: LinkOwner,
  { accessToken, refreshToken }: { accessToken: string | null; refreshToken: string | null },
): boolean {
  const access = accessToken === null ? [] : [ports.tokens.checkAccess(accessToken)]
  const refresh = refreshToken === null ? [] : [ports.tokens.checkRefresh(refreshToken)]
  const held = [...access, ...refresh]
  return held.length > 0 && held.every((claims) => claims?.sub === userId && claims.sid === sessionId)
}

type UnlinkIdentityPorts = PasswordLimitPorts &
  Pick<
    Ports,
    'users' | 'sessions' | 'identities' | 'providers' | 'mails' | 'random' | 'clock' | 'policy' | 'passwords' | 'audit'
  >

/**
 * Removes a provider from an account, but never the last way to sign in. Sessions go on: the user sees them and may end them.
 *
 * @throws {AuthError} `not_found`, `last_credential`, `recent_login_required`, `invalid_credentials`, `rate_limited`,
 *   `token_revoked`, `busy`
 */
export async function unlinkIdentity(
  ports: UnlinkIdentityPorts,
  principal: SessionPrincipal,
  input: IdentityRequest,
): Promise<void> {
  const { provider, visitor } = input
  const state = await readProfile(ports, principal)
  const { user, session } = state
  if (!user.identities.some((identity) => identity.provider === provider)) throw new AuthError('not_found')
  await requireFresh(ports, state, { ...input, event: 'identity_unlinked' })
  const facts = { userId: user.id, sessionId: session.id, detail: { provider } }
  const unlinked = await ports.identities.unlink(
    { userId: user.id, provider, fromSessionId: session.id, rpId: currentRpId(ports) },
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

/** The notice to the user that a provider was linked or removed (ASVS 5.0, 6.3.7). */
export function identityNotice(
  ports: Pick<Ports, 'mails' | 'clock' | 'providers'>,
  {
    user,
    provider,
    visitor,
    change,
  }: { user: UserRecord; provider: string; visitor: Visitor; change: 'linked' | 'unlinked' },
): { mail?: OutboxMail } {
  const values = {
    // A provider that is no longer in the settings can still be removed.
    provider: ports.providers.find(provider)?.label ?? provider,
    linked: change === 'linked' ? 'yes' : '',
    unlinked: change === 'unlinked' ? 'yes' : '',
  }
  return notice(ports, 'identity-changed', { user, userAgent: visitor.userAgent, values })
}
