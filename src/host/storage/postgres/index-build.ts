import type { IndexProgress } from '../../ports.js'
import {
  type Additions,
  additionsOf,
  buildBounds,
  clashesIn,
  notUnique,
  progressOf,
  takeRows,
} from '../indexing/building.js'
import { type IndexRow, noIndex } from '../indexing/index-row.js'
import { scan } from './documents.js'
import { addEntries, holdersIn } from './entries.js'
import { dropIndex, targetOf } from './index-rows.js'
import type { Run } from './pool.js'
import { numberAt } from './rows.js'
import type { SpaceSchema, Unit } from './space-schema.js'

/**
 * Adds the entries of the next documents.
 *
 * @throws {StoreError} `query_invalid` without such an index, and when the values are not unique, after the index was removed;
 *   `quota_exceeded`
 */
export async function buildPage(space: SpaceSchema, collection: string, field: string): Promise<IndexProgress> {
  const built = await space.write(async (unit) => {
    const { n, indexes } = await targetOf(unit.run, unit.schema, collection)
    const index = indexes.find((each) => each.field === field)
    if (n === null || index === undefined) throw noIndex(collection, field)
    return buildNext(unit, n, index)
  })
  // The index is gone, which the transaction had to commit.
  if ('clashing' in built) throw notUnique(field, built.clashing)
  const { progress, entries } = built
  // Without it, the server plans by a guess until it analyses by itself.
  const analyze = (run: Run) => run(`analyze ${space.schema}.${entries}`)
  if (progress.isReady && entries !== null) await space.read(analyze).catch(() => {})
  return progress
}

type Built = { clashing: string[] } | { progress: IndexProgress /** null: it was ready. */; entries: string | null }

async function buildNext(unit: Unit, n: number, index: IndexRow): Promise<Built> {
  const { run, schema } = unit
  const of = numberAt((await run(`select count from ${schema}.collections where n = $1`, n))[0], 'count')
  if (index.builtTo === null) return { progress: progressOf(index, 0, of, true), entries: null }
  const after = index.builtTo === '' ? null : index.builtTo
  const { rows: limit, bytes } = buildBounds
  const page = await scan(run, `${schema}.c${n}`, { after, reverse: false, limit, bytes })
  const { rows, isLast: isWhole } = takeRows(index, page.documents)
  const isLast = isWhole && page.next === null
  const added = additionsOf(rows)
  const keys = added.uniqueKeys.map(({ key }) => key)
  const clashing = index.isUnique ? clashesIn(rows, await holdersIn(run, `${schema}.${index.uniqueKeys}`, keys)) : []
  if (clashing.length > 0) {
    await dropIndex(run, schema, index)
    return { clashing }
  }
  await add(unit, index, { added, builtTo: isLast ? null : (rows.at(-1)?.id ?? index.builtTo) })
  return { progress: progressOf(index, rows.length, of, isLast), entries: index.entries }
}

async function add(unit: Unit, index: IndexRow, { added, builtTo }: { added: Additions; builtTo: string | null }) {
  const { run, schema } = unit
  const { processed, multikey, unordered } = added
  const bytes =
    (await addEntries(run, `${schema}.${index.entries}`, added.entries)) +
    (await addEntries(run, `${schema}.${index.uniqueKeys}`, added.uniqueKeys))
  await run(
    `update ${schema}.indexes set built_to = $1, processed = processed + $2, multikey = multikey + $3,
      unordered = unordered + $4, bytes = bytes + $5 where i = $6`,
    ...[builtTo === null ? null : Buffer.from(builtTo), processed, multikey, unordered, bytes, index.i],
  )
  unit.count(bytes)
}
