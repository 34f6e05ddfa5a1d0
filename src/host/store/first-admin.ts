import type { AuditEvent } from '../../model/audit-event.js'
import type { UserRecord } from '../../model/user.js'
import type { PeopleStep } from './rights.js'

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

/** Administrators whom the owner of the machine appoints. */
export interface Appointments {
  /**
   * Gives the user the right ADMIN, whatever right they had, and ends the set-up. `same`: both were so, and nothing is recorded;
   * null: there is no such account. A change row of the kind `right` reports it.
   */
  appoint(userId: string, step: PeopleStep): Promise<'appointed' | 'same' | null>
}
