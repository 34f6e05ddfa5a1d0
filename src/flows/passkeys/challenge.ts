import { AuthError } from '../../errors.js'
import { isUsable } from '../../model/factors/passkey.js'
import type { ClientData, CreationOptions } from '../../model/factors/webauthn.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { isRecent, requireFresh } from '../account/require-password.js'
import { requireUsable } from '../session/require-usable.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'

export type ChallengePorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'random' | 'webauthn'>

/** How long a ceremony may take. */
export const passkeyChallengeSeconds = 5 * 60

/** Tabs of one browser, or of one session, that may have one under way. */
const challengesAtOnce = 5

/** What a challenge may be answered for, and by what: the browser's handle, a session, or the first step of a sign-in. */
export interface ChallengeOf {
  use: 'login' | 'second_step' | 'registration' | 'upgrade' | 'reauthentication'
  holder: string
}

/**
 * A fresh challenge for one use by one holder. The row's id is a digest of all three, so it is used up without a read.
 *
 * @param userId null while the user is not known
 */
export async function issueChallenge(
  ports: ChallengePorts,
  { use, holder }: ChallengeOf,
  userId: string | null,
): Promise<string> {
  const challenge = ports.random.token()
  const now = ports.clock.now()
  const id = ports.keyring.digest(digested, textOf({ use, holder }, challenge))
  const token: OneTimeToken = {
    id,
    purpose: 'passkey_challenge',
    subject: ports.keyring.digest('passkey-holder', `${use}.${holder}`),
    userId,
    email: '',
    tokenHash: id,
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + passkeyChallengeSeconds,
  }
  await ports.oneTimeTokens.put(token, null, { keep: challengesAtOnce, now })
  return challenge
}

/**
 * Uses up the challenge that the response names, and returns what the browser says that it did. Of concurrent calls exactly one gets it.
 *
 * @throws {AuthError} `invalid_token` when it is unknown, used, expired, for another use or of another holder
 */
export async function claimChallenge(ports: ChallengePorts, of: ChallengeOf, encoded: string): Promise<ClientData> {
  return (await claimOneOf(ports, [of], encoded)).clientData
}

/**
 * The same for a challenge that may have been issued for one of several uses.
 *
 * @throws {AuthError} `invalid_token`
 */
export async function claimOneOf<Of extends ChallengeOf>(
  ports: ChallengePorts,
  choices: readonly Of[],
  encoded: string,
): Promise<{ of: Of; clientData: ClientData }> {
  const clientData = ports.webauthn.readClientData(encoded)
  if (clientData === null) throw challengeRefused()
  for (const of of choices) if (await isClaimed(ports, of, clientData)) return { of, clientData }
  throw challengeRefused()
}

/** Unknown, used, expired and foreign look alike. */
function challengeRefused(): AuthError {
  return new AuthError('invalid_token', {
    detail: 'This passkey request is not valid. It may have been answered, or may have expired. Start again.',
  })
}

async function isClaimed(ports: ChallengePorts, of: ChallengeOf, { challenge }: ClientData): Promise<boolean> {
  for (const id of ports.keyring.digests(digested, textOf(of, challenge))) {
    if (await ports.oneTimeTokens.claim(id, 'passkey_challenge', 'passkey_claimed', ports.clock.now())) return true
  }
  return false
}

const digested = 'passkey-challenge'

function textOf({ use, holder }: ChallengeOf, challenge: string): string {
  return JSON.stringify([use, holder, challenge])
}

/** @throws {AuthError} `passkeys_disabled` */
export function requirePasskeys({ policy }: Pick<Ports, 'policy'>): PasskeyPolicy {
  if (policy.passkeys === null) throw new AuthError('passkeys_disabled')
  return policy.passkeys
}

type StartPasskeyPorts = ChallengePorts &
  PasswordLimitPorts &
  Pick<Ports, 'passkeys' | 'sessions' | 'passwords' | 'audit' | 'policy'>

interface StartPasskeyInput {
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
