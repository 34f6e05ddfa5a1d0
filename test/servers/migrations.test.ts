import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { rollingUpgradeContract } from '../contracts/rolling-upgrade.js'
import { createdUser } from '../contracts/store/rows.js'
import { startCuttingProxy } from '../support/cutting-proxy.js'
import { storeOptions } from '../support/databases.js'
import { createFleet, type ServerProcess } from '../support/process-server.js'
import { createDatabase, type ServerKind, serverUrls, type TestDatabase } from '../support/servers.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

describe.each<ServerKind>(['postgres', 'mysql'])('the tables of a new %s', (kind) => {
  let database: TestDatabase
  beforeEach(async () => {
    const created = await createDatabase(kind)
    database = created
    onTestFinished(() => created.close())
  })

  const start = (url = database.url) => createFleet().start({ file: '', settings: { database: url } })
  const isReady = async (server: ServerProcess) => (await server.client().get('/control/ready')).status
  const open = (url = database.url) => openSqlStore({ ...storeOptions(), database: { kind, url } })

  async function expectOne(): Promise<void> {
    expect(await database.query('select name from latchkey_migrations')).toHaveLength(5)
    expect(await database.query('select id from latchkey_installation')).toHaveLength(1)
    expect(await database.query('select slot from latchkey_audit_head')).toHaveLength(1)
  }

  test('are made once by five processes that start at the same time', async () => {
    const servers = await Promise.all(Array.from({ length: 5 }, () => start()))
    expect(await Promise.all(servers.map(isReady))).toEqual([204, 204, 204, 204, 204])
    await expectOne()
  })

  test('are made once by ten stores at the same time, which all have one installation id and can write', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, () => open()))
    expect(new Set(stores.map(({ installationId }) => installationId)).size).toBe(1)
    await Promise.all(stores.map((store) => createdUser(store)))
    await expectOne()
    await Promise.all(stores.map((store) => store.close()))
  })

  // The first table, one amid them, the row that the audit log begins with, an index after columns that MySQL has added for
  // good by then, and the note that a migration is done.
  test.each([
    ['insert into', 'latchkey_installation'],
    ['create table if not exists', 'latchkey_devices'],
    ['insert into', 'latchkey_audit_head'],
    [kind === 'postgres' ? 'create index if not exists' : 'create index', 'latchkey_audit_actor_id_seq'],
    // The statement that changes a primary key, and one after it.
    ['alter table', 'latchkey_access_entries'],
    ['create table if not exists', 'latchkey_key_sets'],
    ['insert into', 'latchkey_migrations'],
  ])('are finished by a process that waits, when the one that makes them is killed over %s %s', async (verb, name) => {
    const target = new URL(serverUrls[kind])
    const proxy = await startCuttingProxy({ host: target.hostname, port: Number(target.port) })
    onTestFinished(() => proxy.close())
    const url = new URL(database.url)
    url.port = String(proxy.port)

    const quote = kind === 'postgres' ? '"' : '`'
    const stuck = proxy.swallow(`${verb} ${quote}${name}${quote}`)
    const first = await start(url.href)
    await stuck

    const second = await start()
    let done = false
    const ready = isReady(second).finally(() => {
      done = true
    })
    await pause(500)
    expect(done).toBe(false)

    await first.kill()
    expect(await ready).toBe(204)
    await expectOne()
    const store = await open()
    await createdUser(store)
    await store.close()
  })

  rollingUpgradeContract(async () => ({ database: { kind, url: database.url }, query: database.query }))

  test('may take, and be waited for, longer than a statement has', async () => {
    const target = new URL(serverUrls[kind])
    const proxy = await startCuttingProxy({ host: target.hostname, port: Number(target.port) })
    onTestFinished(() => proxy.close())
    const slow = new URL(database.url)
    slow.port = String(proxy.port)
    slow.searchParams.set('statement_timeout', '1000')
    const waits = new URL(database.url)
    waits.searchParams.set('statement_timeout', '1000')

    const stuck = proxy.swallow('latchkey_devices')
    const first = open(slow.href).catch(() => null)
    await stuck
    const second = open(waits.href)
    await pause(4_000)
    await proxy.stop()
    await (await second).close()
    await first
    await expectOne()
  })
})
