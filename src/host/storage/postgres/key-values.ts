import { queryInvalid } from '../../documents/store-error.js'
import type { KeyName, KeyValuePage, KeyValues, StoredPair } from '../../ports.js'
import type { Run } from './pool.js'
import { booleanAt, bytesTextAt, isNullAt, nullableNumberAt, numberAt } from './pool.js'
import { rowBytes, type SpaceSchema, type Unit } from './space-schema.js'

const pageBytes = 256 * 1024
const pageRows = 1_000

/** What one transaction deletes at most. */
const most = { rows: 1_000, bytes: 4 * 1024 * 1024 }

/** Greater than every UTF-8 text, in which no byte is 0xff. */
const pastAll = Buffer.from([0xff])

/** The server's clock decides which pairs have expired, in Unix milliseconds. Not now(), which is that of the transaction. */
export const clockMs = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

const named = 'keyspace = $1 and key = $2'
const isLive = `(ends_at is null or ends_at > ${clockMs})`
/** Of a lifetime that is the parameter; null for none, which `least` would pass over. */
const endsAt = (parameter: string) =>
  `case when ${parameter}::double precision is null then null
    else ${clockMs} + least(ceil(${parameter}::double precision), 9000000000000000)::bigint end`

/** The key-value pairs in a space's schema. Its callers have checked names and sizes. */
export function createKeyValues(space: SpaceSchema): KeyValues {
  const kv = `${space.schema}.kv`
  return {
    get: (name) =>
      space.read(async (run) => {
        const [row] = await run(`select value from ${kv} where ${named} and ${isLive}`, ...keyOf(name))
        return row === undefined ? null : bytesTextAt(row, 'value')
      }),
    set: (name, value, ttlMs) =>
      space.write(async (unit) => {
        const before = await sizeOf(unit.run, kv, name)
        await set(unit, kv, name, { value, before, ends: endsAt('$4'), end: ttlMs })
      }),
    remove: (name) =>
      space.write(async (unit) => {
        const sql = `delete from ${kv} where ${named} returning octet_length(value) as bytes, ${isLive} as live`
        return counted(unit, await unit.run(sql, ...keyOf(name))) > 0
      }),
    increment: (name, by, ttlMs) => space.write((unit) => increment(unit, kv, { name, by, ttlMs })),
    page: (keyspace, prefix, after) => space.read((run) => page(run, kv, { keyspace, prefix, after })),
    /** A page may hold expired pairs only, which do not count, so it goes on until one of them counts or none is left. */
    async removePage(keyspace, prefix) {
      for (;;) {
        const { removed, live } = await space.write(async (unit) => {
          const where = 'keyspace = $1 and key >= $2 and key < $3'
          const range = [Buffer.from(keyspace), Buffer.from(prefix), endOfPrefix(prefix)]
          return removePairs(unit, kv, { where, order: 'key', values: range })
        })
        if (live > 0 || removed === 0) return live
      }
    },
  }
}

/** In one transaction. */
export function putPairs({ schema, write }: SpaceSchema, stored: readonly StoredPair[]): Promise<void> {
  return write(async (unit) => {
    for (const { value, endsAt: end, ...name } of stored) {
      const before = await sizeOf(unit.run, `${schema}.kv`, name)
      await set(unit, `${schema}.kv`, name, { value, before, ends: '$4::bigint', end })
    }
  })
}

/** Deletes the first pairs that fit, up to a page. */
export async function removePairs(
  unit: Unit,
  kv: string,
  { where, order, values }: { where: string; order: string; values: readonly unknown[] },
): Promise<{ removed: number; live: number }> {
  const rows = await unit.run(
    `delete from ${kv} where (keyspace, key) in (
        select keyspace, key from (
          select keyspace, key, octet_length(value) as size, row_number() over walk as place,
            sum(octet_length(value)) over walk as total
          from ${kv} where ${where} window walk as (order by ${order} rows unbounded preceding)
          order by ${order} limit ${most.rows}
        ) as page where place = 1 or total <= ${most.bytes}
      ) returning octet_length(value) as bytes, ${isLive} as live`,
    ...values,
  )
  return { removed: rows.length, live: counted(unit, rows) }
}

/** Counts rows that were deleted. Returns how many of them had not expired. */
function counted(unit: Unit, rows: readonly unknown[]): number {
  const bytes = rows.reduce<number>((sum, row) => sum + numberAt(row, 'bytes') + rowBytes, 0)
  unit.count(-bytes)
  return rows.filter((row) => booleanAt(row, 'live')).length
}

function keyOf({ keyspace, key }: KeyName): [Buffer, Buffer] {
  return [Buffer.from(keyspace), Buffer.from(key)]
}

/** What the pair counts with now. */
async function sizeOf(run: Run, kv: string, name: KeyName): Promise<number> {
  const [row] = await run(`select octet_length(value) as bytes from ${kv} where ${named}`, ...keyOf(name))
  return row === undefined ? 0 : numberAt(row, 'bytes') + rowBytes
}

/** @param ends the expression of its end over the parameter `$4`, which is `end` */
async function set(
  unit: Unit,
  kv: string,
  name: KeyName,
  { value, before, ends, end }: { value: string; before: number; ends: string; end: number | null },
): Promise<void> {
  const sql = `insert into ${kv} (keyspace, key, value, ends_at) values ($1, $2, $3, ${ends})
    on conflict (keyspace, key) do update set value = excluded.value, ends_at = excluded.ends_at`
  await unit.run(sql, ...keyOf(name), Buffer.from(value), end)
  unit.count(Buffer.byteLength(value) + rowBytes - before)
}

async function increment(
  unit: Unit,
  kv: string,
  { name, by, ttlMs }: { name: KeyName; by: number; ttlMs: number | null },
): Promise<number> {
  const before = await sizeOf(unit.run, kv, name)
  const sql = `select value, ends_at from ${kv} where ${named} and ${isLive}`
  const [row] = await unit.run(sql, ...keyOf(name))
  const text = row === undefined ? '0' : bytesTextAt(row, 'value')
  const sum = text.trim() === '' ? Number.NaN : Number(text) + by
  if (!Number.isFinite(sum)) throw queryInvalid('The value under this key is no number, or the sum is too large.')
  const kept = row === undefined ? null : nullableNumberAt(row, 'ends_at')
  const end = ttlMs === null ? { ends: '$4::bigint', end: kept } : { ends: endsAt('$4'), end: ttlMs }
  await set(unit, kv, name, { value: String(sum), before, ...end })
  return sum
}

/** The first key after all that begin with the prefix. */
function endOfPrefix(prefix: string): Buffer {
  const bytes = Buffer.from(prefix)
  const last = bytes.at(-1)
  if (last === undefined) return pastAll
  bytes[bytes.length - 1] = last + 1
  return bytes
}

/** Expired pairs count as read, so that a page of many of them ends in time. */
async function page(
  run: Run,
  kv: string,
  { keyspace, prefix, after }: { keyspace: string; prefix: string; after: string | null },
): Promise<KeyValuePage> {
  const begin = Buffer.from(prefix)
  const last = after === null ? null : Buffer.from(after)
  const goesOn = last !== null && Buffer.compare(last, begin) >= 0
  const where = `keyspace = $1 and key ${goesOn ? '>' : '>='} $2 and key < $3`
  const read = await pairs(run, kv, {
    ...{ where, order: 'key' },
    values: [Buffer.from(keyspace), goesOn ? last : begin, endOfPrefix(prefix)],
  })
  const rows = read.rows.flatMap(({ key, value, isLive: live }) => (live ? [{ key, value }] : []))
  return { rows, next: read.next?.key ?? null }
}

interface ReadPair extends KeyName {
  value: string
  endsAt: number | null
  isLive: boolean
}

/** A page of pairs, expired ones too. The row after it comes without its value, as the mark that there is more. */
export async function pairs(
  run: Run,
  kv: string,
  { where, order, values }: { where: string; order: string; values: readonly unknown[] },
): Promise<{ rows: ReadPair[]; next: KeyName | null }> {
  const found = await run(
    `select keyspace, key, ends_at, ${isLive} as live,
        case when place = 1 or (place <= ${pageRows} and total <= ${pageBytes}) then value end as value
      from (
        select keyspace, key, value, ends_at, row_number() over walk as place,
          sum(octet_length(value)) over walk as total, octet_length(value) as size
        from ${kv} where ${where} window walk as (order by ${order} rows unbounded preceding)
        order by ${order} limit ${pageRows + 1}
      ) as page
      where place <= 2 or total - size <= ${pageBytes} order by place`,
    ...values,
  )
  const rows: ReadPair[] = []
  for (const row of found) {
    if (isNullAt(row, 'value')) {
      const last = rows.at(-1)
      return { rows, next: last ? { keyspace: last.keyspace, key: last.key } : null }
    }
    const name = { keyspace: bytesTextAt(row, 'keyspace'), key: bytesTextAt(row, 'key') }
    const ends = nullableNumberAt(row, 'ends_at')
    rows.push({ ...name, value: bytesTextAt(row, 'value'), endsAt: ends, isLive: booleanAt(row, 'live') })
  }
  return { rows, next: null }
}
