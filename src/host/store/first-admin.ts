import type { AuditEvent } from '../../model/audit-event.js'
import type { UserRecord } from '../../model/user.js'

/** The first administrator of a host. */
export interface FirstAdmin {
  /** Whether there is or was one. Then the set-up is over for ever. */
  exists(): Promise<boolean>
  /**
   * Creates the user with the right ADMIN and records the event, once: of parallel calls one wins. `taken`: another account has
   * the address, and nothing was written.
   */
  create(user: UserRecord, audit: AuditEvent): Promise<'created' | 'exists' | 'taken'>
}
