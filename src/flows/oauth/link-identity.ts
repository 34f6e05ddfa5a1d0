import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { identityNotice } from './identity-notice.js'
import type { OAuthState } from './state.js'

export type LinkIdentityPorts = Pick<
  Ports,
  'users' | 'sessions' | 'identities' | 'providers' | 'mails' | 'random' | 'clock' | 'policy'
>

/** The user and the session that asked for the link. */
export type LinkOwner = NonNullable<OAuthState['link']>

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
