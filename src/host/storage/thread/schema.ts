import type { OpenSqlite } from '../../../store/sql/engine/sqlite-driver.js'
import { StoreError } from '../../documents/store-error.js'
import { numberAt } from './rows.js'

/**
 * The steps of a space's file. Their count is the file's `user_version`. A released step never changes; a change is a further
 * step.
 *
 * Numbers of collections are never used again, so a table that waits for its deletion meets no new one. Keys of pairs are
 * blobs: their order is that of their bytes, and a text may hold a NUL, at which node:sqlite would cut it.
 */
const steps: readonly string[] = [
  `create table space (version integer not null);
   insert into space values (0);
   create table collections (
     n integer primary key autoincrement,
     name text not null unique,
     count integer not null default 0,
     bytes integer not null default 0
   );
   create table dropped (n integer primary key);
   create table kv (
     keyspace blob not null,
     key blob not null,
     value blob not null,
     ends_at integer,
     primary key (keyspace, key)
   ) without rowid;
   create index kv_ends_at on kv (ends_at) where ends_at is not null;`,
  // `built_to` is the last _id that is done, '' at the beginning; null when the index is ready. `multikey` and `unordered`
  // count the documents up to there. Numbers are never used again, as those of collections.
  `create table indexes (
     i integer primary key autoincrement,
     n integer not null,
     field text not null,
     is_unique integer not null,
     built_to text default '',
     processed integer not null default 0,
     multikey integer not null default 0,
     unordered integer not null default 0,
     unique (n, field)
   );
   create table dropped_entries (name text primary key) without rowid;`,
]

/** A collection's table. Text compares by its bytes. SQLite itself checks that a body is JSON. */
export function collectionTable(n: number): string {
  return `create table c${n} (
    id text primary key,
    ver integer not null,
    body text not null check (json_valid(body))
  ) without rowid`
}

/** The entries of an index. */
export function entryTable(name: string): string {
  return `create table ${name} (k blob not null, id text not null, primary key (k, id)) without rowid`
}

/** The entries that keep an index unique. */
export function uniqueTable(name: string): string {
  return `create table ${name} (k blob primary key, id text not null) without rowid`
}

/**
 * Brings the file to this version's schema in one transaction. A failure leaves the file as it was.
 *
 * @throws {StoreError} `store_unavailable` for a file of a newer version, or of another program
 */
export function migrate(database: OpenSqlite): void {
  database.exec('begin immediate')
  try {
    const version = numberAt(database.prepare('pragma user_version').all([])[0], 'user_version')
    if (version > steps.length) throw refused('The data of this space was written by a newer version of the host.')
    if (version === 0 && database.prepare('select 1 from sqlite_schema limit 1').all([]).length > 0) {
      throw refused('The file of this space holds the tables of another program.')
    }
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`pragma user_version = ${steps.length}`)
    database.exec('commit')
  } catch (error) {
    database.prepare('rollback').run([])
    throw error
  }
}

function refused(message: string): StoreError {
  return new StoreError('store_unavailable', message)
}
