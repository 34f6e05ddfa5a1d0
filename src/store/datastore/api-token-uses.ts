import type { ApiTokens } from '../api-tokens.js'
import { apiTokens } from '../tables.js'
import { changeMany } from './engine/change-many.js'
import type { Steps } from './engine/steps.js'

export function noteApiTokenUses(steps: Steps, scope: string): ApiTokens['touch'] {
  return (uses) =>
    changeMany(steps, apiTokens, {
      items: uses,
      keyOf: ({ id }) => id,
      change: (row, { at }) => {
        const isLater = row.last_used_at === null || row.last_used_at < at
        return isLater && row.scope === scope ? { ...row, last_used_at: at } : null
      },
    })
}
