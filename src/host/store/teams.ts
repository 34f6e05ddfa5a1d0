import type { Right } from '../../model/right.js'
import type { PeopleStep } from './rights.js'

export interface Team {
  id: string
  /** Unique, one line. */
  name: string
  /** What its members may do. */
  right: Right
  /** Unix seconds. */
  createdAt: number
}

export interface TeamWithMembers extends Team {
  members: readonly { id: string; email: string; name: string | null }[]
}

export interface TeamChanges {
  name?: string | undefined
  right?: Right | undefined
}

/** Named groups of users with a right. A change row of the kind `right` reports what concerns rights. `last_admin` as in `Rights`. */
export interface Teams {
  /** By name. */
  list(): Promise<TeamWithMembers[]>

  find(id: string): Promise<TeamWithMembers | null>

  /** `taken`: another team has this name. */
  create(team: Team, step: PeopleStep): Promise<'created' | 'taken'>

  /** `same`: it is so already, and nothing changes. null: no such team. */
  change(
    id: string,
    changes: TeamChanges,
    step: PeopleStep,
  ): Promise<'changed' | 'same' | 'taken' | 'last_admin' | null>

  /** The team's admin tokens go too. null: no such team. */
  remove(id: string, step: PeopleStep): Promise<'removed' | 'last_admin' | null>

  /** `same`: they are a member. null: no such team or account. `at`: Unix seconds. */
  addMember(id: string, userId: string, at: number, step: PeopleStep): Promise<'added' | 'same' | null>

  /** null: no such membership. */
  removeMember(id: string, userId: string, step: PeopleStep): Promise<'removed' | 'last_admin' | null>
}
