import { AuthError } from '../../errors.js'
import { isUsable } from '../../model/factors/passkey.js'
import type { CreationOptions } from '../../model/factors/webauthn.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { isRecent, requireFresh } from '../account/require-password.js'
import { requireUsable } from '../session/require-usable.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { type ChallengePorts, issueChallenge, passkeyChallengeSeconds } from './challenge.js'
import { requirePasskeys } from './site.js'

export type StartPasskeyPorts = ChallengePorts &
  PasswordLimitPorts &
  Pick<Ports, 'passkeys' | 'sessions' | 'passwords' | 'audit' | 'policy'>

export interface StartPasskeyInput {
  /** null: the sign-in must be recent. */
  password: string | null
  /** The browser makes the passkey without a dialog, right after a sign-in by password. */
  upgrade: boolean
  visitor: Visitor
  device: string | null
}

/**
 * Options for a new passkey. They need the password or a recent sign-in, and a session that has passed the account's second factor: else a
 * thief of the password could add a passkey that passes it.
 *
 * @throws {AuthError} `passkeys_disabled`, `passkey_limit`, `email_not_verified`, `recent_login_required`, `invalid_credentials`, `rate_limited`,
 *   `token_revoked`, `busy`
 */
export async function startPasskey(
  ports: StartPasskeyPorts,
  principal: SessionPrincipal,
  input: StartPasskeyInput,
): Promise<CreationOptions> {
  const site = requirePasskeys(ports)
  const state = await readProfile(ports, principal)
  const { user, session } = state
  requireUsable(ports, user)
  requireSecondStep(ports, state)
  if (input.upgrade) requireUpgrade(ports, site, state)
  else await requireFresh(ports, state, { ...input, event: 'passkey_added' })

  const handle = await ports.passkeys.handleOf(user.id, ports.random.token())
  if (handle === null) throw new AuthError('token_revoked')
  const held = await ports.passkeys.list(user.id)
  if (held.length >= site.max) throw new AuthError('passkey_limit')
  const use = input.upgrade ? 'upgrade' : 'registration'
  const challenge = await issueChallenge(ports, { use, holder: session.id }, user.id)
  return ports.webauthn.creationOptions({
    site,
    user: { id: handle, name: user.email, displayName: user.name ?? user.email },
    challenge,
    seconds: passkeyChallengeSeconds,
    exclude: held.filter((passkey) => isUsable(passkey, site)),
    unasked: input.upgrade,
  })
}

function requireUpgrade(ports: Pick<Ports, 'clock'>, { upgrade }: PasskeyPolicy, { session }: SessionState): void {
  if (!upgrade) throw new AuthError('passkeys_disabled')
  // A sign-in that was proved anew by passkey is recent, but its password may be long ago.
  const byPassword = session.mode === 'cookie' && session.amr.includes('pwd') && !session.amr.includes('pop')
  if (!byPassword || !isRecent(ports, session)) throw new AuthError('recent_login_required')
}
