import type { Indexes } from '../../ports.js'
import { requireFewIndexes, requirePlanned, stateOf, tablesOf } from '../indexing/index-row.js'
import { createCollection } from './collection-tables.js'
import { buildPage } from './index-build.js'
import { dropIndex, targetOf } from './index-rows.js'
import { scanIndex } from './index-scan.js'
import { numberAt } from './rows.js'
import { entryTable, uniqueTable } from './schema.js'
import type { SchemaReader, SpaceSchema, Unit } from './space-schema.js'

/** The indexes in a space's schema. Its callers have checked names, fields and scans. */
export function createIndexes(space: SpaceSchema, most: number): Indexes {
  return {
    ...readIndexes(space),
    create: (collection, field, isUnique) => space.write((unit) => create(unit, { collection, field, isUnique, most })),
    build: (collection, field) => buildPage(space, collection, field),
    scan: (collection, scan) =>
      space.readAtOnce(async (run) => {
        const { n, indexes } = await targetOf(run, space.schema, collection)
        const index = requirePlanned(indexes.find(({ field }) => field === scan.field) ?? null, scan)
        return n === null ? { documents: [], next: null } : scanIndex(run, space.schema, { n, index, scan })
      }),
    remove: (collection, field) =>
      space.write(async ({ run, schema }) => {
        const { indexes } = await targetOf(run, schema, collection)
        const index = indexes.find((each) => each.field === field)
        if (index) await dropIndex(run, schema, index)
        return index !== undefined
      }),
  }
}

/** What a snapshot has of them. */
export function readIndexes({ schema, read }: SchemaReader): Pick<Indexes, 'list'> {
  return { list: (collection) => read(async (run) => (await targetOf(run, schema, collection)).indexes.map(stateOf)) }
}

async function create(
  { run, schema }: Unit,
  { collection, field, isUnique, most }: { collection: string; field: string; isUnique: boolean; most: number },
): Promise<boolean> {
  const target = await targetOf(run, schema, collection)
  if (target.indexes.some((each) => each.field === field)) return false
  const [sums] = await run(
    `select (select count(*) + count(*) filter (where is_unique) from ${schema}.indexes)
      + (select count(*) from ${schema}.dropped where name not like 'c%') as tables`,
  )
  requireFewIndexes(target.indexes.length, most, numberAt(sums, 'tables'))
  const n = target.n ?? (await createCollection(run, schema, collection))
  const sql = `insert into ${schema}.indexes (n, field, is_unique) values ($1, $2, $3) returning i`
  const { entries, uniqueKeys } = tablesOf(n, numberAt((await run(sql, n, field, isUnique))[0], 'i'))
  await run(entryTable(`${schema}.${entries}`))
  if (isUnique) await run(uniqueTable(`${schema}.${uniqueKeys}`))
  return true
}
