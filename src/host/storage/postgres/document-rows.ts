import { type IndexKeys, keysIn } from '../indexing/document-keys.js'
import type { DocumentChange } from '../indexing/entry-changes.js'
import {
  changesOf,
  type Found,
  growthOf,
  lossOf,
  type RemovedRow,
  removalsOf,
  requireFewBytes,
  type Target,
  type WrittenRow,
} from '../indexing/written-rows.js'
import { createCollection } from './collection-tables.js'
import { changeEntries } from './entries.js'
import type { Run } from './pool.js'
import { bytesTextAt, numberAt, textAt } from './rows.js'
import { rowBytes, type Unit } from './space-schema.js'

/** Bodies that are read at once for their keys. */
const bodiesBytes = 4 * 1024 * 1024

/**
 * Those documents that there are, by `_id`.
 *
 * @param wanted `versions`: finds them in these versions only, by `_id`; `leftAlone`: they may be large together
 * @throws {StoreError} `query_invalid` when they are too large together
 */
export async function findRows(
  { run, schema }: Unit,
  { n, indexes }: Target,
  ids: readonly string[],
  { versions, leftAlone = false }: { versions?: ReadonlyMap<string, number>; leftAlone?: boolean } = {},
): Promise<Map<string, Found>> {
  if (n === null) return new Map()
  const rows = await run(
    `select id, ver, octet_length(body) as bytes from ${schema}.c${n} where id = any ($1::bytea[])`,
    ids.map((id) => Buffer.from(id)),
  )
  const found = rows
    .map((row) => ({ id: bytesTextAt(row, 'id'), version: numberAt(row, 'ver'), bytes: numberAt(row, 'bytes') }))
    .filter(({ id, version }) => versions === undefined || versions.get(id) === version)
  if (!leftAlone) requireFewBytes(found.reduce((sum, { bytes }) => sum + bytes, 0))
  const keys = new Map<string, IndexKeys[]>()
  for (const part of indexes.length === 0 ? [] : partsOf(found)) {
    for (const { id, body } of await readBodies(run, `${schema}.c${n}`, part)) keys.set(id, keysIn(indexes, id, body))
  }
  return new Map(found.map(({ id, ...each }) => [id, { ...each, keys: keys.get(id) ?? [] }]))
}

interface Sized {
  id: string
  bytes: number
}

function partsOf(rows: readonly Sized[]): Sized[][] {
  const parts: Sized[][] = []
  let room = 0
  for (const row of rows) {
    room -= row.bytes
    const last = parts.at(-1)
    if (last && room >= 0) last.push(row)
    else {
      parts.push([row])
      room = bodiesBytes - row.bytes
    }
  }
  return parts
}

async function readBodies(run: Run, table: string, rows: readonly Sized[]): Promise<{ id: string; body: string }[]> {
  const ids = rows.map(({ id }) => Buffer.from(id))
  const found = await run(`select id, body from ${table} where id = any ($1::bytea[])`, ids)
  return found.map((row) => ({ id: bytesTextAt(row, 'id'), body: textAt(row, 'body') }))
}

/**
 * Writes documents and their entries.
 *
 * @throws {StoreError} `already_exists`, `query_invalid`, `quota_exceeded`
 */
export async function writeRows(unit: Unit, target: Target, rows: readonly WrittenRow[]): Promise<void> {
  const { run, schema } = unit
  const n = target.n ?? (await createCollection(run, schema, target.collection))
  await run(
    `insert into ${schema}.c${n} (id, ver, body) select * from unnest($1::bytea[], $2::bigint[], $3::text[])
      on conflict (id) do update set ver = excluded.ver, body = excluded.body`,
    rows.map(({ id }) => Buffer.from(id)),
    rows.map(({ version }) => version),
    rows.map(({ body }) => body),
  )
  await settle(unit, target, { changes: changesOf(rows), growth: growthOf(rows) })
}

export async function removeRows(unit: Unit, target: Target, rows: readonly RemovedRow[]): Promise<void> {
  const ids = rows.map(({ id }) => Buffer.from(id))
  await unit.run(`delete from ${unit.schema}.c${target.n} where id = any ($1::bytea[])`, ids)
  await settle(unit, target, { changes: removalsOf(rows), growth: lossOf(rows) })
}

/** What follows from changed documents: entries, the size of the collection, and the quota. */
async function settle(
  unit: Unit,
  { collection, indexes }: Target,
  { changes, growth }: { changes: readonly DocumentChange[]; growth: { count: number; bytes: number } },
): Promise<void> {
  const { run, schema } = unit
  const entries = await changeEntries(run, schema, { indexes, changes })
  const { count, bytes } = growth
  const sql = `update ${schema}.collections set count = count + $1, bytes = bytes + $2 where name = $3`
  await run(sql, count, bytes, collection)
  unit.count(bytes + count * rowBytes + entries)
}
