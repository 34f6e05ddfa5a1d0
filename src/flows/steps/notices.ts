import type { OutboxMail } from '../../model/outbox-mail.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

/** Events that the user is mailed about at once (ASVS 5.0, 6.3.5, 6.3.7). No such mail has a link: phishing copies them. */
type Notice =
  | 'new-device'
  | 'password-changed'
  | 'email-restored'
  | 'refresh-reuse'
  | 'two-factor-changed'
  | 'identity-changed'
  | 'passkey-added'
  | 'passkey-removed'

/** What tells notices of one name apart. Otherwise many changes of one sort could hide another. */
const variants = ['turnedOn', 'turnedOff', 'linked', 'unlinked', 'suspended'] as const

/**
 * The notice for a step. Those of one kind are summed up where there are many: `mail/sum-up.ts`. An unverified address gets none:
 * its reader may be a stranger, who would learn of an account that is not theirs.
 */
export function notice(
  ports: Pick<Ports, 'mails' | 'clock'>,
  name: Notice,
  {
    user,
    userAgent,
    values = {},
  }: { user: UserRecord; userAgent: string | null; values?: Readonly<Record<string, string>> },
): { mail?: OutboxMail } {
  if (!user.emailVerified) return {}
  const noticeKind = [name, ...variants.filter((variant) => values[variant])].join(' ')
  const all = { ...circumstances(ports, userAgent), ...values, noticeKind }
  return { mail: ports.mails.compose(name, user.emailCanonical, all) }
}

/** Device and time of the event, for every mail about it. */
export function circumstances(ports: Pick<Ports, 'clock'>, userAgent: string | null): { device: string; at: string } {
  return { device: userAgent ?? '', at: new Date(ports.clock.nowMs()).toISOString() }
}
