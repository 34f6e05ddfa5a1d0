import { textsIn } from '../lib/json-fields.js'
import type { ApiTokenRecord } from '../model/api-token.js'
import type { AuditEvent } from '../model/audit-event.js'
import { subjectIn } from '../model/scope.js'
import { readColumn } from './json-columns.js'
import { type ApiTokensTable, toNumber } from './rows.js'
import { apiTokens } from './tables.js'
import type { Steps, Unit } from './unit.js'

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

/** Of one query. */
const mostHashes = 500

/** All of it but `touch`, which each store writes in a way of its own, because it is called all the time. */
export function createApiTokens(steps: Steps, scope: string): Omit<ApiTokens, 'touch'> {
  async function find(tokenHashes: readonly string[]): Promise<ApiTokenRecord[]> {
    if (tokenHashes.length === 0) return []
    const rows = await steps.glance((view) => view.find(apiTokens, { token_hash: { in: tokenHashes }, scope }))
    return rows.map(toApiToken)
  }

  return {
    findByHash: async (tokenHashes) => (await find(tokenHashes))[0] ?? null,

    async findAllByHash(tokenHashes) {
      const found: ApiTokenRecord[] = []
      for (let at = 0; at < tokenHashes.length; at += mostHashes) {
        found.push(...(await find(tokenHashes.slice(at, at + mostHashes))))
      }
      return found
    },

    list: ({ after, limit }) =>
      steps.glance(async (view) => (await view.newest(apiTokens, after, { query: { scope }, limit })).map(toApiToken)),

    ...changeApiTokens(steps, scope),

    prune: (before, limit) =>
      steps.removeDue(apiTokens, { expires_at: { lt: before } }, { sort: { expires_at: 1 }, limit }),
  }
}

function changeApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'create' | 'remove' | 'rotate'> {
  return {
    create: (token, audit) =>
      steps.transaction(async (unit) => {
        const [same] = await unit.find(apiTokens, { token_hash: token.tokenHash })
        if (same) throw new Error('An API token with that digest is there already.')
        await unit.put(apiTokens, toApiTokenRow(token, scope))
        unit.audit(audit)
      }),

    remove: (id, { until, audit }) =>
      steps.transaction(async (unit) => {
        const row = await findIn(unit, scope, id)
        if (!row) return false
        await unit.remove(apiTokens, [row])
        unit.audit(audit)
        unit.change('api_token', [subjectIn(scope, id)], until)
        return true
      }, false),

    rotate: (replacement, { until, audit }) =>
      steps.transaction(async (unit) => {
        const { id, now } = replacement
        const former = await findIn(unit, scope, id)
        if (!former || former.replaced_by !== null || isOver(former.expires_at, now)) return null
        const { successor, formerEndsAt } = rotatedToken(toApiToken(former), replacement)
        await unit.put(apiTokens, { ...former, replaced_by: successor.id, expires_at: formerEndsAt })
        await unit.put(apiTokens, toApiTokenRow(successor, scope))
        unit.audit(audit)
        unit.change('api_token', [subjectIn(scope, id)], until)
        return successor
      }, null),
  }
}

async function findIn(unit: Unit, scope: string, id: string): Promise<ApiTokensTable | null> {
  const row = await unit.get(apiTokens, { id })
  return row && row.scope === scope ? row : null
}

function isOver(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

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
