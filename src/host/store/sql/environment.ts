import type { Kysely } from 'kysely'
import type { Tables } from '../../../store/sql/engine/schema.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { SealedVariable, SpaceKey } from '../../ports.js'
import type { Environment, StoredEnvironment, StoredVariable } from '../spaces.js'
import { holdsClaim } from './claims.js'
import { actorIn, actorText, reading, type VariablesTable, writing } from './space-tables.js'

export function createEnvironment(steps: Steps): Environment {
  return { ...readEnvironment(steps), ...changeEnvironment(steps), ...rotateEnvironment(steps) }
}

function readEnvironment(steps: Steps): Pick<Environment, 'read' | 'wrappingKeys'> {
  return {
    read: (spaceId) => steps.step((db) => readOne(db, spaceId)),

    wrappingKeys: () =>
      steps.step(async (db) => {
        const rows = await reading(db)
          .selectFrom('latchkey_spaces')
          .select(steps.flavour.beforeDot('data_key').as('key_id'))
          .distinct()
          .execute()
        return rows.flatMap(({ key_id }) => (key_id === null ? [] : [key_id]))
      }),
  }
}

/** In one statement: a rotation changes the key and the values together. */
async function readOne(db: Kysely<Tables>, spaceId: string): Promise<StoredEnvironment | null> {
  const rows = await reading(db)
    .selectFrom('latchkey_spaces')
    .leftJoin('latchkey_space_variables', 'latchkey_space_variables.space_id', 'latchkey_spaces.id')
    .select('latchkey_spaces.data_key')
    .selectAll('latchkey_space_variables')
    .where('latchkey_spaces.id', '=', spaceId)
    .orderBy('latchkey_space_variables.name')
    .execute()
  const [first] = rows
  if (!first) return null
  return { key: { space: spaceId, wrapped: first.data_key }, variables: rows.flatMap(toVariables) }
}

function changeEnvironment(steps: Steps): Pick<Environment, 'set' | 'remove'> {
  return {
    set: (claim, variable, audit) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        const { space_id, name, ...columns } = toRow(variable, claim.spaceId)
        await writing(unit.db)
          .insertInto('latchkey_space_variables')
          .values({ space_id, name, ...columns })
          .onConflict((conflict) => conflict.columns(['space_id', 'name']).doUpdateSet(columns))
          .execute()
        unit.audit(audit)
        return true
      }),

    remove: (claim, name, audit) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return 'not_current'
        const { numDeletedRows } = await writing(unit.db)
          .deleteFrom('latchkey_space_variables')
          .where('space_id', '=', claim.spaceId)
          .where('name', '=', name)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return 'absent'
        unit.audit(audit)
        return 'removed'
      }),
  }
}

function rotateEnvironment(steps: Steps): Pick<Environment, 'rewrap' | 'reseal'> {
  return {
    rewrap: (change, audit) =>
      steps.transaction(async (unit) => {
        await lockSpaces(unit)
        const db = writing(unit.db)
        const rows = await db.selectFrom('latchkey_spaces').select(['id', 'data_key']).execute()
        const changed = change(rows.map(({ id, data_key }) => ({ space: id, wrapped: data_key })))
        for (const key of changed) await writeKey(unit, key)
        unit.audit(audit)
        return changed.length
      }),

    reseal: (change, audit) =>
      steps.transaction(async (unit) => {
        await lockSpaces(unit)
        const db = writing(unit.db)
        const held = db.selectFrom('latchkey_spaces').select('name').orderBy('name')
        const busy = await held.where('claim_until_ms', '>', steps.flavour.storeNowMs(0)).execute()
        if (busy.length > 0) return { busy: busy.map(({ name }) => name) }
        await db
          .updateTable('latchkey_spaces')
          .set((eb) => ({ claim_epoch: eb('claim_epoch', '+', 1) }))
          .execute()
        const ids = await db.selectFrom('latchkey_spaces').select('id').execute()
        for (const { id } of ids) {
          const stored = await readOne(unit.db, id)
          if (stored) await writeSealed(unit, change(stored))
        }
        unit.audit(audit)
        return { spaces: ids.length }
      }),
  }
}

/** Before anything is read. */
async function lockSpaces({ db }: Pick<Unit, 'db'>): Promise<void> {
  await writing(db)
    .updateTable('latchkey_spaces')
    .set((eb) => ({ data_key: eb.ref('data_key') }))
    .execute()
}

async function writeKey({ db }: Pick<Unit, 'db'>, { space, wrapped }: SpaceKey): Promise<void> {
  await writing(db).updateTable('latchkey_spaces').set({ data_key: wrapped }).where('id', '=', space).execute()
}

async function writeSealed(
  unit: Pick<Unit, 'db'>,
  { key, variables }: { key: SpaceKey; variables: readonly SealedVariable[] },
): Promise<void> {
  await writeKey(unit, key)
  for (const { name, version, sealed } of variables) {
    await writing(unit.db)
      .updateTable('latchkey_space_variables')
      .set({ sealed })
      .where('space_id', '=', key.space)
      .where('name', '=', name)
      .where('version', '=', version)
      .execute()
  }
}

function toRow({ encrypted, setAt, setBy, ...variable }: StoredVariable, spaceId: string): VariablesTable {
  return {
    space_id: spaceId,
    name: variable.name,
    version: variable.version,
    sealed: variable.sealed,
    encrypted: encrypted ? 1 : 0,
    set_at: setAt,
    set_by: actorText(setBy),
  }
}

/** None for a space without variables, of which the join makes one row of nulls. */
function toVariables(row: { [column in keyof VariablesTable]: VariablesTable[column] | null }): StoredVariable[] {
  const { name, sealed } = row
  if (name === null || sealed === null) return []
  return [
    {
      name,
      version: Number(row.version),
      sealed,
      encrypted: Number(row.encrypted) === 1,
      setAt: Number(row.set_at),
      setBy: actorIn(row.set_by),
    },
  ]
}
