import type { SpaceFile } from './space-file.js'
import { blobAt, numberAt, textAt } from './space-file.js'

/** What one transaction deletes at most, so that the thread stays free for other spaces. */
const page = { rows: 1_000, bytes: 4 * 1024 * 1024, entries: 5_000 }

/**
 * Deletes a page of expired key-value pairs, of a dropped collection, and of a removed index. Returns whether there is more. A crash between
 * two pages loses nothing: what is dropped stands in a table.
 */
export function tidy(file: SpaceFile, nowMs: number): boolean {
  const expired = `select keyspace, key, octet_length(value) as bytes from kv where ends_at <= ? order by ends_at limit ?`
  const removed = file.transaction(() => removePairs(file, expired, nowMs))
  const isDropping = file.transaction(() => removeDropped(file))
  const isDroppingEntries = file.transaction(() => removeEntries(file))
  return removed.length > 0 || isDropping || isDroppingEntries
}

/** Deletes the pairs that the statement selects, up to a page. Its last parameter is its limit. */
export function removePairs(file: SpaceFile, sql: string, ...parameters: readonly unknown[]): unknown[] {
  const chosen = upToPage(file.rows(sql, ...parameters, page.rows))
  for (const row of chosen) {
    file.run('delete from kv where keyspace = ? and key = ?', blobAt(row, 'keyspace'), blobAt(row, 'key'))
  }
  return chosen
}

/** Whether there was anything to delete. */
function removeDropped(file: SpaceFile): boolean {
  const dropped = file.row('select n from dropped limit 1')
  if (!dropped) return false
  const n = numberAt(dropped, 'n')
  const rows = file.rows(`select id, octet_length(body) as bytes from c${n} order by id limit ?`, page.rows)
  const last = upToPage(rows).at(-1)
  if (last) {
    file.run(`delete from c${n} where id <= ?`, textAt(last, 'id'))
    return true
  }
  file.run(`drop table c${n}`)
  file.run('delete from dropped where n = ?', n)
  return true
}

/** Whether there was anything to delete. */
function removeEntries(file: SpaceFile): boolean {
  const dropped = file.row('select name from dropped_entries limit 1')
  if (!dropped) return false
  const name = textAt(dropped, 'name')
  const last = file.row(`select k, id from ${name} order by k, id limit 1 offset ?`, page.entries - 1)
  if (last) {
    file.run(`delete from ${name} where (k, id) <= (?, ?)`, blobAt(last, 'k'), textAt(last, 'id'))
    return true
  }
  file.run(`drop table ${name}`)
  file.run('delete from dropped_entries where name = ?', name)
  return true
}

function upToPage(rows: readonly unknown[]): unknown[] {
  let bytes = 0
  const end = rows.findIndex((row) => {
    bytes += numberAt(row, 'bytes')
    return bytes > page.bytes
  })
  return end === -1 ? [...rows] : rows.slice(0, Math.max(end, 1))
}
