import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { currentRpId } from '../steps/usable-factors.js'
import { identityNotice } from './identity-notice.js'
import type { IdentityRequest } from './start-link.js'

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
