import type { ApiTokenRecord } from '../model/api-token.js'
import type { AuditEvent } from '../model/audit-event.js'

/** What goes with a change of a token, in the same step. */
export interface ApiTokenStep {
  /** Until when (Unix seconds) another process may still remember the token as it was. */
  until: number
  audit: AuditEvent
}

export interface ApiTokenReplacement {
  id: string
  /** What the successor has of its own; the rest is the former token's. */
  successor: Pick<ApiTokenRecord, 'id' | 'tokenHash' | 'createdAt'>
  /** When the successor ends (null: never); left out: when the former token would have. */
  expiresAt?: number | null
  /** When the former token ends, unless it would have sooner. */
  endsAt: number
  /** Unix seconds. */
  now: number
}

/** A use of a token, Unix seconds. */
export interface ApiTokenUse {
  id: string
  at: number
}

/** Tokens of other programs. What changes or removes one is told by a change row. */
export interface ApiTokens {
  create(token: ApiTokenRecord, audit: AuditEvent): Promise<void>

  /** The token with one of these digests, also an expired one; or null. */
  findByHash(tokenHashes: readonly string[]): Promise<ApiTokenRecord | null>

  /** Newest first, expired ones too; `after` names the last of the page before. */
  list(page: { after: Pick<ApiTokenRecord, 'createdAt' | 'id'> | null; limit: number }): Promise<ApiTokenRecord[]>

  /** False when there was none. Of concurrent calls, exactly one is true. */
  remove(id: string, step: ApiTokenStep): Promise<boolean>

  /**
   * Puts a successor in the place of a token that lives and has none, and returns it; else null, and nothing changed. Of
   * concurrent calls, exactly one gets a successor.
   */
  rotate(replacement: ApiTokenReplacement, step: ApiTokenStep): Promise<ApiTokenRecord | null>

  /** Writes when tokens were last used; only ever moves forward. Nothing happens to one that is gone. */
  touch(uses: readonly ApiTokenUse[]): Promise<void>

  /** Forgets up to `count` tokens that expired before that moment (Unix seconds); returns how many. */
  prune(before: number, count: number): Promise<number>
}
