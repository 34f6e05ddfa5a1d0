import { AuthError } from '../errors.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { auditEvent } from './audit.js'

/**
 * Writes a refused sign-in down, with the reason, and throws on (ASVS 5.0, 16.3.1). What fails on our side refuses nobody:
 * the log tells of it. There is one event a request, as of a wrong password, so limits per IP bound these alike.
 */
export async function auditRefusal(
  ports: Pick<Ports, 'audit' | 'clock' | 'random'>,
  by: { userId: string | null; method?: string; visitor: Visitor },
  error: unknown,
): Promise<never> {
  if (error instanceof AuthError && (error.status < 500 || error.code === 'hook_failed')) {
    const detail = { ...(by.method !== undefined && { method: by.method }), reason: error.code }
    const facts = { userId: by.userId, outcome: 'failure', detail } as const
    await ports.audit.record(auditEvent(ports, 'login', by.visitor, facts))
  }
  throw error
}
