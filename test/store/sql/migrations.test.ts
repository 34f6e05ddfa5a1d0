import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqlite } from '../../../src/store/sql/engine/sqlite-driver.js'
import { openSqlStore } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { rollingUpgradeContract } from '../../contracts/rolling-upgrade.js'
import { atOnce, createdUser } from '../../contracts/store/rows.js'
import { storeOptions, temporaryFolder } from '../../support/databases.js'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let file: string
let stores: Store[]

beforeEach(async () => {
  folder = await temporaryFolder()
  file = join(folder.path, 'latchkey.db')
  stores = []
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await folder.remove()
})

async function open(): Promise<Store> {
  const store = await openSqlStore({
    ...storeOptions({ sleep: async () => void (await pause(1)) }),
    database: { kind: 'sqlite', file },
  })
  stores.push(store)
  return store
}

/** Looks into the file, or changes it, as another program would. */
async function outside(sql: string): Promise<unknown[]> {
  const database = await openSqlite(file)
  try {
    return /^select/.test(sql) ? database.prepare(sql).all([]) : [database.exec(sql)]
  } finally {
    database.close()
  }
}

async function tableNames(): Promise<unknown[]> {
  const rows = await outside("select name from sqlite_master where type = 'table' order by name")
  return rows.map((row) => Object(row).name)
}

test('all tables carry our prefix, those of the migrations too', async () => {
  await open()
  expect(await tableNames()).toEqual([
    'latchkey_access_entries',
    'latchkey_api_tokens',
    'latchkey_audit',
    'latchkey_audit_head',
    'latchkey_backup_codes',
    'latchkey_changes',
    'latchkey_counters',
    'latchkey_devices',
    'latchkey_identities',
    'latchkey_installation',
    'latchkey_key_ids',
    'latchkey_key_sets',
    'latchkey_migrations',
    'latchkey_migrations_lock',
    'latchkey_one_time_tokens',
    'latchkey_outbox',
    'latchkey_passkeys',
    'latchkey_sessions',
    'latchkey_users',
  ])
})

test('of many that open a new file at once one migrates; all have one installation id and can write', async () => {
  const opened = await atOnce(open, 8)
  expect(new Set(opened.map(({ installationId }) => installationId)).size).toBe(1)
  const users = await Promise.all(opened.map((store) => createdUser(store)))
  const found = await Promise.all(users.map(({ id }) => opened[0]?.users.findById(id)))
  expect(found).toEqual(users)
  expect(await outside('select name from latchkey_migrations order by name')).toEqual([
    { name: '0001-first' },
    { name: '0002-actor' },
    { name: '0003-administration' },
    { name: '0004-scopes' },
    { name: '0005-passkeys' },
  ])
  expect(await outside('select id from latchkey_installation')).toHaveLength(1)
})

test('two new files have two installation ids', async () => {
  const first = await open()
  file = join(folder.path, 'other.db')
  expect((await open()).installationId).not.toBe(first.installationId)
})

test('a migration that fails rejects the opening and leaves nothing of itself behind', async () => {
  await outside('create table latchkey_sessions (id text)')
  await expect(open()).rejects.toThrow(/no such column/)
  expect(await tableNames()).toEqual(['latchkey_sessions'])

  await outside('drop table latchkey_sessions')
  await createdUser(await open())
})

test('a process of an older release opens the file that a newer one has migrated', async () => {
  const first = await open()
  await outside("insert into latchkey_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')")
  expect((await open()).installationId).toBe(first.installationId)
})

describe('beside the release before the scopes', () => {
  rollingUpgradeContract(async () => ({ database: { kind: 'sqlite', file }, query: outside }))
})
