import type { Documents, ScanOptions, ScanPage, StoredDocument, VersionedChange } from '../../ports.js'
import type { DocumentChange } from '../indexing/entry-changes.js'
import { type IndexKeys, keysIn } from '../indexing/index-row.js'
import {
  changeRowsOf,
  changesOf,
  chooseChanges,
  chooseRows,
  type Found,
  growthOf,
  lossOf,
  type RemovedRow,
  removalsOf,
  requireExpected,
  requireFewBytes,
  rowOf,
  type Target,
  type WrittenRow,
  withVersions,
} from '../indexing/written-rows.js'
import { changeEntries, dropIndex, targetOf } from './entries.js'
import type { Run } from './pool.js'
import { bytesTextAt, isNullAt, numberAt, textAt } from './pool.js'
import { createCollection, tableOf } from './schema.js'
import { rowBytes, type SchemaReader, type SpaceSchema, type Unit } from './space-schema.js'

export const pageBytes = 256 * 1024
/** More rows are not looked at for a page, however small they are. */
export const pageRows = 1_500

/** The documents in a space's schema. Its callers have checked names, ids and sizes. */
export function createDocuments(space: SpaceSchema): Documents {
  return {
    ...readDocuments(space),
    put: (collection, id, body, ifVersion) =>
      space.write(async (unit) => {
        const target = await targetOf(unit.run, unit.schema, collection)
        const row = rowOf(target, { id, body })
        const found = (await findRows(unit, target, [id])).get(id) ?? null
        requireExpected(found, ifVersion)
        const version = unit.takeVersions(1)
        await writeRows(unit, target, [{ ...row, version, found }])
        return version
      }),
    remove: (collection, id, ifVersion) =>
      space.write(async (unit) => {
        const target = await targetOf(unit.run, unit.schema, collection)
        const found = (await findRows(unit, target, [id])).get(id) ?? null
        requireExpected(found, ifVersion)
        if (found !== null) await removeRows(unit, target, [{ id, found }])
        return found !== null
      }),
    putMany: (collection, rows, ifVersion) =>
      space.write(async (unit) => {
        const target = await targetOf(unit.run, unit.schema, collection)
        const ids = rows.map(({ id }) => id)
        const stored = await findRows(unit, target, ids, { leftAlone: ifVersion === 'absent' })
        const sent = rows.map((row) => rowOf(target, row))
        const { existing, chosen } = chooseRows(sent, ifVersion, (id) => stored.get(id) ?? null)
        if (chosen.length === 0) return existing
        await writeRows(unit, target, withVersions(chosen, unit.takeVersions(chosen.length)))
        return existing
      }),
    changeMany: (collection, changes) => space.write((unit) => changeMany(unit, collection, changes)),
    drop: (collection) => space.write((unit) => drop(unit, collection)),
  }
}

/** What only reads, also for a snapshot. */
export function readDocuments(space: SchemaReader): Pick<Documents, 'get' | 'scan' | 'count' | 'list'> {
  const { schema } = space
  return {
    get: (collection, id) =>
      space.read(async (run) => {
        const table = await tableOf(run, schema, collection)
        const [row] = table ? await run(`select id, ver, body from ${table} where id = $1`, Buffer.from(id)) : []
        return row === undefined ? null : storedOf(row)
      }),
    scan: (collection, options) =>
      space.read(async (run) => {
        const table = await tableOf(run, schema, collection)
        return table === null ? { documents: [], next: null } : scan(run, table, options)
      }),
    count: (collection) =>
      space.read(async (run) => {
        const [row] = await run(`select count from ${schema}.collections where name = $1`, collection)
        return row === undefined ? 0 : numberAt(row, 'count')
      }),
    list: () =>
      space.read(async (run) =>
        (await run(`select name, count, bytes from ${schema}.collections order by name`)).map((row) => ({
          name: textAt(row, 'name'),
          count: numberAt(row, 'count'),
          bytes: numberAt(row, 'bytes'),
        })),
      ),
  }
}

async function changeMany(unit: Unit, collection: string, changes: readonly VersionedChange[]) {
  const target = await targetOf(unit.run, unit.schema, collection)
  const versions = new Map(changes.map(({ id, version }) => [id, version]))
  const stored = await findRows(unit, target, [...versions.keys()], { versions })
  const { overtaken, removed, written } = chooseChanges(
    target,
    changeRowsOf(target, changes),
    ({ id }) => stored.get(id) ?? null,
  )
  if (removed.length > 0) await removeRows(unit, target, removed)
  if (written.length > 0) await writeRows(unit, target, withVersions(written, unit.takeVersions(written.length)))
  return { changed: removed.length + written.length, overtaken }
}

/** The tables go later: `tidy.ts`. */
async function drop({ run, schema }: Unit, collection: string): Promise<void> {
  for (const index of (await targetOf(run, schema, collection)).indexes) await dropIndex(run, schema, index)
  await run(
    `with gone as (delete from ${schema}.collections where name = $1 returning n, count, bytes)
      insert into ${schema}.dropped select 'c' || n, bytes + count * ${rowBytes} from gone`,
    collection,
  )
}

/** The row after the page comes without its body, as the mark that there is more. */
export async function scan(
  run: Run,
  table: string,
  { after, reverse, limit, bytes = pageBytes }: ScanOptions & { bytes?: number },
): Promise<ScanPage> {
  const [sign, order] = reverse ? ['<', 'desc'] : ['>', 'asc']
  const rows = await run(
    `select id, ver, case when place = 1 or (place <= $1 and total <= ${bytes}) then body end as body
      from (
        select id, ver, body, row_number() over walk as place, sum(octet_length(body)) over walk as total,
          octet_length(body) as size
        from ${table} ${after === null ? '' : `where id ${sign} $2`}
        window walk as (order by id ${order} rows unbounded preceding)
        order by id ${order} limit $1 + 1
      ) as page
      where place <= 2 or total - size <= ${bytes} order by place`,
    Math.min(limit, pageRows),
    ...(after === null ? [] : [Buffer.from(after)]),
  )
  const documents: StoredDocument[] = []
  for (const row of rows) {
    if (isNullAt(row, 'body')) return { documents, next: documents.at(-1)?.id ?? null }
    documents.push(storedOf(row))
  }
  return { documents, next: null }
}

export function storedOf(row: unknown): StoredDocument {
  return { id: bytesTextAt(row, 'id'), version: numberAt(row, 'ver'), body: textAt(row, 'body') }
}

/** Bodies that are read at once for their keys. */
const bodiesBytes = 4 * 1024 * 1024

/**
 * Those documents that there are, by `_id`.
 *
 * @param wanted `versions`: finds them in these versions only, by `_id`; `leftAlone`: they may be large together
 * @throws {StoreError} `query_invalid` when they are too large together
 */
async function findRows(
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
async function writeRows(unit: Unit, target: Target, rows: readonly WrittenRow[]): Promise<void> {
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

async function removeRows(unit: Unit, target: Target, rows: readonly RemovedRow[]): Promise<void> {
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
