import { yieldToEventLoop } from '../../../lib/runtime.js'
import { queryInvalid } from '../../documents/store-error.js'
import type { KeyName, KeyValue, KeyValuePage, KeyValues, StoredPair } from '../../ports.js'
import type { SpaceFile } from './space-file.js'
import { blobTextAt, nullableNumberAt } from './space-file.js'
import { removePairs } from './tidy.js'

const pageBytes = 256 * 1024
const pageRows = 1_000

/** Greater than every UTF-8 text, in which no byte is 0xff. */
const pastAll = Buffer.from([0xff])

/** The key-value pairs in a space's file. Its callers have checked names and sizes. `now` is Unix milliseconds. */
export function createKeyValues(file: SpaceFile, now: () => number): KeyValues {
  return {
    async get(name) {
      const row = file.row(`select value from kv where ${named} and ${isLive}`, ...keyOf(name), now())
      return row ? blobTextAt(row, 'value') : null
    },
    async set(name, value, ttlMs) {
      file.requireRoom(Buffer.byteLength(value))
      file.transaction(() => write(file, name, value, endOf(now(), ttlMs)))
    },
    async remove(name) {
      const row = file.transaction(() => file.row(`delete from kv where ${named} returning ends_at`, ...keyOf(name)))
      return row !== undefined && isLiveAt(now(), row)
    },
    async increment(name, by, ttlMs) {
      file.requireRoom(0)
      return file.transaction(() => increment(file, name, by, ttlMs, now()))
    },
    page: async (keyspace, prefix, after) => page(file, keyspace, prefix, after, now()),
    /** A page may hold expired pairs only, which do not count, so it goes on until one of them counts or none is left. */
    async removePage(keyspace, prefix) {
      for (;;) {
        const { removed, live } = file.transaction(() => removePage(file, keyspace, prefix, now()))
        if (live > 0 || removed === 0) return live
        await yieldToEventLoop()
      }
    },
  }
}

const named = 'keyspace = ? and key = ?'
const isLive = '(ends_at is null or ends_at > ?)'

function keyOf({ keyspace, key }: KeyName): [Buffer, Buffer] {
  return [Buffer.from(keyspace), Buffer.from(key)]
}

function isLiveAt(nowMs: number, row: unknown): boolean {
  const endsAt = nullableNumberAt(row, 'ends_at')
  return endsAt === null || endsAt > nowMs
}

function endOf(nowMs: number, ttlMs: number | null): number | null {
  return ttlMs === null ? null : Math.min(Math.ceil(nowMs + ttlMs), Number.MAX_SAFE_INTEGER)
}

function write(file: SpaceFile, name: KeyName, value: string, endsAt: number | null): void {
  const sql = `insert into kv (keyspace, key, value, ends_at) values (?, ?, ?, ?)
    on conflict (keyspace, key) do update set value = excluded.value, ends_at = excluded.ends_at`
  file.run(sql, ...keyOf(name), Buffer.from(value), endsAt)
}

/** In one transaction. */
export function putPairs(file: SpaceFile, pairs: readonly StoredPair[]): void {
  file.requireRoom(pairs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0))
  file.transaction(() => {
    for (const { value, endsAt, ...name } of pairs) write(file, name, value, endsAt)
  })
}

function increment(file: SpaceFile, name: KeyName, by: number, ttlMs: number | null, nowMs: number): number {
  const row = file.row(`select value, ends_at from kv where ${named} and ${isLive}`, ...keyOf(name), nowMs)
  const before = row ? blobTextAt(row, 'value') : '0'
  const sum = before.trim() === '' ? Number.NaN : Number(before) + by
  if (!Number.isFinite(sum)) throw queryInvalid('The value under this key is no number, or the sum is too large.')
  const kept = row ? nullableNumberAt(row, 'ends_at') : null
  write(file, name, String(sum), ttlMs === null ? kept : endOf(nowMs, ttlMs))
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

function page(file: SpaceFile, keyspace: string, prefix: string, after: string | null, nowMs: number): KeyValuePage {
  const begin = Buffer.from(prefix)
  const last = after === null ? null : Buffer.from(after)
  const goesOn = last !== null && Buffer.compare(last, begin) >= 0
  const sql = `select key, value, ends_at from kv
    where keyspace = ? and key ${goesOn ? '>' : '>='} ? and key < ? order by key limit ?`
  const range = [Buffer.from(keyspace), goesOn ? last : begin, endOfPrefix(prefix)]
  const rows: KeyValue[] = []
  let [bytes, seen] = [0, after]
  let read = 0
  // Expired pairs count as read, so that a page of many of them ends in time.
  for (const row of file.iterate(sql, ...range, pageRows + 1)) {
    const pair = { key: blobTextAt(row, 'key'), value: blobTextAt(row, 'value') }
    bytes += Buffer.byteLength(pair.value)
    if (read >= pageRows || (read > 0 && bytes > pageBytes)) return { rows, next: seen }
    read += 1
    seen = pair.key
    if (isLiveAt(nowMs, row)) rows.push(pair)
  }
  return { rows, next: null }
}

function removePage(
  file: SpaceFile,
  keyspace: string,
  prefix: string,
  nowMs: number,
): { removed: number; live: number } {
  const sql = `select keyspace, key, ends_at, octet_length(value) as bytes from kv
    where keyspace = ? and key >= ? and key < ? order by key limit ?`
  const rows = removePairs(file, sql, Buffer.from(keyspace), Buffer.from(prefix), endOfPrefix(prefix))
  return { removed: rows.length, live: rows.filter((row) => isLiveAt(nowMs, row)).length }
}
