import type { OneTimeToken } from '../../model/one-time-token.js'
import { decoyTemplate, type OutboxMail } from '../../model/outbox-mail.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { mayMail } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { digestCode } from '../steps/mailed-code.js'
import { requireEmail } from '../steps/require-email.js'

export type RequestOtpPorts = Pick<
  Ports,
  'users' | 'oneTimeTokens' | 'audit' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

export interface RequestOtpInput {
  email: string
  /** What the browser holds of an earlier request. */
  handle: string | null
  visitor: Visitor
}

/**
 * Mails a code and a link that sign in, and returns the handle without which neither counts: it stays in the browser (or
 * client) that asked, so that a code that was read out or phished is worth nothing elsewhere (ASVS 5.0, 6.6.2).
 *
 * Whatever the address is, one token and one mail are written: without an account, or for a disabled one, they are decoys
 * that open nothing and are never sent (OWASP ASVS 5.0, 6.3.8).
 *
 * @throws {AuthError} `invalid_request`
 */
export async function requestOtp(ports: RequestOtpPorts, input: RequestOtpInput): Promise<string> {
  const email = requireEmail(input.email).canonical
  const known = await ports.users.findByEmail(email)
  const now = ports.clock.now()
  const user = known && !isDisabled(known, now) ? known : null

  if (!(await mayMail(ports, email))) {
    const facts = { userId: known?.id ?? null, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
    await ports.audit.record(auditEvent(ports, 'otp_requested', input.visitor, facts))
    return handleOfLast(ports, email, input.handle)
  }
  const handle = ports.random.token()
  const { token, mail } = draftOtp(ports, { email, user, handle })
  const audit = auditEvent(ports, 'otp_requested', input.visitor, {
    userId: known?.id ?? null,
    outcome: user ? 'success' : 'failure',
  })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now, audit })
  return handle
}

/** Whether this is the browser (or client) that asked for the code. */
export function holdsOtp(ports: Pick<Ports, 'keyring'>, token: OneTimeToken, handle: string | null): boolean {
  if (handle === null || token.handleHash === null) return false
  return ports.keyring.digests('otp-handle', handle).includes(token.handleHash)
}

/** A browser that gets no further mail keeps what makes its last one count; any other gets a handle of nothing. */
async function handleOfLast(ports: RequestOtpPorts, email: string, handle: string | null): Promise<string> {
  const live = await ports.oneTimeTokens.listByEmail('otp', email, ports.clock.now())
  const own = live.some((token) => holdsOtp(ports, token, handle))
  return own && handle !== null ? handle : ports.random.token()
}

/** Code and link are in the mail to the stored address and nowhere else; at rest there are only digests. */
function draftOtp(
  ports: RequestOtpPorts,
  { email, user, handle }: { email: string; user: UserRecord | null; handle: string },
): { token: OneTimeToken; mail: OutboxMail } {
  const row = { id: ports.random.id(), purpose: 'otp' } as const
  const secret = ports.random.token()
  const code = ports.random.code(ports.policy.codeDigits)
  const { otpSeconds } = ports.policy
  const now = ports.clock.now()
  const token: OneTimeToken = {
    ...row,
    subject: user?.id ?? email,
    userId: user?.id ?? null,
    email,
    tokenHash: ports.keyring.digest('otp', secret),
    codeHash: digestCode(ports, row, code),
    handleHash: ports.keyring.digest('otp-handle', handle),
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + otpSeconds,
  }
  const mail = ports.mails.compose(user ? 'otp' : decoyTemplate, email, {
    // A name that nobody has proved to be the reader's does not greet them.
    name: (user?.emailVerified && user.name) || '',
    url: `${ports.policy.authUrl}/otp?token=${secret}`,
    code,
    lifetimeMinutes: String(Math.floor(otpSeconds / 60)),
  })
  return { token, mail }
}
