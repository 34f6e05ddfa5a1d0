import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { isReserved } from '../steps/email-tokens.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { type Applicant, draftRegistration, registrationPlaces } from './draft.js'

export type FileRegistrationPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

/**
 * Keeps a registration and mails the link that confirms it. The work and its mail count are the same whether or not the
 * address has an account (OWASP ASVS 5.0, 6.3.8).
 *
 * Without room in the mail limit, nothing is mailed or kept: a registration without a mail cannot be confirmed, and it would
 * push out registrations that can.
 *
 * @param email canonical
 */
export async function fileRegistration(
  ports: FileRegistrationPorts,
  email: string,
  handle: string,
  { applicant, asker }: { applicant: Applicant; asker: MailAsker },
): Promise<void> {
  const [existing, reserved] = await Promise.all([ports.users.findByEmail(email), isReserved(ports, email)])
  const userId = existing?.id ?? null
  const event = 'registration_requested'
  const { mailSent } = await countMail(ports, { purpose: 'registration', address: email, asker, event, userId })
  if (!mailSent) return

  const isDecoy = existing !== null || reserved
  const { token, mail } = draftRegistration(ports, email, handle, { applicant, isDecoy, ip: asker.visitor.ip })
  await ports.oneTimeTokens.put(token, mail, {
    ...registrationPlaces,
    now: ports.clock.now(),
    audit: auditEvent(ports, event, asker.visitor, { userId, outcome: isDecoy ? 'failure' : 'success' }),
  })
}
