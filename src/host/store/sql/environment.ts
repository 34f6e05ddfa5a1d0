import { writeAudit } from '../../../store/sql/audit.js'
import type { Steps } from '../../../store/sql/engine/steps.js'
import type { Environment, StoredVariable } from '../environment.js'
import { holdsClaim } from './claims.js'
import { actorIn, actorText, reading, type VariablesTable, writing } from './space-tables.js'

export function createEnvironment(steps: Steps): Environment {
  return { ...readEnvironment(steps), ...changeEnvironment(steps) }
}

function readEnvironment(steps: Steps): Pick<Environment, 'read' | 'wrappingKeys'> {
  return {
    read: (spaceId) =>
      steps.step(async (db) => {
        const space = await reading(db)
          .selectFrom('latchkey_spaces')
          .select('data_key')
          .where('id', '=', spaceId)
          .executeTakeFirst()
        if (!space) return null
        const rows = await reading(db)
          .selectFrom('latchkey_space_variables')
          .selectAll()
          .where('space_id', '=', spaceId)
          .orderBy('name')
          .execute()
        return { key: { space: spaceId, wrapped: space.data_key }, variables: rows.map(toVariable) }
      }),

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

function changeEnvironment(steps: Steps): Pick<Environment, 'set' | 'remove' | 'rewrap'> {
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
        await writeAudit(unit, audit)
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
        await writeAudit(unit, audit)
        return 'removed'
      }),

    rewrap: (change) =>
      steps.transaction(async (unit) => {
        const db = writing(unit.db)
        // Locks every row before it is read.
        await db
          .updateTable('latchkey_spaces')
          .set((eb) => ({ data_key: eb.ref('data_key') }))
          .execute()
        const rows = await db.selectFrom('latchkey_spaces').select(['id', 'data_key']).execute()
        const changed = change(rows.map(({ id, data_key }) => ({ space: id, wrapped: data_key })))
        for (const { space, wrapped } of changed) {
          await db.updateTable('latchkey_spaces').set({ data_key: wrapped }).where('id', '=', space).execute()
        }
        return changed.length
      }),
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

function toVariable(row: VariablesTable): StoredVariable {
  return {
    name: row.name,
    version: Number(row.version),
    sealed: row.sealed,
    encrypted: Number(row.encrypted) === 1,
    setAt: Number(row.set_at),
    setBy: actorIn(row.set_by),
  }
}
