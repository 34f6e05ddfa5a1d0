import { expect, onTestFinished, test } from 'vitest'
import type { SqlDatabase } from '../../src/store/sql/engine/connect.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { createWitness, randomId, storeOptions } from '../support/databases.js'
import { makeOlderTables } from '../support/older-tables.js'
import { keptApiToken } from './store/api-tokens.js'
import { anEvent, now, stepOf } from './store/rows.js'

/** An empty database, and SQL as a process of an earlier release sends it. */
export interface UpgradedDatabase {
  database: SqlDatabase
  query(sql: string): Promise<readonly unknown[]>
}

const removal = stepOf('api_token_removed')

/** What a process of the release before the scopes writes: it names no scope. */
function insertToken(id: string): string {
  const columns = 'id, token_hash, name, access, cidrs, created_at, expires_at, last_used_at, replaced_by'
  const values = `'${id}', 'k1.${id}', 'nightly', 'READ', '[]', ${now}, null, null, null`
  return `insert into latchkey_api_tokens (${columns}) values (${values})`
}

const insertNetwork = (network: string) =>
  `insert into latchkey_access_entries (network, created_at) values ('${network}', ${now})`

const setUrl = (path: string) => `update latchkey_installation set jwks_url = 'https://a.example.test/${path}'`

/** Tables of the release before the scopes, brought up to date while its processes go on. */
export function rollingUpgradeContract(create: () => Promise<UpgradedDatabase>): void {
  async function open(database: SqlDatabase) {
    const seen = createWitness()
    const store = await openSqlStore({ ...storeOptions(seen.listeners), database })
    onTestFinished(() => store.close())
    return { store, space: store.at(randomId()), changes: seen.changes }
  }

  const held = async ({ apiTokens, accessSettings }: Pick<Store, 'apiTokens' | 'accessSettings'>) => {
    const tokens = await apiTokens.list({ after: null, limit: 10 })
    return { ...(await accessSettings.read()), tokens: tokens.map(({ id }) => id).toSorted() }
  }
  const nothing = { jwksUrl: null, networks: [], tokens: [] }

  test('what stands in tables without a scope is the application’s afterwards', async () => {
    const { database, query } = await create()
    await makeOlderTables(database, '0003-administration')
    for (const sql of [insertToken('t1'), insertNetwork('10.0.0.1'), insertNetwork('10.0.0.2'), setUrl('k')]) {
      await query(sql)
    }
    const { store, space } = await open(database)
    const all = { jwksUrl: 'https://a.example.test/k', networks: ['10.0.0.1', '10.0.0.2'], tokens: ['t1'] }
    expect(await held(store)).toEqual(all)
    expect(await store.apiTokens.findByHash(['k1.t1'])).toMatchObject({ id: 't1', name: 'nightly' })
    expect([await held(space), await space.apiTokens.findByHash(['k1.t1'])]).toEqual([nothing, null])
  })

  test('processes of the former release go on reading, writing and removing beside this one', async () => {
    const { database, query } = await create()
    await makeOlderTables(database, '0003-administration')
    const { store, space, changes } = await open(database)
    for (const sql of [insertToken('t1'), insertNetwork('10.0.0.1'), setUrl('k')]) await query(sql)
    await expect(query(insertNetwork('10.0.0.1'))).rejects.toThrow()
    const all = { jwksUrl: 'https://a.example.test/k', networks: ['10.0.0.1'], tokens: ['t1'] }
    expect([await held(store), await held(space)]).toEqual([all, nothing])

    const token = await keptApiToken(store)
    await store.accessSettings.addNetwork('10.0.0.2', anEvent(), () => true)
    await store.accessSettings.setJwksUrl('https://a.example.test/new', anEvent())
    expect(await query(`select name from latchkey_api_tokens where token_hash in ('${token.tokenHash}')`)).toHaveLength(
      1,
    )
    expect(await query('select network from latchkey_access_entries')).toHaveLength(2)
    expect(await query("select id from latchkey_installation where jwks_url like '%/new'")).toHaveLength(1)

    await query("delete from latchkey_access_entries where network = '10.0.0.2'")
    await query("delete from latchkey_api_tokens where id = 't1'")
    const rest = { jwksUrl: 'https://a.example.test/new', networks: ['10.0.0.1'], tokens: [token.id] }
    expect(await held(store)).toEqual(rest)

    // Its guard compares the subject with the id.
    await store.apiTokens.remove(token.id, removal())
    expect(changes.map(({ subject }) => subject)).toEqual(['allow_list', 'jwks', token.id])
    expect(await query(`select kind from latchkey_changes where subject = '${token.id}'`)).toHaveLength(1)
  })
}
