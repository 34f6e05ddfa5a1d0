import { rotatedToken, toApiToken, toApiTokenRow } from '../api-token-rows.js'
import type { ApiTokens } from '../api-tokens.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { changeMany } from './engine/change-many.js'
import type { Steps } from './engine/steps.js'
import { apiTokens } from './engine/tables.js'
import { newestBefore } from './newest-before.js'
import { removeDue } from './prune.js'

export function createApiTokens(steps: Steps): ApiTokens {
  return { ...readApiTokens(steps), ...changeApiTokens(steps), ...useApiTokens(steps) }
}

function readApiTokens(steps: Steps): Pick<ApiTokens, 'findByHash' | 'list'> {
  return {
    async findByHash(tokenHashes) {
      if (tokenHashes.length === 0) return null
      const [row] = await steps.glance((view) => view.find(apiTokens, { token_hash: { in: tokenHashes } }))
      return row ? toApiToken(row) : null
    },

    list: ({ after, limit }) =>
      steps.glance(async (view) => (await newestBefore(view, apiTokens, after, { limit })).map(toApiToken)),
  }
}

function changeApiTokens(steps: Steps): Pick<ApiTokens, 'create' | 'remove' | 'rotate'> {
  return {
    create: (token, audit) =>
      steps.step(async (unit) => {
        const [same] = await unit.find(apiTokens, { token_hash: token.tokenHash })
        if (same) throw new Error('An API token with that digest is there already.')
        unit.put(apiTokens, toApiTokenRow(token))
        await writeAudit(unit, audit)
      }),

    remove: (id, { until, audit }) =>
      steps.step(async (unit) => {
        const row = await unit.get(apiTokens, id)
        if (!row) return false
        unit.remove(apiTokens, [row])
        await writeAudit(unit, audit)
        writeChanges(unit, 'api_token', [id], until)
        return true
      }),

    rotate: (replacement, { until, audit }) =>
      steps.step(async (unit) => {
        const { id, now } = replacement
        const former = await unit.get(apiTokens, id)
        if (!former || former.replaced_by !== null || isOver(former.expires_at, now)) return null
        const { successor, formerEndsAt } = rotatedToken(toApiToken(former), replacement)
        unit.put(apiTokens, toApiTokenRow(successor))
        unit.put(apiTokens, { ...former, replaced_by: successor.id, expires_at: formerEndsAt })
        await writeAudit(unit, audit)
        writeChanges(unit, 'api_token', [id], until)
        return successor
      }),
  }
}

function useApiTokens(steps: Steps): Pick<ApiTokens, 'touch' | 'prune'> {
  return {
    touch: (uses) =>
      changeMany(steps, apiTokens, {
        items: uses,
        keyOf: ({ id }) => id,
        change: (row, { at }) =>
          row.last_used_at === null || row.last_used_at < at ? { ...row, last_used_at: at } : null,
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
