import type { ApiTokenRecord } from '../model/api-token.js'
import type { AuditEvent } from '../model/audit-event.js'

/** What accompanies a change of a token, in the same step. */
export interface ApiTokenStep {
  /** Until when (Unix seconds) another process may still remember the token as it was. */
  until: number
  audit: AuditEvent
}

export interface ApiTokenReplacement {
  id: string
  /** The successor's own columns. It takes the rest from the former token. */
  successor: Pick<ApiTokenRecord, 'id' | 'tokenHash' | 'createdAt'>
  /** When the successor ends (null: never). Left out: the former token's end. */
  expiresAt?: number | null
  /** When the former token ends, unless it ends sooner already. */
  endsAt: number
  /** Unix seconds. */
  now: number
}

/** A use of a token, Unix seconds. */
export interface ApiTokenUse {
  id: string
  at: number
}

/** Tokens of other programs, those of one scope. A change row reports every change and removal. */
export interface ApiTokens {
  /** Ids and digests are unique over all scopes; a second one rejects. */
  create(token: ApiTokenRecord, audit: AuditEvent): Promise<void>

  /** The token with one of these digests, also an expired one; or null. */
  findByHash(tokenHashes: readonly string[]): Promise<ApiTokenRecord | null>

  /** All tokens with one of these digests, also expired ones, in no order: a query for each 500 digests. */
  findAllByHash(tokenHashes: readonly string[]): Promise<ApiTokenRecord[]>

  /** Newest first, expired ones too; `after` names the last of the previous page. */
  list(page: { after: Pick<ApiTokenRecord, 'createdAt' | 'id'> | null; limit: number }): Promise<ApiTokenRecord[]>

  /** False when there was none. Of concurrent calls, exactly one is true. */
  remove(id: string, step: ApiTokenStep): Promise<boolean>

  /**
   * Creates a successor for a live token that has none, and returns it; otherwise null, and nothing changed. Of concurrent
   * calls, exactly one gets a successor.
   */
  rotate(replacement: ApiTokenReplacement, step: ApiTokenStep): Promise<ApiTokenRecord | null>

  /** Writes when tokens were last used. The time only moves forward; removed tokens are skipped. */
  touch(uses: readonly ApiTokenUse[]): Promise<void>

  /** Forgets up to `count` tokens of every scope that expired before that moment (Unix seconds); returns how many. */
  prune(before: number, count: number): Promise<number>
}
