import { AuthError } from '../../errors.js'
import { deviceLabel } from '../../lib/device-label.js'
import type { PasskeyRecord } from '../../model/factors/passkey.js'
import { passkeyProvider } from '../../model/factors/passkey-providers.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { provesFactor } from '../../model/second-factor.js'
import type { Visitor } from '../../model/visitor.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import type { CreationOptions, CreationResponse, NewCredential } from '../../tokens/webauthn/webauthn.js'
import { readProfile } from '../account/profile.js'
import { isRecent, requireFresh } from '../account/require-password.js'
import { asksSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { type ChallengePorts, claimChallenge, claimIfOf, issueChallenge, passkeyChallengeSeconds } from './challenge.js'
import { isUsable, requirePasskeys } from './site.js'

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
 * @throws {AuthError} `passkeys_disabled`, `passkey_limit`, `recent_login_required`, `invalid_credentials`, `rate_limited`,
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
  if (asksSecondStep(ports, user) && !provesFactor(session.amr)) throw new AuthError('recent_login_required')
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
  const byPassword = session.mode === 'cookie' && session.amr.includes('pwd')
  if (!byPassword || !isRecent(ports, session)) throw new AuthError('recent_login_required')
}

export type AddPasskeyPorts = ChallengePorts & Pick<Ports, 'passkeys' | 'sessions' | 'mails' | 'policy'>

export interface AddPasskeyInput {
  response: CreationResponse
  /** null: that of the provider, or of the device. */
  name: string | null
  visitor: Visitor
}

/**
 * Adds a passkey to the account of the signed-in user, by the options that this session asked for. The user is mailed about it.
 *
 * @throws {AuthError} `passkeys_disabled`, `invalid_token` (the challenge), `invalid_passkey`, `passkey_taken`, `passkey_limit`,
 *   `token_revoked`
 */
export async function addPasskey(
  ports: AddPasskeyPorts,
  principal: SessionPrincipal,
  input: AddPasskeyInput,
): Promise<PasskeyRecord> {
  const site = requirePasskeys(ports)
  const { user, session } = await readProfile(ports, principal)
  const credential = await readNew(ports, site, { sessionId: session.id, response: input.response })
  const handle = credential && (await ports.passkeys.handleOf(user.id, ports.random.token()))
  if (!credential) throw new AuthError('invalid_passkey')
  if (!handle) throw new AuthError('token_revoked')

  const passkey = toRecord(ports, { ...input, userId: user.id, rpId: site.rpId, handle }, credential)
  const facts = { userId: user.id, sessionId: session.id, detail: { synced: passkey.synced } }
  const values = { name: passkey.name }
  const added = await ports.passkeys.add(
    { passkey, fromSessionId: session.id, max: site.max },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'passkey_added', input.visitor, facts),
      ...notice(ports, 'passkey-added', { user, userAgent: input.visitor.userAgent, values }),
    },
  )
  if (added === 'taken') throw new AuthError('passkey_taken')
  if (added === 'limit') throw new AuthError('passkey_limit')
  if (added === null) throw new AuthError('token_revoked')
  return passkey
}

/** Without a dialog, the authenticator asks nothing of the user. */
async function readNew(
  ports: ChallengePorts,
  site: PasskeyPolicy,
  { sessionId: holder, response }: { sessionId: string; response: CreationResponse },
): Promise<NewCredential | null> {
  const { clientData } = response
  const unasked = await claimIfOf(ports, { use: 'upgrade', holder }, clientData)
  const challenge = unasked ?? (await claimChallenge(ports, { use: 'registration', holder }, clientData))
  const demands = { present: unasked === null, verified: unasked === null }
  return ports.webauthn.readCreation(response, { site, challenge, demands })
}

function toRecord(
  ports: Pick<Ports, 'clock' | 'random'>,
  of: AddPasskeyInput & { userId: string; rpId: string; handle: string },
  credential: NewCredential,
): PasskeyRecord {
  const { response, visitor, userId, rpId, handle: userHandle } = of
  return {
    ...credential,
    id: ports.random.id(),
    userId,
    rpId,
    transports: response.transports,
    name: of.name ?? passkeyProvider(credential.aaguid) ?? deviceLabel(visitor.userAgent),
    userHandle,
    suspendedAt: null,
    createdAt: ports.clock.now(),
    lastUsedAt: null,
  }
}
