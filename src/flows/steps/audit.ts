import type { AuditEvent, AuditEventName } from '../../model/audit-event.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'

export interface AuditFacts {
  userId?: string | null
  sessionId?: string | null
  outcome?: AuditEvent['outcome']
  detail?: AuditEvent['detail']
}

/** The event with actor, address and user agent of the visitor. The verb that does it stores the event in its own step. */
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
    actor: visitor.actor,
    userId: facts.userId ?? null,
    sessionId: facts.sessionId ?? null,
    ip: visitor.ip,
    userAgent: visitor.userAgent,
    detail: { ...(visitor.space && { space: visitor.space.name, spaceId: visitor.space.id }), ...facts.detail },
  }
}
