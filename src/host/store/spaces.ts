import type { Actor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { Claim, ClaimKind } from './claims.js'

/** A space: database, code, tokens, key set, allow-list and environment of one application. */
export interface SpaceRecord {
  /** 16 random bytes, base64url. Never used again. */
  id: string
  /** Free again after the space is removed. */
  name: string
  /** Unix seconds. */
  createdAt: number
  /** The number of the release in force; null: nothing is deployed. */
  release: number | null
  /** Which file holds the data, from 1 on. */
  generation: number
  /** What holds its claim; null: nothing. */
  busyWith: ClaimKind | null
  /** By whom; null also where that is unknown. */
  busyBy: Actor | null
  /** Since when, Unix milliseconds. */
  busySinceMs: number | null
}

export interface NewSpace extends Pick<SpaceRecord, 'id' | 'name' | 'createdAt'> {
  /**
   * Makes the data key of its environment, wrapped. Called inside the step: a rotation comes before it, and has added its key
   * to the file by then, or after it, and wraps this one again.
   */
  dataKey(): string
}

export interface Spaces {
  /** False: another space has the name. */
  create(space: NewSpace, audit: AuditEvent): Promise<boolean>

  find(id: string): Promise<SpaceRecord | null>
  findByName(name: string): Promise<SpaceRecord | null>

  /** By name; `after` names the last of the previous page. */
  list(page: { after: string | null; limit: number }): Promise<SpaceRecord[]>

  /**
   * Removes the space with its API tokens, access settings, releases and environment. Change rows report the tokens and
   * settings. Its id is kept until `forget`, because its files are still there. False: the claim is lost.
   *
   * @param until until when (Unix seconds) another process may still remember a token
   */
  remove(claim: Claim, step: { until: number; audit: AuditEvent }): Promise<boolean>

  /** Ids of removed spaces whose files may still be there. */
  removed(): Promise<string[]>

  /** The files of a removed space are gone. */
  forget(id: string): Promise<void>
}
