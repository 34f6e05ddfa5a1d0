import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { mayMail } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'

/** Counts a confirmation that is to be mailed again. Where the address has had enough mails, records that: none is sent. */
export async function mayMailAgain(
  ports: Pick<Ports, 'limiter' | 'audit' | 'clock' | 'random'>,
  address: string,
  { userId, visitor }: { userId: string | null; visitor: Visitor },
): Promise<boolean> {
  if (await mayMail(ports, address)) return true
  const facts = { userId, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
  await ports.audit.record(auditEvent(ports, 'verification_requested', visitor, facts))
  return false
}
