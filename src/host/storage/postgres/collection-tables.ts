import { requireFewCollections } from '../indexing/written-rows.js'
import type { Run } from './pool.js'
import { numberAt } from './rows.js'
import { collectionTable } from './schema.js'

/** The name of a collection's table; null when there is no such collection. */
export async function tableOf(run: Run, schema: string, collection: string): Promise<string | null> {
  const [row] = await run(`select n from ${schema}.collections where name = $1`, collection)
  return row === undefined ? null : `${schema}.c${numberAt(row, 'n')}`
}

/**
 * Makes a collection and returns its number.
 *
 * @throws {StoreError} `quota_exceeded`
 */
export async function createCollection(run: Run, schema: string, collection: string): Promise<number> {
  const [sums] = await run(
    `select (select count(*) from ${schema}.collections)
      + (select count(*) from ${schema}.dropped where name like 'c%') as tables`,
  )
  requireFewCollections(numberAt(sums, 'tables'))
  const [row] = await run(`insert into ${schema}.collections (name) values ($1) returning n`, collection)
  const n = numberAt(row, 'n')
  await run(collectionTable(schema, n))
  return n
}
