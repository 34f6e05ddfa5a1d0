import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { mayMail } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { isReserved } from '../steps/email-tokens.js'
import { type Applicant, draftRegistration, registrationsSideBySide } from './draft.js'

export type FileRegistrationPorts = Pick<
  Ports,
  'users' | 'oneTimeTokens' | 'keyring' | 'mails' | 'limiter' | 'audit' | 'random' | 'clock' | 'policy'
>

/**
 * Keeps a registration and mails what confirms it. The work and its mail count are the same whether or not the address has
 * an account (OWASP ASVS 5.0, 6.3.8).
 *
 * An address that has had enough mails gets nothing, and nothing is kept: a registration that nobody can confirm would
 * only drive out those that somebody can.
 *
 * @param email canonical
 */
export async function fileRegistration(
  ports: FileRegistrationPorts,
  email: string,
  handle: string,
  { applicant, visitor }: { applicant: Applicant; visitor: Visitor },
): Promise<void> {
  const [existing, reserved] = await Promise.all([ports.users.findByEmail(email), isReserved(ports, email)])
  const facts = { userId: existing?.id ?? null }
  if (!(await mayMail(ports, email))) {
    const refused = { ...facts, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
    await ports.audit.record(auditEvent(ports, 'registration_requested', visitor, refused))
    return
  }
  const isDecoy = existing !== null || reserved
  const { token, mail } = draftRegistration(ports, email, handle, { applicant, isDecoy })
  await ports.oneTimeTokens.put(token, mail, {
    keep: registrationsSideBySide,
    now: ports.clock.now(),
    audit: auditEvent(ports, 'registration_requested', visitor, {
      ...facts,
      outcome: isDecoy ? 'failure' : 'success',
    }),
  })
}
