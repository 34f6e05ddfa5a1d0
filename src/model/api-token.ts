import { isoTime } from '../lib/iso-time.js'

/** What a token opens: `READ` allows the methods that change nothing, GET, HEAD and OPTIONS (RFC 9110 §9.2.1). */
export type ApiTokenAccess = 'READ' | 'READWRITE'

/** A token that another program sends instead of signing in. Times are Unix seconds. */
export interface ApiTokenRecord {
  id: string
  /** Keyed digest of the token, `<key id>.<digest>`: the token itself is nowhere. */
  tokenHash: string
  name: string
  access: ApiTokenAccess
  /** Canonical networks that it may come from; empty: from everywhere. */
  cidrs: readonly string[]
  createdAt: number
  /** From when on it is worth nothing; null: never. */
  expiresAt: number | null
  lastUsedAt: number | null
  /** Id of the token that took its place; it ends at `expiresAt` then. */
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
  /** A few seconds late. */
  lastUsedAt: string | null
  replacedBy: string | null
}

/** A new API token, with the one sight of the token itself. */
export interface CreatedApiToken extends ApiTokenEntry {
  /** A UUID, for the header `x-apikey` or the query parameter `apikey`. It cannot be had again. */
  token: string
}

/** What `auth.apiTokens.create` takes. */
export interface NewApiToken {
  /** One line of at most 100 characters that tells its owner which one it is. */
  name: string
  /** Default: `READWRITE`. */
  access?: ApiTokenAccess
  /** A date to come, or its ISO 8601 text. Default: never. */
  expiresAt?: Date | string | null
  /** IP addresses and CIDRs that it may come from, at least one. Default: from everywhere. */
  cidrs?: readonly string[]
}

/** What `auth.apiTokens.rotate` takes. */
export interface ApiTokenRotation {
  /** How long the former token lives on, from `0s` to `7d`. Default: `0s`. */
  overlap?: string
  /** When the new token ends. Default: when the former one would have. */
  expiresAt?: Date | string | null
}

/** What `auth.apiTokens.list` takes. */
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
