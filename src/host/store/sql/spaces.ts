import type { Selectable } from 'kysely'
import { subjectIn } from '../../../model/scope.js'
import { toNumber } from '../../../store/sql/engine/schema.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { Claim, SandboxMark, SpaceRecord, Spaces } from '../spaces.js'
import { holdsClaim } from './claims.js'
import { actorIn, reading, type SpacesTable, writing } from './space-tables.js'

export function createSpaces(steps: Steps): Spaces {
  return { ...readSpaces(steps), ...changeSpaces(steps) }
}

function readSpaces(steps: Steps): Pick<Spaces, 'find' | 'findByName' | 'list' | 'removed'> {
  async function findBy(column: 'id' | 'name', value: string): Promise<SpaceRecord | null> {
    const row = await steps.step((db) =>
      reading(db)
        .selectFrom('latchkey_spaces')
        .selectAll()
        .select(steps.flavour.storeNowMs().as('store_now_ms'))
        .where(column, '=', value)
        .executeTakeFirst(),
    )
    return row ? toSpace(row) : null
  }

  return {
    find: (id) => findBy('id', id),
    findByName: (name) => findBy('name', name),

    list: ({ after, limit }) =>
      steps.step(async (db) => {
        let rows = reading(db)
          .selectFrom('latchkey_spaces')
          .selectAll()
          .select(steps.flavour.storeNowMs().as('store_now_ms'))
        if (after !== null) rows = rows.where('name', '>', after)
        return (await rows.orderBy('name').limit(limit).execute()).map(toSpace)
      }),

    removed: () =>
      steps.step(async (db) => {
        const rows = await reading(db).selectFrom('latchkey_removed_spaces').select('id').execute()
        return rows.map(({ id }) => id)
      }),
  }
}

function changeSpaces(steps: Steps): Pick<Spaces, 'create' | 'remove' | 'forget'> {
  return {
    create: ({ id, name, createdAt, dataKey }, audit) =>
      steps.transaction(async (unit) => {
        const db = writing(unit.db)
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('latchkey_spaces')
          .values({ ...emptySpace, id, name, created_at: createdAt, data_key: '' })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst()
        if (numInsertedOrUpdatedRows === 0n) return false
        await db.updateTable('latchkey_spaces').set({ data_key: dataKey() }).where('id', '=', id).execute()
        unit.audit(audit)
        return true
      }),

    remove: (claim, { until, audit }) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        const gone = await deleteScope(unit, claim)
        await deleteSpace(unit, claim)
        unit.audit(audit)
        unit.change('api_token', gone.tokens, until)
        unit.change('setting', gone.settings, Math.floor(audit.atMs / 1000))
        return true
      }),

    forget: (id) =>
      steps.step(async (db) => {
        await reading(db).deleteFrom('latchkey_removed_spaces').where('id', '=', id).execute()
      }, 'repeatable'),
  }
}

const emptySpace = {
  current_release: null,
  last_release: 0,
  generation: 1,
  last_generation: 1,
  former_generation: null,
  former_until_ms: 0,
  claim_epoch: 0,
  claim_kind: null,
  claim_by: null,
  claim_since_ms: 0,
  claim_until_ms: 0,
} as const

/** API tokens, allow-list and key set. Returns the subjects of their change rows; settings are read again in any case. */
async function deleteScope({ db }: Unit, { spaceId }: Claim): Promise<{ tokens: string[]; settings: string[] }> {
  const tokens = await db.selectFrom('latchkey_api_tokens').select('id').where('scope', '=', spaceId).execute()
  await db.deleteFrom('latchkey_api_tokens').where('scope', '=', spaceId).execute()
  await db.deleteFrom('latchkey_access_entries').where('scope', '=', spaceId).execute()
  await db.deleteFrom('latchkey_key_sets').where('scope', '=', spaceId).execute()
  return {
    tokens: tokens.map(({ id }) => subjectIn(spaceId, id)),
    settings: ['allow_list', 'jwks'].map((setting) => subjectIn(spaceId, setting)),
  }
}

async function deleteSpace(unit: Unit, { spaceId }: Claim): Promise<void> {
  const db = writing(unit.db)
  await db.deleteFrom('latchkey_releases').where('space_id', '=', spaceId).execute()
  await db.deleteFrom('latchkey_space_variables').where('space_id', '=', spaceId).execute()
  await db.deleteFrom('latchkey_backups').where('space_id', '=', spaceId).execute()
  await db.deleteFrom('latchkey_drafts').where('space_id', '=', spaceId).execute()
  await db.deleteFrom('latchkey_removed_tokens').where('space_id', '=', spaceId).execute()
  await db.deleteFrom('latchkey_spaces').where('id', '=', spaceId).execute()
  await db.insertInto('latchkey_removed_spaces').values({ id: spaceId }).execute()
}

/** The store's clock says whether the lease of the claim is over. */
function toSpace(row: Selectable<SpacesTable> & { store_now_ms: number }): SpaceRecord {
  const isClaimed = Number(row.claim_until_ms) > Number(row.store_now_ms)
  return {
    id: row.id,
    name: row.name,
    createdAt: Number(row.created_at),
    release: toNumber(row.current_release),
    generation: Number(row.generation),
    busyWith: isClaimed ? row.claim_kind : null,
    busyBy: isClaimed ? actorIn(row.claim_by) : null,
    busySinceMs: isClaimed ? Number(row.claim_since_ms) : null,
  }
}

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
