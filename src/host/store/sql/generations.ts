import { toNumber } from '../../../store/sql/engine/schema.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { BackupRecord, Backups, Claim, Generations, RemovedTokens } from '../spaces.js'
import { holdsClaim } from './claims.js'
import { actorIn, actorText, type BackupsTable, reading, writing } from './space-tables.js'

export function createGenerations(steps: Steps): Generations {
  return { ...readGenerations(steps), ...draftGenerations(steps), ...switchGenerations(steps) }
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

function draftGenerations(steps: Steps): Pick<Generations, 'beginDraft' | 'renewDraft' | 'endDraft' | 'liveDrafts'> {
  const until = (leaseMs: number) => steps.flavour.storeNowMs(leaseMs)
  return {
    beginDraft: (spaceId, leaseMs) =>
      steps.transaction(async (unit) => {
        const db = writing(unit.db)
        // Locks the row, so the number that is read is ours.
        await db
          .updateTable('latchkey_spaces')
          .set((eb) => ({ last_generation: eb('last_generation', '+', 1) }))
          .where('id', '=', spaceId)
          .execute()
        const row = await db
          .selectFrom('latchkey_spaces')
          .select('last_generation')
          .where('id', '=', spaceId)
          .executeTakeFirst()
        if (!row) return null
        const generation = Number(row.last_generation)
        await db
          .insertInto('latchkey_drafts')
          .values({ space_id: spaceId, generation, until_ms: until(leaseMs) })
          .execute()
        return generation
      }),

    renewDraft: (spaceId, generation, leaseMs) =>
      steps.step(async (db) => {
        const { numUpdatedRows } = await reading(db)
          .updateTable('latchkey_drafts')
          .set({ until_ms: until(leaseMs) })
          .where('space_id', '=', spaceId)
          .where('generation', '=', generation)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }, 'repeatable'),

    endDraft: (spaceId, generation) =>
      steps.step(async (db) => {
        await reading(db)
          .deleteFrom('latchkey_drafts')
          .where('space_id', '=', spaceId)
          .where('generation', '=', generation)
          .execute()
      }, 'repeatable'),

    liveDrafts: (spaceId) =>
      steps.transaction(async (unit) => {
        const db = writing(unit.db)
        await db
          .deleteFrom('latchkey_drafts')
          .where('space_id', '=', spaceId)
          .where('until_ms', '<=', until(0))
          .execute()
        const rows = db.selectFrom('latchkey_drafts').select('generation').where('space_id', '=', spaceId)
        return (await rows.execute()).map(({ generation }) => Number(generation))
      }),
  }
}

function switchGenerations(steps: Steps): Pick<Generations, 'switchTo' | 'forget'> {
  return {
    switchTo: (claim, { generation, isDraft, keepMs, audit }) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        if (isDraft && !(await takeDraft(unit, claim, generation))) return false
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
        unit.audit(audit)
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

/** False: it was given up, and its data may be gone. */
async function takeDraft({ db }: Unit, { spaceId }: Claim, generation: number): Promise<boolean> {
  const { numDeletedRows } = await writing(db)
    .deleteFrom('latchkey_drafts')
    .where('space_id', '=', spaceId)
    .where('generation', '=', generation)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

const keptBackups = 10
/** Parameters of one statement. */
const mostIds = 500

export function createBackups(steps: Steps): Backups {
  return {
    add: (backup) =>
      steps.transaction(async ({ db }) => {
        const rows = writing(db)
        await rows.insertInto('latchkey_backups').values(toRow(backup)).execute()
        const listed = await rows
          .selectFrom('latchkey_backups')
          .select('id')
          .where('space_id', '=', backup.spaceId)
          .orderBy('at', 'desc')
          .orderBy('id')
          .execute()
        const surplus = listed.slice(keptBackups).map(({ id }) => id)
        if (surplus.length > 0) await rows.deleteFrom('latchkey_backups').where('id', 'in', surplus).execute()
      }),

    list: (spaceId) =>
      steps.step(async (db) => {
        const rows = reading(db).selectFrom('latchkey_backups').selectAll().where('space_id', '=', spaceId)
        return (await rows.orderBy('at', 'desc').orderBy('id').execute()).map(toBackup)
      }),
  }
}

export function createRemovedTokens(steps: Steps): RemovedTokens {
  return {
    add: (spaceId, id) =>
      steps.step(async (db) => {
        await reading(db)
          .insertInto('latchkey_removed_tokens')
          .values({ space_id: spaceId, id })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }, 'repeatable'),

    async among(spaceId, ids) {
      const removed: string[] = []
      for (let at = 0; at < ids.length; at += mostIds) {
        const part = ids.slice(at, at + mostIds)
        const rows = await steps.step((db) =>
          reading(db)
            .selectFrom('latchkey_removed_tokens')
            .select('id')
            .where('space_id', '=', spaceId)
            .where('id', 'in', part)
            .execute(),
        )
        removed.push(...rows.map(({ id }) => id))
      }
      return removed
    },
  }
}

function toRow({ id, spaceId, at, bytes, sha256, madeBy }: BackupRecord): BackupsTable {
  return { id, space_id: spaceId, at, bytes, sha256, made_by: actorText(madeBy) }
}

function toBackup(row: BackupsTable): BackupRecord {
  const { id, sha256 } = row
  return {
    id,
    sha256,
    spaceId: row.space_id,
    at: Number(row.at),
    bytes: Number(row.bytes),
    madeBy: actorIn(row.made_by),
  }
}
