import { isDisabled } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-email.js'
import { draftReset } from './draft-reset.js'

export type ForgotPasswordPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

export interface ForgotPasswordInput extends MailAsker {
  email: string
}

/**
 * Mails a link that sets a new password, also for an account that has none yet.
 *
 * Whatever the address is, one token and one mail are written: without an account, or for a disabled one, they are decoys
 * that open nothing and are never sent (OWASP ASVS 5.0, 6.3.8). Without room in the mail limit neither is written, and the
 * answer is the same.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function forgotPassword(ports: ForgotPasswordPorts, input: ForgotPasswordInput): Promise<void> {
  const email = requireEmail(input.email).canonical
  const known = await ports.users.findByEmail(email)
  const now = ports.clock.now()
  const user = known && !isDisabled(known, now) ? known : null

  const userId = known?.id ?? null
  const event = 'password_reset_requested'
  const { mailSent } = await countMail(ports, { purpose: 'reset', address: email, asker: input, event, userId })
  if (!mailSent) return

  const { token, mail } = draftReset(ports, email, user)
  const audit = auditEvent(ports, event, input.visitor, { userId, outcome: user ? 'success' : 'failure' })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now, audit })
}
