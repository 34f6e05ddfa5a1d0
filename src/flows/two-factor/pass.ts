import { AuthError } from '../../errors.js'
import type { SignedResponse } from '../../model/factors/webauthn.js'
import { type FactorProof, withFactor } from '../../model/second-factor.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type OpenSessionPorts, openSession, refuseLogin } from '../session/open-session.js'
import { type Challenge, findChallenge } from '../session/two-factor-challenge.js'
import type { IssuedSession } from '../steps/issue-tokens.js'
import { type PasskeyStepPorts, provePasskey, secondStepOf } from './passkey-step.js'
import {
  type CountedFactorTry,
  countFactorTry,
  type FactorPorts,
  factorTries,
  forgetFactorTries,
  proveFactor,
} from './second-factor.js'

export type PassTwoFactorPorts = OpenSessionPorts & FactorPorts & PasskeyStepPorts & Pick<Ports, 'users'>

export interface PassTwoFactorInput {
  /** Of the answer to the first step. It names the account; the second step names none. */
  challenge: string | null
  /** Of the authenticator app, or a backup code. Not needed with `response`. */
  code?: string
  /** What a passkey has signed. Then `code` is ignored. */
  response?: SignedResponse
  mode: SessionMode
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
}

/**
 * The second step of a sign-in: a code of the authenticator, a backup code, or a passkey.
 *
 * Every guess is counted before it is compared, for the account and for the challenge. After five guesses the challenge is
 * dead, also for the right code. A signature cannot be guessed, so it counts for the challenge alone.
 *
 * The session opens in the step that uses up the challenge and the code. So of any number of requests with one code, on any
 * number of instances, one gets a session (RFC 6238 §5.2; ASVS 5.0, 6.5.1).
 *
 * @throws {AuthError} `invalid_token` (unknown, used, replaced, expired, void and guessed too often look alike),
 *   `invalid_code` (wrong and used before look alike), `invalid_passkey`, `passkeys_disabled`, `password_reset_required`,
 *   `rate_limited`, `forbidden` (the other mode's), `hook_failed`
 */
export async function passTwoFactor(ports: PassTwoFactorPorts, input: PassTwoFactorInput): Promise<IssuedSession> {
  const { visitor } = input
  const found = await findChallenge(ports, input.challenge)
  if (!found) return refuseLogin(ports, { userId: null, method: null, visitor }, new AuthError('invalid_token'))
  const { token, user, first } = found
  if (first.mode !== input.mode) throw new AuthError('forbidden')

  const by = { userId: user.id, method: first.method, visitor }
  const guess = { user, device: input.device }
  const counted = input.response
    ? null
    : await countFactorTry(ports, guess).catch((fault: unknown) => refuseLogin(ports, by, fault))
  if (!(await ports.oneTimeTokens.countTry(token.id, factorTries))) {
    return refuseLogin(ports, by, new AuthError('invalid_token'))
  }
  return enter(ports, found, { ...input, counted })
}

async function enter(
  ports: PassTwoFactorPorts,
  { token, user, first }: Challenge,
  input: PassTwoFactorInput & { counted: CountedFactorTry | null },
): Promise<IssuedSession> {
  const { mode, visitor, device } = input
  const { method } = first
  // The first step was right, so a refused second one is worth knowing (ASVS 5.0, 16.3.1).
  const proof = await prove(ports, user, input).catch((fault: unknown) =>
    refuseLogin(ports, { userId: user.id, method, visitor }, fault),
  )
  await forgetFactorTries(ports, user.id, input.counted)
  // The password of the first step may have stopped counting since.
  if (user.mustReset && first.amr.includes('pwd')) {
    return refuseLogin(ports, { userId: user.id, method, visitor }, new AuthError('password_reset_required'))
  }
  const secondStep = { challengeId: token.id, proof }
  const amr = withFactor(first.amr, proof)
  return openSession(ports, { user, mode, method, amr, visitor, device, secondStep })
}

/** @throws {AuthError} `invalid_code`, `invalid_token`, `invalid_passkey`, `passkeys_disabled` */
async function prove(
  ports: PassTwoFactorPorts,
  user: UserRecord,
  { code = '', response, challenge, visitor }: PassTwoFactorInput,
): Promise<FactorProof> {
  if (response) return provePasskey(ports, { user, response, visitor }, secondStepOf(challenge ?? ''))
  const proof = await proveFactor(ports, user, code)
  if (!proof) throw new AuthError('invalid_code')
  return proof
}
