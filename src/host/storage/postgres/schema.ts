import { StoreError } from '../../documents/store-error.js'
import { requireFewCollections } from '../indexing/written-rows.js'
import type { Run } from './pool.js'
import { booleanAt, numberAt } from './pool.js'

/**
 * The steps of a space's schema, each a list of statements. Their count stands in the row of `space`. A released step never
 * changes; a change is a further step.
 *
 * Numbers of collections and indexes are never used again, so a table that waits for its deletion meets no new one. Ids and keys
 * are bytes: their order is that of no collation. The row of `space` holds the counter of versions and the counted bytes; every
 * write locks it first. `built_to` of an index is the last _id that is done, empty at the beginning, null when the index is ready;
 * `multikey` and `unordered` count the documents up to there.
 */
const steps: readonly ((schema: string) => readonly string[])[] = [
  (schema) => [
    `create table ${schema}.space (steps integer not null, version bigint not null, bytes bigint not null)`,
    `insert into ${schema}.space values (0, 0, 0)`,
    `create table ${schema}.collections (
      n integer generated always as identity primary key,
      name text collate "C" not null unique,
      count bigint not null default 0,
      bytes bigint not null default 0
    )`,
    `create table ${schema}.indexes (
      i integer generated always as identity primary key,
      n integer not null,
      field text collate "C" not null,
      is_unique boolean not null,
      built_to bytea default '',
      processed bigint not null default 0,
      multikey bigint not null default 0,
      unordered bigint not null default 0,
      bytes bigint not null default 0,
      unique (n, field)
    )`,
    `create table ${schema}.dropped (name text primary key, bytes bigint not null)`,
    `create table ${schema}.kv (
      keyspace bytea not null,
      key bytea not null,
      value bytea not null,
      ends_at bigint,
      primary key (keyspace, key)
    )`,
    `create index kv_ends_at on ${schema}.kv (ends_at) where ends_at is not null`,
  ],
]

/** The name of a generation's schema. */
export function schemaName(spaceId: string, generation: number): string {
  return `lk_${requireName(spaceId)}_g${generation}`
}

/** The name of the schema of a generation that is being filled. */
export function draftName(spaceId: string, generation: number): string {
  return `lk_${requireName(spaceId)}_draft${generation}`
}

/** @throws {TypeError} for a text that is no id of a space */
export function requireName(spaceId: string): string {
  if (/^[\w-]{1,40}$/.test(spaceId)) return spaceId
  throw new TypeError('An id of a space has letters, digits, _ and - only.')
}

/** A collection's table. The server itself checks that a body is JSON. */
function collectionTable(schema: string, n: number): string {
  return `create table ${schema}.c${n} (
    id bytea primary key,
    ver bigint not null,
    body text not null check (body::json is not null)
  )`
}

/** The entries of an index. */
export function entryTable(name: string): string {
  return `create table ${name} (k bytea not null, id bytea not null, primary key (k, id))`
}

/** The entries that keep an index unique. */
export function uniqueTable(name: string): string {
  return `create table ${name} (k bytea primary key, id bytea not null)`
}

/**
 * Makes the schema, or brings it to this version. It runs in one transaction.
 *
 * @throws {StoreError} `store_unavailable` for a schema of a newer version, or one that has lost its tables
 */
export async function migrate(run: Run, schema: string): Promise<void> {
  await run('select pg_advisory_xact_lock(hashtextextended($1, 1))', schema)
  const done = await stepsDone(run, schema)
  if (done > steps.length) {
    throw new StoreError('store_unavailable', 'The data of this space was written by a newer version of the host.')
  }
  if (done === steps.length) return
  for (const step of steps.slice(done)) for (const statement of step(schema)) await run(statement)
  await run(`update ${schema}.space set steps = $1`, steps.length)
}

/** Of a schema that is not there yet none, and it is made. */
async function stepsDone(run: Run, schema: string): Promise<number> {
  const sql = 'select to_regnamespace($1) is not null as is_made, to_regclass($2) is not null as is_whole'
  const [found] = await run(sql, schema, `${schema}.space`)
  if (booleanAt(found, 'is_whole')) return numberAt((await run(`select steps from ${schema}.space`))[0], 'steps')
  // A schema is made with its tables in one transaction: another process or person has dropped them.
  if (booleanAt(found, 'is_made')) {
    const cure = 'Put them back from a copy, or restore a backup.'
    throw new StoreError('store_unavailable', `The schema ${schema} has lost tables. ${cure}`)
  }
  await run(`create schema ${schema}`)
  return 0
}

/** The name of a collection's table; null when there is no such collection. */
export async function tableOf(run: Run, schema: string, collection: string): Promise<string | null> {
  const [row] = await run(`select n from ${schema}.collections where name = $1`, collection)
  return row === undefined ? null : `${schema}.c${numberAt(row, 'n')}`
}

/**
 * Makes a collection and returns its number.
 *
 * @throws {StoreError} `quota_exceeded`
 */
export async function createCollection(run: Run, schema: string, collection: string): Promise<number> {
  const [sums] = await run(
    `select (select count(*) from ${schema}.collections)
      + (select count(*) from ${schema}.dropped where name like 'c%') as tables`,
  )
  requireFewCollections(numberAt(sums, 'tables'))
  const [row] = await run(`insert into ${schema}.collections (name) values ($1) returning n`, collection)
  const n = numberAt(row, 'n')
  await run(collectionTable(schema, n))
  return n
}
