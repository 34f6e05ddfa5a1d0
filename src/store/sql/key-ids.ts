import type { KeyIds } from '../key-ids.js'
import type { Steps } from './engine/steps.js'

export function createKeyIds(steps: Steps): KeyIds {
  return {
    async note(kid, now) {
      await steps.step((db) => {
        const insert = db.insertInto('latchkey_key_ids').values({ kid, first_used_at: now })
        const insertOnce =
          steps.flavour.name === 'mysql' ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())
        return insertOnce.execute()
      })
    },

    list: () =>
      steps.step(async (db) => {
        const rows = await db.selectFrom('latchkey_key_ids').selectAll().orderBy('first_used_at').execute()
        return rows.map((row) => ({ kid: row.kid, firstUsedAt: Number(row.first_used_at) }))
      }),
  }
}
