import type { Steps } from '../../../store/sql/engine/steps.js'
import type { SandboxMark } from '../sandbox-mark.js'
import { reading } from './space-tables.js'

export function createSandboxMark(steps: Steps): SandboxMark {
  return {
    isSet: () =>
      steps.step(async (db) => {
        const row = await reading(db).selectFrom('latchkey_sandbox').select('slot').executeTakeFirst()
        return row !== undefined
      }),

    set: (at) =>
      steps.step(async (db) => {
        await reading(db)
          .insertInto('latchkey_sandbox')
          .values({ slot: 1, at })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }),
  }
}
