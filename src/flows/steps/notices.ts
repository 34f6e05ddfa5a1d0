import type { OutboxMail } from '../../model/outbox-mail.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

/** What a user is told of at once (ASVS 5.0, 6.3.5 and 6.3.7). None of these mails has a link: it is what phishing copies. */
type Notice =
  | 'new-device'
  | 'password-changed'
  | 'email-restored'
  | 'refresh-reuse'
  | 'two-factor-changed'
  | 'identity-changed'

/**
 * The notice, for the step that it tells of. None to an address that nobody has proved to be the user's: whoever reads
 * there would learn of an account that is none of theirs.
 */
export function notice(
  ports: Pick<Ports, 'mails' | 'clock'>,
  name: Notice,
  {
    user,
    userAgent,
    values,
  }: { user: UserRecord; userAgent: string | null; values?: Readonly<Record<string, string>> },
): { mail?: OutboxMail } {
  if (!user.emailVerified) return {}
  return { mail: ports.mails.compose(name, user.emailCanonical, { ...circumstances(ports, userAgent), ...values }) }
}

/** From what and when it was done, as every mail about it tells. */
export function circumstances(ports: Pick<Ports, 'clock'>, userAgent: string | null): { device: string; at: string } {
  return { device: userAgent ?? '', at: new Date(ports.clock.nowMs()).toISOString() }
}
