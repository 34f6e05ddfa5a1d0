import { AuthError } from '../errors.js'
import type { AuditEvent, AuditEventName } from '../model/audit-event.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'

export interface AuditFacts {
  userId?: string | null
  sessionId?: string | null
  outcome?: AuditEvent['outcome']
  detail?: AuditEvent['detail']
}

/** Writes down who did what from where; the verb that does it stores the event in its own step. */
export function auditEvent(
  ports: Pick<Ports, 'clock' | 'random'>,
  event: AuditEventName,
  visitor: Visitor,
  facts: AuditFacts = {},
): AuditEvent {
  return {
    id: ports.random.id(),
    atMs: ports.clock.nowMs(),
    event,
    outcome: facts.outcome ?? 'success',
    userId: facts.userId ?? null,
    sessionId: facts.sessionId ?? null,
    ip: visitor.ip,
    userAgent: visitor.userAgent,
    detail: facts.detail ?? {},
  }
}

/** Writes down a sign-in that came to nothing, whatever had been proved by then (ASVS 5.0, 16.3.1), and says why. */
export async function refuseLogin(
  ports: Pick<Ports, 'audit' | 'clock' | 'random'>,
  { userId, method, visitor }: { userId: string | null; method: string | null; visitor: Visitor },
  refusal: unknown,
): Promise<never> {
  const detail = {
    ...(method !== null && { method }),
    ...(refusal instanceof AuthError && { reason: refusal.code }),
  }
  const facts = { userId, outcome: 'failure', detail } as const
  await ports.audit.record(auditEvent(ports, 'login', visitor, facts))
  throw refusal
}
