import type { AuditEvent } from '../../model/audit-event.js'
import type { Right } from '../../model/right.js'

/** A user of the project, by a right of their own or by a team. */
export interface ProjectUser {
  id: string
  email: string
  name: string | null
  /** Their own right; null: they have rights by teams only. */
  right: Right | null
  teams: readonly { id: string; name: string; right: Right }[]
  /** Whether the address is proved. Until then no right counts. */
  proved: boolean
}

/** The rights that count: of accounts whose address is proved. */
export interface CountedRights {
  /** One entry for each right of an account, own or by a team. */
  users: readonly {
    userId: string
    right: Right
    /** Unix seconds, as in the account. */
    disabledAt: number | null
    disabledUntil: number | null
  }[]
  teams: readonly { id: string; right: Right }[]
}

/** What accompanies a change, in the same step. */
export interface PeopleStep {
  /** Until when (Unix seconds) another process may not know of the change. */
  until: number
  audit: AuditEvent
}

/**
 * The rights that users have of their own. A change row of the kind `right` reports every change.
 *
 * `last_admin`: no usable administrator would be left, so nothing changed. Usable: the address is proved, the account is not
 * disabled and does not wait for a new password.
 */
export interface Rights {
  /** By address. */
  list(): Promise<ProjectUser[]>

  /** null: the account does not belong to the project, or does not exist. */
  find(userId: string): Promise<ProjectUser | null>

  /** What counts now, for the memory of a process. */
  counted(): Promise<CountedRights>

  /** Gives a first right. Otherwise nothing changes. `same`: the user has this right; `other`: another; null: no such account. */
  grant(userId: string, right: Right, step: PeopleStep): Promise<'granted' | 'same' | 'other' | null>

  /** Sets the right of a user of the project. `same`: it was that already, and nothing changes; null: no user of the project. */
  change(userId: string, right: Right, step: PeopleStep): Promise<'changed' | 'same' | 'last_admin' | null>

  /** Takes away the right and every membership. null: no user of the project. */
  remove(userId: string, step: PeopleStep): Promise<'removed' | 'last_admin' | null>
}
