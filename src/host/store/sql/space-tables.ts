import type { Kysely, Transaction } from 'kysely'
import { type Actor, parseActor } from '../../../model/actor.js'
import type { Tables } from '../../../store/sql/engine/schema.js'
import type { ClaimKind, ReleaseRecord } from '../spaces.js'

/** As in the store of accounts: a boolean is 0 or 1, JSON is text, and every number that is read goes through `Number()`. */
type SpaceTables = {
  latchkey_spaces: SpacesTable
  latchkey_removed_spaces: { id: string }
  latchkey_releases: ReleasesTable
  latchkey_space_variables: VariablesTable
  latchkey_backups: BackupsTable
  latchkey_removed_tokens: { space_id: string; id: string }
  latchkey_drafts: { space_id: string; generation: number; until_ms: number }
  latchkey_sandbox: { slot: number; at: number }
}

export interface SpacesTable {
  id: string
  name: string
  created_at: number
  current_release: number | null
  /** The highest number that was reserved. */
  last_release: number
  generation: number
  /** The highest number that was reserved. */
  last_generation: number
  former_generation: number | null
  former_until_ms: number
  data_key: string
  /** Rises with each claim and each release of one. */
  claim_epoch: number
  claim_kind: ClaimKind | null
  claim_by: string | null
  claim_since_ms: number
  /** 0: free. */
  claim_until_ms: number
}

export interface ReleasesTable {
  space_id: string
  number: number
  sha256: string
  bytes: number
  git_hash: string | null
  git_branch: string | null
  dirty: 0 | 1 | null
  tool: string
  author: string | null
  created_at: number
  outcome: ReleaseRecord['outcome']
  fault: string | null
}

export interface VariablesTable {
  space_id: string
  name: string
  version: number
  sealed: string
  encrypted: 0 | 1
  set_at: number
  set_by: string | null
}

export interface BackupsTable {
  id: string
  space_id: string
  at: number
  bytes: number
  sha256: string
  made_by: string | null
}

/** The database with the tables of the space host. */
export function reading(db: Kysely<Tables>): Kysely<Tables & SpaceTables> {
  return db.withTables<SpaceTables>()
}

export function writing(db: Transaction<Tables>): Transaction<Tables & SpaceTables> {
  return db.withTables<SpaceTables>()
}

export function actorText(actor: Actor | null): string | null {
  return actor && JSON.stringify(actor)
}

export function actorIn(text: string | null): Actor | null {
  return text === null ? null : parseActor(text)
}
