import { AuthError } from '../errors.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'

/**
 * Holds a new password to the rules; it has consumed nothing yet.
 *
 * @throws {AuthError} `weak_password` with `reasons`
 */
export async function requireStrong(
  ports: Pick<Ports, 'passwordFaults'>,
  password: string,
  emailCanonical: string,
): Promise<void> {
  const reasons = await ports.passwordFaults(password, emailCanonical)
  if (reasons.length > 0) throw new AuthError('weak_password', { reasons })
}

/** Tells the user that their password is another one now (ASVS 5.0, 6.3.7). It has no link: it is what phishing copies. */
export function passwordChangedMail(
  ports: Pick<Ports, 'mails' | 'clock'>,
  user: UserRecord,
  visitor: Visitor,
): OutboxMail {
  return ports.mails.compose('password-changed', user.emailCanonical, {
    device: visitor.userAgent ?? '',
    at: new Date(ports.clock.nowMs()).toISOString(),
  })
}
