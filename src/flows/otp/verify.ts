import { AuthError } from '../../errors.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { OpenSessionPorts } from '../session/open-session.js'
import { refuseLogin } from '../session/open-session.js'
import { type SignInResult, signIn } from '../session/sign-in.js'
import { countTry, guessesOf } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { matchesCode } from '../steps/mailed-code.js'
import { requireEmail } from '../steps/require-account-fields.js'
import { forgetFactorTries } from '../two-factor/second-factor.js'
import { holdsOtp } from './request.js'

export type VerifyOtpPorts = OpenSessionPorts &
  Pick<Ports, 'users' | 'oneTimeTokens' | 'audit' | 'keyring' | 'clock' | 'random' | 'policy' | 'limiter'>

export interface VerifyOtpInput {
  /** From the mail's link. Otherwise `code`, and `email` from clients that know which one they asked for. */
  token?: string
  email?: string | undefined
  code?: string
  /** The handle of the browser that asked. */
  handle: string | null
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. */
  challenge: string | null
}

/**
 * Signs in with the mailed code or link, in the browser that asked for them.
 *
 * It proves the mailbox. On an account whose address was never verified, everything that a stranger may have set is removed
 * first (GHSA-qq9h-g4jm-xgf3).
 *
 * @throws {AuthError} `invalid_token` (unknown, used, replaced, expired, foreign, guessed too often and without the handle
 *   look alike), `rate_limited` after too many guesses, and as `openSession`
 */
export async function verifyOtp(ports: VerifyOtpPorts, input: VerifyOtpInput): Promise<SignInResult> {
  const asked = await findAsked(ports, input)
  const proved = asked !== null && (input.token !== undefined || (await guessCode(ports, asked, input)))
  const user = proved ? await proveMailbox(ports, asked, input.visitor) : null
  if (!asked || !user) {
    const facts = { userId: asked?.userId ?? null, outcome: 'failure', detail: { method: 'otp' } } as const
    await ports.audit.record(auditEvent(ports, 'login', input.visitor, facts))
    throw new AuthError('invalid_token')
  }
  const { mode, visitor, device, challenge } = input
  return signIn(ports, { user, mode, method: 'otp', amr: ['otp'], visitor, device, challenge })
}

/**
 * The live token that this browser asked for, or null; it may be a decoy. A request without the handle ends here, so that a
 * stranger cannot use up the owner's guesses (the limit of the stranger's own IP address counts them).
 */
async function findAsked(ports: VerifyOtpPorts, input: VerifyOtpInput): Promise<OneTimeToken | null> {
  const live = await listAsked(ports, input)
  return live.find((token) => token !== null && holdsOtp(ports, token, input.handle)) ?? null
}

/** A browser need not send the address again, because its handle belongs to one request, and so to one address. */
async function listAsked(ports: VerifyOtpPorts, input: VerifyOtpInput): Promise<readonly (OneTimeToken | null)[]> {
  const { oneTimeTokens, keyring } = ports
  const now = ports.clock.now()
  if (input.token !== undefined)
    return [await oneTimeTokens.findByHash('otp', keyring.digests('otp', input.token), now)]
  if (input.email !== undefined) return oneTimeTokens.listByEmail('otp', requireEmail(input.email).canonical, now)
  if (input.handle === null) return []
  return oneTimeTokens.listByHandle('otp', keyring.digests('otp-handle', input.handle), now)
}

/**
 * Counts by the code and by the browser that asked for it, before anything is compared: of any number of concurrent guesses,
 * no more than the limit pass. How many codes an address gets is the mail limit's part, and how long they are `codeLength`'s.
 * The link holds 256 bits, so its guesses are not counted.
 *
 * @throws {AuthError} `rate_limited`
 */
async function guessCode(
  ports: VerifyOtpPorts,
  token: OneTimeToken,
  { code, visitor }: VerifyOtpInput,
): Promise<boolean> {
  const by = { userId: token.userId, method: 'otp', visitor }
  await countTry(ports, 'guess', guessesOf(token)).catch((fault: unknown) => refuseLogin(ports, by, fault))
  const counted = await ports.oneTimeTokens.countTry(token.id, ports.policy.codeTries)
  return counted && matchesCode(ports, token, code ?? '')
}

async function proveMailbox(ports: VerifyOtpPorts, token: OneTimeToken, visitor: Visitor): Promise<UserRecord | null> {
  const known = token.userId === null ? null : await ports.users.findById(token.userId)
  // The first proof removes a second factor that a stranger may have set, and with it the counted guesses. It comes before
  // the code is used up, so that a failed step can be repeated.
  if (known && !known.emailVerified) await forgetFactorTries(ports, known.id)
  await ports.limiter.forget('guess', [guessesOf(token)])
  await ports.limiter.forget('shortCode', [token.email])
  const facts = { userId: token.userId, detail: { firstProof: true } }
  return ports.users.proveMailbox(token.id, 'otp', ports.clock.now(), {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'email_verified', visitor, facts),
    strict: ports.policy.adminEmails.includes(token.email),
  })
}
