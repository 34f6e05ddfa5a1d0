import type { Duration } from '../lib/duration.js'
import { isoTime } from '../lib/iso-time.js'

/** What a token may do: `READ` allows the safe methods GET, HEAD and OPTIONS (RFC 9110 §9.2.1). */
export type ApiTokenAccess = 'READ' | 'READWRITE'

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

/** An API token as the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export interface ApiTokenEntry {
  id: string
  name: string
  access: ApiTokenAccess
  cidrs: readonly string[]
  createdAt: string
  expiresAt: string | null
  /** Written a few seconds late. */
  lastUsedAt: string | null
  replacedBy: string | null
}

/** A new API token. This is the only time that the token itself is shown. */
export interface CreatedApiToken extends ApiTokenEntry {
  /** A UUID, for the header `x-apikey` or the query parameter `apikey`. It cannot be shown again. */
  token: string
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

export function toApiTokenEntry(record: ApiTokenRecord): ApiTokenEntry {
  return {
    id: record.id,
    name: record.name,
    access: record.access,
    cidrs: record.cidrs,
    createdAt: isoTime(record.createdAt),
    expiresAt: orNull(record.expiresAt),
    lastUsedAt: orNull(record.lastUsedAt),
    replacedBy: record.replacedBy,
  }
}

function orNull(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(seconds)
}
