import type { OneTimeToken } from '../../model/one-time-token.js'
import { decoyTemplate, type OutboxMail } from '../../model/outbox-mail.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { mayMail } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { requireEmail } from '../steps/require-email.js'

export type ForgotPasswordPorts = Pick<
  Ports,
  'users' | 'oneTimeTokens' | 'audit' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

const resetMinutes = 30

/**
 * Mails a link that sets a new password; an account without a password gets one, too, and gains a password by it.
 *
 * Whatever the address is, one token and one mail are written: without an account, or for a disabled one, they are decoys
 * that open nothing and are never sent (OWASP ASVS 5.0, 6.3.8).
 *
 * @throws {AuthError} `invalid_request`
 */
export async function forgotPassword(
  ports: ForgotPasswordPorts,
  input: { email: string; visitor: Visitor },
): Promise<void> {
  const email = requireEmail(input.email).canonical
  const known = await ports.users.findByEmail(email)
  const now = ports.clock.now()
  const user = known && !isDisabled(known, now) ? known : null

  if (!(await mayMail(ports, email))) {
    const facts = { userId: known?.id ?? null, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
    await ports.audit.record(auditEvent(ports, 'password_reset_requested', input.visitor, facts))
    return
  }
  const { token, mail } = draftReset(ports, email, user)
  const audit = auditEvent(ports, 'password_reset_requested', input.visitor, {
    userId: known?.id ?? null,
    outcome: user ? 'success' : 'failure',
  })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now, audit })
}

/** The secret is in the mail to the stored address and nowhere else; at rest there is only its digest. */
function draftReset(
  ports: ForgotPasswordPorts,
  email: string,
  user: UserRecord | null,
): { token: OneTimeToken; mail: OutboxMail } {
  const secret = ports.random.token()
  const now = ports.clock.now()
  const token: OneTimeToken = {
    id: ports.random.id(),
    purpose: 'password_reset',
    subject: user?.id ?? email,
    userId: user?.id ?? null,
    email,
    tokenHash: ports.keyring.digest('password_reset', secret),
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + resetMinutes * 60,
  }
  const mail = ports.mails.compose(user ? 'password-reset' : decoyTemplate, email, {
    // A name that nobody has proved to be the reader's does not greet them.
    name: (user?.emailVerified && user.name) || '',
    url: `${ports.policy.authUrl}/reset?token=${secret}`,
    lifetimeMinutes: String(resetMinutes),
  })
  return { token, mail }
}
