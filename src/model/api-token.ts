import type { ApiTokenAccess, ApiTokenEntry } from '../contract/api-tokens.js'
import type { Duration } from '../lib/duration.js'
import { isoTime } from '../lib/iso-time.js'

/** A token that another program sends instead of signing in. Times are Unix seconds. */
export interface ApiTokenRecord {
  id: string
  /** Keyed digest of the token, `<key id>.<digest>`. The token itself is not stored. */
  tokenHash: string
  name: string
  access: ApiTokenAccess
  /** Canonical networks that the token is accepted from; empty: from everywhere. */
  cidrs: readonly string[]
  createdAt: number
  /** From when on the token is invalid; null: never. */
  expiresAt: number | null
  lastUsedAt: number | null
  /** Id of the token that replaced this one. This one then ends at `expiresAt`. */
  replacedBy: string | null
}

/** The input of `auth.apiTokens.create`. */
export interface NewApiToken {
  /** One line of at most 100 characters by which its owner recognises the token. */
  name: string
  /** Default: `READWRITE`. */
  access?: ApiTokenAccess | undefined
  /** A future date, or its ISO 8601 text. Default: never. */
  expiresAt?: Date | string | null | undefined
  /** IP addresses and CIDRs that the token is accepted from, at least one. Default: from everywhere. */
  cidrs?: readonly string[] | undefined
}

/** The input of `auth.apiTokens.rotate`. */
export interface ApiTokenRotation {
  /** How long the former token stays valid, from `0s` to `7d`. Default: `0s`. */
  overlap?: Duration | undefined
  /** When the new token ends. Default: the end of the former one. */
  expiresAt?: Date | string | null | undefined
}

/** The input of `auth.apiTokens.list`. */
export interface ApiTokenFilter {
  /** How many, 1 to 200. Default: 50. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export function toApiTokenEntry({ tokenHash: _, ...token }: ApiTokenRecord): ApiTokenEntry {
  return {
    ...token,
    createdAt: isoTime(token.createdAt),
    expiresAt: orNull(token.expiresAt),
    lastUsedAt: orNull(token.lastUsedAt),
  }
}

function orNull(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(seconds)
}
