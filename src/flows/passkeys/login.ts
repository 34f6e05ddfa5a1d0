import type { RequestOptions, SignedResponse } from '../../model/factors/webauthn.js'
import { withFactor } from '../../model/second-factor.js'
import type { SessionMode } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type OpenSessionPorts, openSession, refuseLogin } from '../session/open-session.js'
import { requireUsable } from '../session/require-usable.js'
import type { IssuedSession } from '../steps/issue-tokens.js'
import {
  type ChallengePorts,
  claimChallenge,
  issueChallenge,
  passkeyChallengeSeconds,
  requirePasskeys,
} from './challenge.js'
import { judgeCounter, type VerifiedPasskey, type VerifyPasskeyPorts, verifyPasskey } from './verify.js'

export type PasskeyLoginPorts = OpenSessionPorts & ChallengePorts & VerifyPasskeyPorts

export interface StartedPasskeyLogin {
  options: RequestOptions
  /** Unix seconds. */
  expiresAt: number
}

/**
 * Options for a sign-in. They ask for no address and name no passkey, so they tell nothing about accounts.
 *
 * @param handle what the asking browser keeps
 * @throws {AuthError} `passkeys_disabled`
 */
export async function startPasskeyLogin(
  ports: ChallengePorts & Pick<Ports, 'policy'>,
  handle: string,
): Promise<StartedPasskeyLogin> {
  const site = requirePasskeys(ports)
  const challenge = await issueChallenge(ports, { use: 'login', holder: handle }, null)
  const seconds = passkeyChallengeSeconds
  const options = ports.webauthn.requestOptions({ site, challenge, seconds, allow: [], userVerification: 'required' })
  return { options, expiresAt: ports.clock.now() + seconds }
}

export interface PasskeyLoginInput {
  response: SignedResponse
  /** Of the browser that asked for the challenge. */
  handle: string | null
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
}

const method = 'passkey'

/**
 * Signs in with a passkey. The authenticator has checked its user, so this is two factors in one step, and no further one is asked for.
 *
 * @throws {AuthError} `passkeys_disabled`, `invalid_token` (the challenge), `invalid_passkey`, `account_disabled`,
 *   `email_not_verified`, and as `openSession`
 */
export async function passkeyLogin(ports: PasskeyLoginPorts, input: PasskeyLoginInput): Promise<IssuedSession> {
  const site = requirePasskeys(ports)
  const { response, mode, visitor, device } = input
  const refuse = (userId: string | null) => (fault: unknown) => refuseLogin(ports, { userId, method, visitor }, fault)
  const of = { use: 'login', holder: input.handle ?? '' } as const
  const clientData = await claimChallenge(ports, of, response.clientData).catch(refuse(null))
  let owner: string | null = null
  const onUser = (userId: string) => {
    owner = userId
  }
  const expected = { site, clientData, verified: true, userId: null, onUser }
  const found = await verifyPasskey(ports, response, expected).catch((fault: unknown) => refuse(owner)(fault))
  const { user } = found
  const proof = await judge(ports, found, visitor).catch(refuse(user.id))
  return openSession(ports, { user, mode, method, amr: withFactor([], proof), visitor, device, proof })
}

async function judge(ports: PasskeyLoginPorts, found: VerifiedPasskey, visitor: Visitor) {
  requireUsable(ports, found.user)
  return judgeCounter(ports, found, visitor)
}
