import { AuthError } from '../../errors.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'

/**
 * Records a refused sign-in, at whichever step, and rethrows (ASVS 5.0, 16.3.1). A failure on our side is no refusal, so only
 * the log reports it. Each request writes one event, as for a wrong password, so the limits per IP bound these alike.
 */
export async function refuseLogin(
  ports: Pick<Ports, 'audit' | 'clock' | 'random'>,
  { userId, method, visitor }: { userId: string | null; method: string | null; visitor: Visitor },
  refusal: unknown,
): Promise<never> {
  if (refusal instanceof AuthError && (refusal.status < 500 || refusal.code === 'hook_failed')) {
    const detail = { ...(method !== null && { method }), reason: refusal.code }
    const facts = { userId, outcome: 'failure', detail } as const
    await ports.audit.record(auditEvent(ports, 'login', visitor, facts))
  }
  throw refusal
}
