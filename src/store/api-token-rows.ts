import { textsIn } from '../lib/json-fields.js'
import type { ApiTokenRecord } from '../model/api-token.js'
import type { ApiTokenReplacement } from './api-tokens.js'
import { readColumn } from './json-columns.js'
import { type ApiTokensTable, toNumber } from './rows.js'

export function toApiTokenRow(token: ApiTokenRecord, scope: string): ApiTokensTable {
  return {
    scope,
    id: token.id,
    token_hash: token.tokenHash,
    name: token.name,
    access: token.access,
    cidrs: JSON.stringify(token.cidrs),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    replaced_by: token.replacedBy,
  }
}

export function toApiToken(row: ApiTokensTable): ApiTokenRecord {
  return {
    id: row.id,
    tokenHash: row.token_hash,
    name: row.name,
    access: row.access,
    cidrs: readColumn(row, 'cidrs', textsIn),
    createdAt: Number(row.created_at),
    expiresAt: toNumber(row.expires_at),
    lastUsedAt: toNumber(row.last_used_at),
    replacedBy: row.replaced_by,
  }
}

/** What a rotation makes of a token: its successor, and the second at which it ends itself. */
export function rotatedToken(
  former: ApiTokenRecord,
  { successor, expiresAt, endsAt }: ApiTokenReplacement,
): { successor: ApiTokenRecord; formerEndsAt: number } {
  return {
    successor: {
      ...former,
      ...successor,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      lastUsedAt: null,
      replacedBy: null,
    },
    // A token that would have ended sooner still does.
    formerEndsAt: Math.min(former.expiresAt ?? endsAt, endsAt),
  }
}
