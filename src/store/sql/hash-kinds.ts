import type { HashKinds } from '../hash-kinds.js'
import type { Steps } from './engine/steps.js'

export function createHashKinds(steps: Steps): HashKinds {
  return {
    async slowest() {
      const row = await steps.step((db) =>
        db.selectFrom('latchkey_installation').select(['hash_name', 'hash_ms']).executeTakeFirst(),
      )
      if (!row || row.hash_name === null) return null
      return { name: row.hash_name, milliseconds: Number(row.hash_ms) }
    },

    async note({ name, milliseconds }) {
      const rounded = Math.round(milliseconds)
      await steps.step((db) =>
        db
          .updateTable('latchkey_installation')
          .set({ hash_name: name, hash_ms: rounded })
          .where('hash_ms', '<', rounded)
          .execute(),
      )
    },
  }
}
