import type { IndexScan, KeyRange, ScanPage, StoredDocument } from '../../ports.js'
import type { IndexRow } from '../indexing/index-row.js'
import { beginOf, formatPlace, keyBytes, maxCounted, type Place, parsePlace } from '../indexing/scan-place.js'
import { misshapen } from '../scan-input.js'
import { pageBytes, pageRows, storedOf } from './documents.js'
import type { Run } from './pool.js'
import { bytesAt, bytesTextAt, numberAt } from './rows.js'

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
export async function scanIndex(
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
