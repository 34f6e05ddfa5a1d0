import type { AdminCommand } from '../../contract/admin-command.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { Right } from '../../model/right.js'
import type { UserRecord } from '../../model/user.js'

/** Who may administer the project. */
export interface PeopleNouns {
  projectRights: Rights
  teams: Teams
  projectTokens: AdminTokens
}

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

interface Team {
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

export type AdminTokenOwner = { kind: 'personal'; userId: string } | { kind: 'team'; teamId: string }

/** By which scripts call the control API of the host. Times are Unix seconds. */
export interface AdminTokenRecord {
  /** The public first half of the token, 16 hexadecimal digits. */
  id: string
  /** Keyed digest of the whole token, `<key id>.<digest>`. The token itself is not stored. */
  tokenHash: string
  name: string
  owner: AdminTokenOwner
  /** The id of the administrator who made it. The account may be gone. */
  madeBy: string
  /** Ids of spaces; null: all. */
  spaces: readonly string[] | null
  /** null: all that admin tokens may be used for. */
  commands: readonly AdminCommand[] | null
  /** Canonical networks that it is accepted from; empty: from everywhere. */
  cidrs: readonly string[]
  createdAt: number
  /** From when on it is invalid; null: never. */
  expiresAt: number | null
  lastUse: AdminTokenUse | null
}

/** Coarse, so that the list tells little of the user's whereabouts. */
export interface AdminTokenUse {
  /** The first second of the day, UTC. */
  day: number
  /** A /24, or the /48 of an IPv6 address; null when the address is not known. */
  network: string | null
}

/** With the names that a list shows. */
export interface ListedAdminToken extends AdminTokenRecord {
  /** Address of the personal account, or name of the team. */
  ownerName: string
  /** null: the maker's account is gone. */
  makerEmail: string | null
}

/** Admin tokens. A change row of the kind `admin_token` reports every removal. An account and a team take theirs along. */
export interface AdminTokens {
  /** False when it is to be a team's and its maker is no member of that team. */
  create(token: AdminTokenRecord, audit: AuditEvent): Promise<boolean>

  /** Finds a token, expired or not. Null: there is no token with this id. */
  find(id: string): Promise<AdminTokenRecord | null>

  /** Newest first, expired ones too. */
  list(): Promise<ListedAdminToken[]>

  /** The tokens of teams (of that one team) that this user made. */
  listOfTeams(made: { by: string; teamId: string | null }): Promise<ListedAdminToken[]>

  /** False when there was none. Of concurrent calls, exactly one is true. */
  remove(id: string, step: PeopleStep): Promise<boolean>

  /** Removes every token; returns how many there were. Without any, no event is written. */
  removeAll(step: PeopleStep): Promise<number>

  /** Writes the last uses; removed tokens are skipped. */
  touch(uses: readonly (AdminTokenUse & { id: string })[]): Promise<void>
}

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
