import { AuthError } from '../../errors.js'
import { hasFactor } from '../../model/factors/kinds.js'
import { isUsable, type PasskeyProof } from '../../model/factors/passkey.js'
import type { RequestOptions, SignedResponse } from '../../model/factors/webauthn.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import {
  type ChallengeOf,
  type ChallengePorts,
  claimChallenge,
  issueChallenge,
  passkeyChallengeSeconds,
  requirePasskeys,
} from '../passkeys/challenge.js'
import { judgeCounter, type VerifyPasskeyPorts, verifyPasskey } from '../passkeys/verify.js'
import { findChallenge } from '../session/two-factor-challenge.js'
import { hasPasskeyHere } from '../steps/usable-factors.js'

export type PasskeyStepPorts = ChallengePorts & VerifyPasskeyPorts & Pick<Ports, 'policy'>

/** A request for a passkey of a user who is already known, after the first step of a sign-in or in a session. */
export interface KnownUse {
  /** What the challenge is for, and which first step or session may answer it. */
  of: ChallengeOf
  /** Whether the authenticator must check a PIN, a finger or a face. */
  verified: boolean
}

/**
 * Options for the second step of a sign-in, for the passkeys of its account. The first step was right, so they may be named.
 *
 * @throws {AuthError} `passkeys_disabled`, `invalid_token` (the challenge of the first step), `not_found` without a passkey
 */
export async function startPasskeyStep(
  ports: PasskeyStepPorts & Pick<Ports, 'users'>,
  challenge: string | null,
): Promise<RequestOptions> {
  requirePasskeys(ports)
  const found = await findChallenge(ports, challenge)
  if (!found || challenge === null) throw new AuthError('invalid_token')
  return passkeyOptions(ports, found.user, secondStepOf(challenge))
}

/** What the account of a first step may answer the second one with. */
export interface StepWays {
  code: boolean
  passkey: boolean
}

/** For the page of the second step. A challenge that has ended is answered with a code, which then says so. */
export async function waysOfStep(
  ports: Pick<Ports, 'oneTimeTokens' | 'users' | 'keyring' | 'clock' | 'policy'>,
  challenge: string | null,
): Promise<StepWays> {
  const found = ports.policy.passkeys === null ? null : await findChallenge(ports, challenge)
  if (found === null) return { code: true, passkey: false }
  return { code: hasFactor(found.user), passkey: hasPasskeyHere(ports, found.user) }
}

/** A security key that only asks to be touched suffices: the first step has proved something else. */
export function secondStepOf(challenge: string): KnownUse {
  return { of: { use: 'second_step', holder: challenge }, verified: false }
}

/** Options that name the user's passkeys. @throws {AuthError} `passkeys_disabled`, `not_found` without a passkey */
export async function passkeyOptions(
  ports: PasskeyStepPorts,
  user: UserRecord,
  { of, verified }: KnownUse,
): Promise<RequestOptions> {
  const site = requirePasskeys(ports)
  const allow = (await ports.passkeys.list(user.id)).filter((passkey) => isUsable(passkey, site))
  if (allow.length === 0) throw new AuthError('not_found')
  const challenge = await issueChallenge(ports, of, user.id)
  const userVerification = verified ? 'required' : 'preferred'
  return ports.webauthn.requestOptions({ site, challenge, seconds: passkeyChallengeSeconds, allow, userVerification })
}

/**
 * What a response proves for that user.
 *
 * @throws {AuthError} `passkeys_disabled`, `invalid_token` (the challenge of the passkey), `invalid_passkey`
 */
export async function provePasskey(
  ports: PasskeyStepPorts,
  { user, response, visitor }: { user: UserRecord; response: SignedResponse; visitor: Visitor },
  { of, verified }: KnownUse,
): Promise<PasskeyProof> {
  const site = requirePasskeys(ports)
  const clientData = await claimChallenge(ports, of, response.clientData)
  const found = await verifyPasskey(ports, response, { site, clientData, verified, userId: user.id })
  return judgeCounter(ports, found, visitor)
}
