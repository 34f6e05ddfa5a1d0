import { writeAudit } from '../../../store/sql/audit.js'
import { toNumber } from '../../../store/sql/engine/schema.js'
import type { Steps } from '../../../store/sql/engine/steps.js'
import type { Generations } from '../generations.js'
import { holdsClaim, updateClaimed } from './claims.js'
import { reading, writing } from './space-tables.js'

export function createGenerations(steps: Steps): Generations {
  return { ...readGenerations(steps), ...switchGenerations(steps) }
}

function readGenerations(steps: Steps): Pick<Generations, 'read'> {
  return {
    read: (spaceId) =>
      steps.step(async (db) => {
        const row = await reading(db)
          .selectFrom('latchkey_spaces')
          .select(['generation', 'former_generation', 'former_until_ms'])
          .select(steps.flavour.storeNowMs().as('store_now_ms'))
          .where('id', '=', spaceId)
          .executeTakeFirst()
        if (!row) return null
        return {
          current: Number(row.generation),
          former: toNumber(row.former_generation),
          isFormerKept: Number(row.former_until_ms) > Number(row.store_now_ms),
        }
      }),
  }
}

function switchGenerations(steps: Steps): Omit<Generations, 'read'> {
  return {
    reserve: (claim) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return null
        const { last_generation } = await writing(unit.db)
          .selectFrom('latchkey_spaces')
          .select('last_generation')
          .where('id', '=', claim.spaceId)
          .executeTakeFirstOrThrow()
        const generation = Number(last_generation) + 1
        await updateClaimed(unit, claim, { last_generation: generation })
        return generation
      }),

    switchTo: (claim, { generation, keepMs, audit }) =>
      steps.transaction(async (unit) => {
        const { numUpdatedRows } = await writing(unit.db)
          .updateTable('latchkey_spaces')
          .set((eb) => ({
            generation,
            former_generation: eb.ref('generation'),
            former_until_ms: steps.flavour.storeNowMs(keepMs),
          }))
          .where('id', '=', claim.spaceId)
          .where('claim_epoch', '=', claim.epoch)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await writeAudit(unit, audit)
        return true
      }),

    forget: (claim, former) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        await writing(unit.db)
          .updateTable('latchkey_spaces')
          .set({ former_generation: null, former_until_ms: 0 })
          .where('id', '=', claim.spaceId)
          .where('former_generation', '=', former)
          .execute()
        return true
      }),
  }
}
