import { listAudit } from '../flows/control/read-audit.js'
import type { Page } from '../model/account.js'
import type { AuditEntry, AuditFilter } from '../model/audit-event.js'
import type { Ports } from '../ports.js'

/** The log of security events, for the application's own code. Events outlive the users that they concern. */
export interface AuditApi {
  /**
   * Events, newest first.
   *
   * @throws {AuthError} `invalid_request` for an invalid limit, cursor or time
   * @example const { items, nextCursor } = await auth.audit.list({ userId, event: 'login', limit: 20 })
   */
  list(filter?: AuditFilter): Promise<Page<AuditEntry>>
  /**
   * Reads the whole log and reports whether anyone without the encryption key has changed, removed or added events.
   * `brokenAt` is the id of the first event that does not fit: the changed one, or the first after a gap. If events are
   * missing at the end, it is the last one that is left; null if no event is left.
   *
   * It cannot detect that the whole store was restored from an older state, such as a backup. If the key was replaced without
   * a time in which both keys were in the list, the log before that cannot be checked, and `ok` is false.
   */
  verify(): Promise<{ ok: boolean; brokenAt: string | null }>
}

/** `ports` waits for the store to be open. */
export function createAuditApi(ports: () => Promise<Ports>): AuditApi {
  return {
    list: async (filter = {}) => listAudit(await ports(), filter),
    verify: async () => (await ports()).audit.verify(),
  }
}
