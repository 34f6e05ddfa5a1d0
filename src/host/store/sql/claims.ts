import type { Updateable } from 'kysely'
import type { Actor } from '../../../model/actor.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { Claim, ClaimKind, Claims, HeldClaim } from '../spaces.js'
import { actorIn, actorText, reading, type SpacesTable, writing } from './space-tables.js'

export function createClaims(steps: Steps): Claims {
  return { ...takeClaims(steps), ...keepClaims(steps) }
}

function takeClaims(steps: Steps): Pick<Claims, 'take' | 'takeOver'> {
  return {
    take: (spaceId, kind, leaseMs, by = null) =>
      steps.transaction(async (unit) => {
        const held = await lockedHolder(unit, spaceId)
        if (held === null) return null
        const isOwn = held !== 'free' && held.heldFor === 'hold' && isSameUser(held.by, by)
        if (held !== 'free' && !isOwn) return held
        return { spaceId, epoch: await give(unit, spaceId, { kind, leaseMs, by }) }
      }),

    takeOver: (spaceId, { by, leaseMs, audit }) =>
      steps.transaction(async (unit) => {
        const held = await lockedHolder(unit, spaceId)
        if (held === null || held === 'free') return null
        await give(unit, spaceId, { kind: 'hold', leaseMs, by })
        unit.audit(audit(held))
        return held
      }),
  }
}

/** Locks the row of the space until the commit. Null: there is no such space. */
async function lockedHolder(unit: Unit, spaceId: string): Promise<HeldClaim | 'free' | null> {
  const db = writing(unit.db)
  await db
    .updateTable('latchkey_spaces')
    .set((eb) => ({ claim_epoch: eb.ref('claim_epoch') }))
    .where('id', '=', spaceId)
    .execute()
  const row = await db
    .selectFrom('latchkey_spaces')
    .select(['claim_kind', 'claim_by', 'claim_since_ms', 'claim_until_ms'])
    .select(unit.flavour.storeNowMs().as('store_now_ms'))
    .where('id', '=', spaceId)
    .executeTakeFirst()
  if (!row) return null
  const isFree = row.claim_kind === null || Number(row.claim_until_ms) <= Number(row.store_now_ms)
  if (isFree || row.claim_kind === null) return 'free'
  return { heldFor: row.claim_kind, by: actorIn(row.claim_by), sinceMs: Number(row.claim_since_ms) }
}

/** The new epoch. */
async function give(
  { db, flavour }: Unit,
  spaceId: string,
  { kind, leaseMs, by }: { kind: ClaimKind; leaseMs: number; by: Actor | null },
): Promise<number> {
  const spaces = writing(db)
  await spaces
    .updateTable('latchkey_spaces')
    .set((eb) => ({
      claim_epoch: eb('claim_epoch', '+', 1),
      claim_kind: kind,
      claim_by: actorText(by),
      claim_since_ms: flavour.storeNowMs(),
      claim_until_ms: flavour.storeNowMs(leaseMs),
    }))
    .where('id', '=', spaceId)
    .execute()
  const row = spaces.selectFrom('latchkey_spaces').select('claim_epoch').where('id', '=', spaceId)
  return Number((await row.executeTakeFirstOrThrow()).claim_epoch)
}

/** In any session: the page takes over, and the tool goes on. */
function isSameUser(one: Actor | null, other: Actor | null): boolean {
  return one?.kind === 'user' && other?.kind === 'user' && one.userId === other.userId
}

function keepClaims(steps: Steps): Pick<Claims, 'renew' | 'release'> {
  const until = (leaseMs: number) => steps.flavour.storeNowMs(leaseMs)
  return {
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
          .set({ claim_epoch: epoch + 1, claim_kind: null, claim_by: null, claim_until_ms: 0 })
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
