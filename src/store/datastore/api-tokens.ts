import type { ApiTokenRecord } from '../../model/api-token.js'
import { subjectIn } from '../../model/scope.js'
import { rotatedToken, toApiToken, toApiTokenRow } from '../api-token-rows.js'
import type { ApiTokens } from '../api-tokens.js'
import { type ApiTokensTable, scopeOf } from '../rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { changeMany } from './engine/change-many.js'
import type { Steps } from './engine/steps.js'
import { apiTokens } from './engine/tables.js'
import { newestBefore } from './newest-before.js'
import { removeDue } from './prune.js'

/** Of one query. */
const mostHashes = 500

/** The scope is compared here and is in no query, because documents of earlier releases have none. */
export function createApiTokens(steps: Steps, scope: string): ApiTokens {
  return { ...readApiTokens(steps, scope), ...changeApiTokens(steps, scope), ...useApiTokens(steps, scope) }
}

function readApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'findByHash' | 'findAllByHash' | 'list'> {
  async function find(tokenHashes: readonly string[]): Promise<ApiTokenRecord[]> {
    const rows = await steps.glance((view) => view.find(apiTokens, { token_hash: { in: tokenHashes } }))
    return rows.filter((row) => scopeOf(row) === scope).map(toApiToken)
  }

  return {
    async findByHash(tokenHashes) {
      if (tokenHashes.length === 0) return null
      const [token] = await find(tokenHashes)
      return token ?? null
    },

    async findAllByHash(tokenHashes) {
      const found: ApiTokenRecord[] = []
      for (let at = 0; at < tokenHashes.length; at += mostHashes) {
        found.push(...(await find(tokenHashes.slice(at, at + mostHashes))))
      }
      return found
    },

    list: ({ after, limit }) =>
      steps.glance(async (view) => {
        const keep = (row: ApiTokensTable) => scopeOf(row) === scope
        return (await newestBefore(view, apiTokens, after, { limit, keep })).map(toApiToken)
      }),
  }
}

function changeApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'create' | 'remove' | 'rotate'> {
  return {
    create: (token, audit) =>
      steps.step(async (unit) => {
        const [same] = await unit.find(apiTokens, { token_hash: token.tokenHash })
        if (same) throw new Error('An API token with that digest is there already.')
        unit.put(apiTokens, toApiTokenRow(token, scope))
        await writeAudit(unit, audit)
      }),

    remove: (id, { until, audit }) =>
      steps.step(async (unit) => {
        const row = await unit.get(apiTokens, id)
        if (!row || scopeOf(row) !== scope) return false
        unit.remove(apiTokens, [row])
        await writeAudit(unit, audit)
        writeChanges(unit, 'api_token', [subjectIn(scope, id)], until)
        return true
      }),

    rotate: (replacement, { until, audit }) =>
      steps.step(async (unit) => {
        const { id, now } = replacement
        const former = await unit.get(apiTokens, id)
        if (!former || scopeOf(former) !== scope) return null
        if (former.replaced_by !== null || isOver(former.expires_at, now)) return null
        const { successor, formerEndsAt } = rotatedToken(toApiToken(former), replacement)
        unit.put(apiTokens, toApiTokenRow(successor, scope))
        unit.put(apiTokens, { ...former, replaced_by: successor.id, expires_at: formerEndsAt })
        await writeAudit(unit, audit)
        writeChanges(unit, 'api_token', [subjectIn(scope, id)], until)
        return successor
      }),
  }
}

function useApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'touch' | 'prune'> {
  return {
    touch: (uses) =>
      changeMany(steps, apiTokens, {
        items: uses,
        keyOf: ({ id }) => id,
        change: (row, { at }) => {
          const isLater = row.last_used_at === null || row.last_used_at < at
          return isLater && scopeOf(row) === scope ? { ...row, last_used_at: at } : null
        },
      }),

    prune: (before, count) =>
      removeDue(steps, apiTokens, (view) =>
        view.find(apiTokens, { expires_at: { lt: before } }, { sort: { expires_at: 1 }, limit: count }),
      ),
  }
}

function isOver(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}
