import type { AdminCommand } from '../../contract/admin-command.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { PeopleStep } from './rights.js'

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

  /** Also an expired one; null when there is none. */
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
