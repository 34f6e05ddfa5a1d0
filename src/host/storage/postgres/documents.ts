import { StoreError } from '../../documents/store-error.js'
import type { Documents, IfVersion, ScanOptions, ScanPage, StoredDocument } from '../../ports.js'
import type { Run } from './pool.js'
import { bytesTextAt, isNullAt, numberAt, textAt } from './rows.js'
import { collectionTable } from './schema.js'
import { rowBytes, type SchemaReader, type SpaceSchema, type Unit } from './space-schema.js'

const pageBytes = 256 * 1024
/** More rows are not looked at for a page, however small they are. */
const pageRows = 1_500

/** As in a space's file. */
const maxCollections = 1_000

/** The documents in a space's schema. Its callers have checked names, ids and sizes. */
export function createDocuments(space: SpaceSchema): Documents {
  return {
    ...readDocuments(space),
    put: (collection, id, body, ifVersion) =>
      space.write(async (unit) => {
        const table = await tableOf(unit.run, space, collection)
        const found = (await findAll(unit.run, table, [id])).get(id) ?? null
        if (!isExpected(found, ifVersion)) throw notCurrent()
        const version = await unit.takeVersions(1)
        await write(space, unit, { collection, table }, [{ id, body, version, found }])
        return version
      }),
    remove: (collection, id, ifVersion) =>
      space.write(async (unit) => {
        const table = await tableOf(unit.run, space, collection)
        const found = (await findAll(unit.run, table, [id])).get(id) ?? null
        if (ifVersion !== 'any' && found?.version !== ifVersion) throw notCurrent()
        if (table === null || found === null) return false
        await unit.run(`delete from ${table} where id = $1`, Buffer.from(id))
        await resize(space, unit, collection, { rows: -1, bytes: -found.bytes })
        return true
      }),
    putMany: (collection, rows, ifVersion) =>
      space.write((unit) => putMany(space, unit, { collection, rows, ifVersion })),
    /** The table goes later: `tidy.ts`. */
    drop: (collection) =>
      space.write(async ({ run }) => {
        await run(
          `with gone as (delete from ${space.schema}.collections where name = $1 returning n, count, bytes)
            insert into ${space.schema}.dropped select n, bytes + count * ${rowBytes} from gone`,
          collection,
        )
      }),
  }
}

/** What only reads, also for a snapshot. */
export function readDocuments(space: SchemaReader): Pick<Documents, 'get' | 'scan' | 'count' | 'list'> {
  const { schema } = space
  return {
    get: (collection, id) =>
      space.read(async (run) => {
        const table = await tableOf(run, space, collection)
        const [row] = table ? await run(`select id, ver, body from ${table} where id = $1`, Buffer.from(id)) : []
        return row === undefined ? null : storedOf(row)
      }),
    scan: (collection, options) => space.read(async (run) => scan(run, await tableOf(run, space, collection), options)),
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

interface Found {
  version: number
  bytes: number
}

interface Written {
  id: string
  body: string
  version: number
  found: Found | null
}

function notCurrent(): StoreError {
  return new StoreError('not_current', 'The document has changed since it was read.')
}

function isExpected(found: Found | null, ifVersion: IfVersion): boolean {
  return ifVersion === 'any' || ifVersion === (found?.version ?? 'absent')
}

async function tableOf(run: Run, { schema }: SchemaReader, collection: string): Promise<string | null> {
  const [row] = await run(`select n from ${schema}.collections where name = $1`, collection)
  return row === undefined ? null : `${schema}.c${numberAt(row, 'n')}`
}

async function createTable({ schema }: SpaceSchema, { run }: Unit, collection: string): Promise<string> {
  const [sums] = await run(
    `select (select count(*) from ${schema}.collections) + (select count(*) from ${schema}.dropped) as tables`,
  )
  if (numberAt(sums, 'tables') >= maxCollections) {
    throw new StoreError('quota_exceeded', `A space holds at most ${maxCollections} collections.`)
  }
  const [row] = await run(`insert into ${schema}.collections (name) values ($1) returning n`, collection)
  const n = numberAt(row, 'n')
  await run(collectionTable(schema, n))
  return `${schema}.c${n}`
}

async function findAll(run: Run, table: string | null, ids: readonly string[]): Promise<Map<string, Found>> {
  if (table === null) return new Map()
  const rows = await run(
    `select id, ver, octet_length(body) as bytes from ${table} where id = any ($1::bytea[])`,
    ids.map((id) => Buffer.from(id)),
  )
  return new Map(
    rows.map((row) => [bytesTextAt(row, 'id'), { version: numberAt(row, 'ver'), bytes: numberAt(row, 'bytes') }]),
  )
}

interface Place {
  collection: string
  /** null: it is made. */
  table: string | null
}

async function write(space: SpaceSchema, unit: Unit, { collection, table }: Place, rows: readonly Written[]) {
  const target = table ?? (await createTable(space, unit, collection))
  await unit.run(
    `insert into ${target} (id, ver, body) select * from unnest($1::bytea[], $2::bigint[], $3::text[])
      on conflict (id) do update set ver = excluded.ver, body = excluded.body`,
    rows.map(({ id }) => Buffer.from(id)),
    rows.map(({ version }) => version),
    rows.map(({ body }) => body),
  )
  const size = { rows: 0, bytes: 0 }
  for (const { body, found } of rows) {
    size.bytes += Buffer.byteLength(body) - (found?.bytes ?? 0)
    size.rows += found === null ? 1 : 0
  }
  await resize(space, unit, collection, size)
}

async function resize(
  { schema }: SpaceSchema,
  unit: Unit,
  collection: string,
  { rows, bytes }: { rows: number; bytes: number },
): Promise<void> {
  const sql = `update ${schema}.collections set count = count + $1, bytes = bytes + $2 where name = $3`
  await unit.run(sql, rows, bytes, collection)
  await unit.count(bytes + rows * rowBytes)
}

async function putMany(
  space: SpaceSchema,
  unit: Unit,
  asked: { collection: string; rows: readonly Pick<StoredDocument, 'id' | 'body'>[]; ifVersion: 'absent' | 'any' },
): Promise<string[]> {
  const { collection, rows, ifVersion } = asked
  const table = await tableOf(unit.run, space, collection)
  const stored = await findAll(
    unit.run,
    table,
    rows.map(({ id }) => id),
  )
  const existing: string[] = []
  const chosen = new Map<string, { body: string; found: Found | null }>()
  for (const { id, body } of rows) {
    const found = stored.get(id) ?? null
    const exists = found !== null || chosen.has(id)
    if (exists) existing.push(id)
    if (!exists || ifVersion === 'any') chosen.set(id, { body, found })
  }
  if (chosen.size === 0) return existing
  const first = (await unit.takeVersions(chosen.size)) - chosen.size + 1
  const written = [...chosen].map(([id, { body, found }], index) => ({ id, body, found, version: first + index }))
  await write(space, unit, { collection, table }, written)
  return existing
}

/** The row after the page comes without its body, as the mark that there is more. */
async function scan(run: Run, table: string | null, { after, reverse, limit }: ScanOptions): Promise<ScanPage> {
  if (table === null) return { documents: [], next: null }
  const [sign, order] = reverse ? ['<', 'desc'] : ['>', 'asc']
  const rows = await run(
    `select id, ver, case when place = 1 or (place <= $1 and total <= ${pageBytes}) then body end as body
      from (
        select id, ver, body, row_number() over walk as place, sum(octet_length(body)) over walk as total,
          octet_length(body) as size
        from ${table} ${after === null ? '' : `where id ${sign} $2`}
        window walk as (order by id ${order} rows unbounded preceding)
        order by id ${order} limit $1 + 1
      ) as page
      where place <= 2 or total - size <= ${pageBytes} order by place`,
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

function storedOf(row: unknown): StoredDocument {
  return { id: bytesTextAt(row, 'id'), version: numberAt(row, 'ver'), body: textAt(row, 'body') }
}
