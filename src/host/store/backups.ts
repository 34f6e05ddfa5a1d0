import type { Actor } from '../../model/actor.js'

/** A backup that was sent whole. */
export interface BackupRecord {
  /** Random. */
  id: string
  spaceId: string
  /** Unix seconds: the moment that its data is of. */
  at: number
  /** Of the archive. */
  bytes: number
  /** Of the archive, hexadecimal. */
  sha256: string
  madeBy: Actor | null
}

export interface Backups {
  /** Keeps the newest ten of the space. */
  add(backup: BackupRecord): Promise<void>
  /** Newest first. */
  list(spaceId: string): Promise<BackupRecord[]>
}

/** API tokens that were removed or replaced, which no backup brings back. */
export interface RemovedTokens {
  /** Called before the token goes: a crash in between does not leave it out. */
  add(spaceId: string, id: string): Promise<void>
  /** Those of the ids that were removed. */
  among(spaceId: string, ids: readonly string[]): Promise<string[]>
}
