import type { Updateable } from 'kysely'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { Claim, Claims } from '../claims.js'
import { reading, type SpacesTable, writing } from './space-tables.js'

export function createClaims(steps: Steps): Claims {
  const until = (leaseMs: number) => steps.flavour.storeNowMs(leaseMs)
  return {
    take: (spaceId, kind, leaseMs) =>
      steps.transaction(async (unit) => {
        const db = writing(unit.db)
        const { numUpdatedRows } = await db
          .updateTable('latchkey_spaces')
          .set((eb) => ({
            claim_epoch: eb('claim_epoch', '+', 1),
            claim_kind: kind,
            claim_until_ms: until(leaseMs),
          }))
          .where('id', '=', spaceId)
          .where('claim_until_ms', '<=', until(0))
          .executeTakeFirst()
        const row = await db
          .selectFrom('latchkey_spaces')
          .select(['claim_epoch', 'claim_kind'])
          .where('id', '=', spaceId)
          .executeTakeFirst()
        if (!row) return null
        if (numUpdatedRows > 0n) return { spaceId, epoch: Number(row.claim_epoch) }
        return { heldFor: row.claim_kind ?? kind }
      }),

    renew: ({ spaceId, epoch }, leaseMs) =>
      steps.step(async (db) => {
        const { numUpdatedRows } = await reading(db)
          .updateTable('latchkey_spaces')
          .set({ claim_until_ms: until(leaseMs) })
          .where('id', '=', spaceId)
          .where('claim_epoch', '=', epoch)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }, 'repeatable'),

    release: ({ spaceId, epoch }) =>
      steps.step(async (db) => {
        await reading(db)
          .updateTable('latchkey_spaces')
          .set({ claim_epoch: epoch + 1, claim_kind: null, claim_until_ms: 0 })
          .where('id', '=', spaceId)
          .where('claim_epoch', '=', epoch)
          .execute()
      }, 'repeatable'),
  }
}

/**
 * The first write of every step under a claim. It locks the space's row, so no other process takes the claim before the
 * commit. False: the claim is lost.
 */
export function holdsClaim(unit: Pick<Unit, 'db'>, claim: Claim): Promise<boolean> {
  return updateClaimed(unit, claim, { claim_epoch: claim.epoch })
}

/** Changes the space's row in one statement, if the space still has the epoch of the claim. */
export async function updateClaimed(
  { db }: Pick<Unit, 'db'>,
  { spaceId, epoch }: Claim,
  change: Partial<Updateable<SpacesTable>>,
): Promise<boolean> {
  const { numUpdatedRows } = await writing(db)
    .updateTable('latchkey_spaces')
    .set(change)
    .where('id', '=', spaceId)
    .where('claim_epoch', '=', epoch)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
