import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, createRuntimeRole, type ServerKind, startServerStores } from '../support/servers.js'

// That those rights suffice is shown by the whole contract, which runs with them.
describe.each<ServerKind>(['postgres', 'mysql'])('the rights that the page on databases lists for %s', (kind) => {
  test('do not suffice to make tables, and who lacks them is told so', async () => {
    const database = await createDatabase(kind)
    const { url, drop } = await createRuntimeRole(database, [])
    onTestFinished(() => database.close(drop))
    const opening = openSqlStore({ ...storeOptions(), database: { kind, url } })
    await expect(opening).rejects.toThrow(/^database: .*(does not grant|does not let) the user of the URL/)
  })

  test('leave what was audited as it is', async () => {
    const server = await startServerStores(kind)
    onTestFinished(() => server.close())
    const { store } = await server.open()
    await expect(server.asRuntime("update latchkey_audit set ip = '192.0.2.9'")).rejects.toThrow(/denied/)
    await expect(server.asRuntime('drop table latchkey_users')).rejects.toThrow(/denied|must be owner/)
    await store.close()
  })
})
