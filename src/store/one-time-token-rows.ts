import type { OneTimeToken } from '../model/one-time-token.js'
import type { OneTimeTokensTable } from './rows.js'

export function toTokenRow(token: OneTimeToken, unit: { ordinal(): number }): OneTimeTokensTable {
  return {
    id: token.id,
    ordinal: unit.ordinal(),
    purpose: token.purpose,
    subject: token.subject,
    user_id: token.userId,
    email: token.email,
    token_hash: token.tokenHash,
    code_hash: token.codeHash,
    handle_hash: token.handleHash,
    payload: token.payload,
    tries: token.tries,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
  }
}

export function toToken(row: OneTimeTokensTable): OneTimeToken {
  return {
    id: row.id,
    purpose: row.purpose,
    subject: row.subject,
    userId: row.user_id,
    email: row.email,
    tokenHash: row.token_hash,
    codeHash: row.code_hash,
    handleHash: row.handle_hash,
    payload: row.payload,
    tries: Number(row.tries),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  }
}
