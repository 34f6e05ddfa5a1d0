import type { Kysely } from 'kysely'
import type { Right } from '../../../model/right.js'
import type { Tables } from '../../../store/sql/engine/schema.js'

/**
 * Ids are text, JSON is text, a time is a number. Drivers of PostgreSQL may return a bigint as text. A type alias, because
 * Kysely asks for an index signature.
 */
export type PeopleTables = {
  /** One row, which every step locks first that may take the last administrator away. */
  latchkey_project: { slot: number; epoch: number }
  /** A row once the host was set up, which stays. */
  latchkey_set_up: { slot: number; at: number }
  latchkey_rights: { user_id: string; granted: Right }
  latchkey_teams: { id: string; name: string; granted: Right; created_at: number }
  latchkey_team_members: { team_id: string; user_id: string; added_at: number }
  latchkey_admin_tokens: AdminTokensTable
}

/** Either `owner_user_id` or `owner_team_id` is set. `spaces`, `commands` and `cidrs` are JSON lists or null. */
export interface AdminTokensTable {
  id: string
  token_hash: string
  name: string
  owner_user_id: string | null
  owner_team_id: string | null
  made_by: string
  spaces: string | null
  commands: string | null
  cidrs: string
  created_at: number
  expires_at: number | null
  last_used_day: number | null
  last_used_network: string | null
}

export type PeopleDatabase = Kysely<Tables & PeopleTables>

/** The same database with the tables of this folder. */
export function withPeople(db: Kysely<Tables>): PeopleDatabase {
  return db.withTables<PeopleTables>()
}
