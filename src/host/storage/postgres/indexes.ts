import type { Indexes, IndexProgress, IndexScan, KeyRange, ScanPage, StoredDocument } from '../../ports.js'
import {
  type Additions,
  additionsOf,
  buildBounds,
  clashesIn,
  notUnique,
  progressOf,
  takeRows,
} from '../indexing/building.js'
import { type IndexRow, noIndex, requireFewIndexes, requirePlanned, stateOf, tablesOf } from '../indexing/index-row.js'
import { beginOf, formatPlace, keyBytes, maxCounted, type Place, parsePlace } from '../indexing/scan-place.js'
import { misshapen } from '../scan-input.js'
import { pageBytes, pageRows, scan, storedOf } from './documents.js'
import { addEntries, dropIndex, holdersIn, targetOf } from './entries.js'
import type { Run } from './pool.js'
import { bytesAt, bytesTextAt, numberAt } from './pool.js'
import { createCollection, entryTable, uniqueTable } from './schema.js'
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

/** How many ranges a statement reads. Each costs it a look into the index, and a page may be full before. */
const rangesAtOnce = 64

/** Every lookup is a `lateral` part with a limit, so the server reads the primary keys whatever it knows of the tables. */
interface Source {
  run: Run
  documents: string
  entries: string
}

/**
 * A page of the documents that an index leads to: first the places of entries, then what they lead to. Its statements must see
 * the same data, or a document that moves within the index meanwhile would be missed.
 */
async function scanIndex(
  run: Run,
  schema: string,
  { n, index, scan }: { n: number; index: IndexRow; scan: IndexScan },
): Promise<ScanPage> {
  const source = { run, documents: `${schema}.c${n}`, entries: `${schema}.${index.entries}` }
  const after = scan.after === null ? null : parsePlace(scan.after)
  const choice = after?.choice ?? (await fewest(source, scan.choices))
  const ranges = scan.choices[choice]
  if (!ranges) throw misshapen()
  const count = Math.min(scan.limit, pageRows)
  const read = scan.order === -1 ? descending : ascending
  const places = await read(source, { ranges, after, most: count + 1 })
  const { documents, read: end } = await readPage(source, places.slice(0, count))
  const last = end < places.length ? places[end - 1] : undefined
  return { documents, next: last ? formatPlace(choice, last) : null }
}

/** The number of the choice with the fewest entries. */
async function fewest({ run, entries }: Source, choices: IndexScan['choices']): Promise<number> {
  if (choices.length === 1) return 0
  let [best, least] = [0, maxCounted]
  for (const [at, ranges] of choices.entries()) {
    const [row] = await run(
      `select count(*) as count from (
        select 1 from unnest($1::bytea[], $2::bytea[]) as r (k, below)
        cross join lateral (select 1 from ${entries} where k >= r.k and k < r.below limit $3) as x limit $3
      ) as counted`,
      ranges.map(({ from }) => keyBytes(from)),
      ranges.map(({ to }) => keyBytes(to)),
      least,
    )
    const count = numberAt(row, 'count')
    if (count < least) [best, least] = [at, count]
  }
  return best
}

interface Wanted {
  ranges: readonly KeyRange[]
  after: Place | null
  /** How many places. */
  most: number
}

/** Places by key, then by `_id`. */
async function ascending({ run, entries }: Source, { ranges, after, most }: Wanted): Promise<Place[]> {
  const ahead = ranges.filter(({ to }) => after === null || Buffer.compare(after.key, keyBytes(to)) < 0)
  const places: Place[] = []
  for (let at = 0; at < ahead.length && places.length < most; at += rangesAtOnce) {
    const part = ahead.slice(at, at + rangesAtOnce)
    const begins = part.map((range) => beginOf(range, after))
    const rows = await run(
      `select x.k, x.id from unnest($1::bytea[], $2::bytea[], $3::bytea[]) as r (k, id, below)
        cross join lateral (
          select k, id from ${entries} where (k, id) > (r.k, r.id) and k < r.below order by k, id limit $4
        ) as x order by x.k, x.id limit $4`,
      begins.map(({ key }) => key),
      begins.map(({ id }) => Buffer.from(id)),
      part.map(({ to }) => keyBytes(to)),
      most - places.length,
    )
    places.push(...rows.map(placeOf))
  }
  return places
}

/** Places by key, the greatest first. Equal keys stay in ascending order of `_id`. */
async function descending(source: Source, { ranges, after, most }: Wanted): Promise<Place[]> {
  const places = after === null ? [] : await withKey(source, after, most)
  const backwards = ranges.toReversed()
  for (let at = 0; at < backwards.length && places.length < most; at += rangesAtOnce) {
    const part = backwards.slice(at, at + rangesAtOnce)
    let below = after?.key ?? null
    for (;;) {
      const found = await greatest(source, { ranges: part, below, most })
      places.push(...found.places)
      below = found.below
      if (below === null || places.length >= most) break
    }
  }
  return places.slice(0, most)
}

/**
 * The places with the greatest keys below one. The server reads equal keys by descending `_id`, so of the last key, which may
 * have more, they are read again. `below` is null when there are no more.
 */
async function greatest(
  source: Source,
  { ranges, below, most }: { ranges: readonly KeyRange[]; below: Buffer | null; most: number },
): Promise<{ places: Place[]; below: Buffer | null }> {
  const rows = await source.run(
    `select x.k, x.id from unnest($1::bytea[], $2::bytea[]) as r (k, below)
      cross join lateral (
        select k, id from ${source.entries} where k >= r.k and k < r.below order by k desc, id desc limit $3
      ) as x order by x.k desc, x.id desc limit $3`,
    ranges.map(({ from }) => keyBytes(from)),
    ranges.map(({ to }) => lesser(keyBytes(to), below)),
    most,
  )
  const places = rows.map(placeOf)
  const last = places.at(-1)
  if (places.length < most || !last) return { places: places.sort(byKeyDescending), below: null }
  const whole = places.filter(({ key }) => !key.equals(last.key)).sort(byKeyDescending)
  return { places: [...whole, ...(await withKey(source, { key: last.key, id: '' }, most))], below: last.key }
}

/** Of one key, behind an `_id`. */
async function withKey({ run, entries }: Source, { key, id }: Place, most: number): Promise<Place[]> {
  const sql = `select k, id from ${entries} where k = $1 and id > $2 order by id limit $3`
  return (await run(sql, key, Buffer.from(id), most)).map(placeOf)
}

function byKeyDescending(one: Place, other: Place): number {
  return Buffer.compare(other.key, one.key) || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))
}

function lesser(key: Buffer, other: Buffer | null): Buffer {
  return other !== null && Buffer.compare(other, key) < 0 ? other : key
}

/** The documents of entries, up to a page of bytes, and how many places this takes. */
async function readPage(
  { run, documents }: Source,
  places: readonly Place[],
): Promise<{ documents: StoredDocument[]; read: number }> {
  if (places.length === 0) return { documents: [], read: 0 }
  const rows = await run(
    `select place, id, ver, body, found from (
        select e.place, c.id, c.ver, c.body, count(*) over () as found, row_number() over walk as at,
          sum(octet_length(c.body)) over walk as total
        from unnest($1::bytea[]) with ordinality as e (id, place)
        cross join lateral (select id, ver, body from ${documents} where id = e.id limit 1) as c
        window walk as (order by e.place rows unbounded preceding)
      ) as page where at = 1 or total <= ${pageBytes} order by place`,
    places.map(({ id }) => Buffer.from(id)),
  )
  const isCut = rows.length > 0 && rows.length < numberAt(rows[0], 'found')
  return { documents: rows.map(storedOf), read: isCut ? numberAt(rows.at(-1), 'place') : places.length }
}

function placeOf(row: unknown): Place {
  return { key: bytesAt(row, 'k'), id: bytesTextAt(row, 'id') }
}

/**
 * Adds the entries of the next documents.
 *
 * @throws {StoreError} `query_invalid` without such an index, and when the values are not unique, after the index was removed;
 *   `quota_exceeded`
 */
async function buildPage(space: SpaceSchema, collection: string, field: string): Promise<IndexProgress> {
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
