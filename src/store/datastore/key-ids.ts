import type { KeyIds } from '../key-ids.js'
import type { Steps } from './engine/steps.js'
import { keyIds } from './engine/tables.js'

export function createKeyIds(steps: Steps): KeyIds {
  return {
    note: (kid, now) =>
      steps.step(async (unit) => {
        if (!(await unit.get(keyIds, kid))) unit.put(keyIds, { kid, first_used_at: now })
      }),

    list: () =>
      steps.glance(async (view) => {
        const rows = await view.find(keyIds, {})
        return rows
          .map((row) => ({ kid: row.kid, firstUsedAt: row.first_used_at }))
          .sort((one, other) => one.firstUsedAt - other.firstUsedAt)
      }),
  }
}
