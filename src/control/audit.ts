import { listAudit } from '../flows/control/read-audit.js'
import type { Page } from '../model/account.js'
import type { AuditEntry, AuditFilter } from '../model/audit-event.js'
import type { Ports } from '../ports.js'

/** What was written down about security, for the application's own code. It outlives the users it tells of. */
export interface AuditApi {
  /**
   * The newest first.
   *
   * @throws {AuthError} `invalid_request` for a limit or cursor that cannot be
   * @example const { items, nextCursor } = await auth.audit.list({ userId, event: 'login', limit: 20 })
   */
  list(filter?: AuditFilter): Promise<Page<AuditEntry>>
  /**
   * Reads the whole log and tells whether anybody without the encryption key has changed it, taken from it or added to
   * it. `brokenAt` is the id of the first event that does not fit: the changed one, the first after a gap, or the last
   * there is where events are missing at the end; null where none is left.
   *
   * It cannot tell that the whole store was put back to an older state, as from a backup. Of a log whose key was replaced
   * without a time in which both were in the list, nobody can vouch for what was before, and it is not ok.
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
