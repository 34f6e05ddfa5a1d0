import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { planMigrations } from '../../src/store/sql/migrations/plan.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { createdUser } from '../contracts/store/rows.js'
import { ada } from '../support/auth.js'
import { storeOptions } from '../support/databases.js'
import { startPgBouncer } from '../support/pgbouncer.js'
import { keptLines } from '../support/redis-server.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

/** As the pages of many hosts advise: the limits of a session are dropped without a word. */
const ignoring = ['ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout']

/** A database with our tables; they were made by a process that connects directly. */
async function readyDatabase(): Promise<TestDatabase> {
  const database = await createDatabase('postgres')
  onTestFinished(() => database.close())
  const store = await openSqlStore({ ...storeOptions({ sleep: pause }), database })
  await store.close()
  return database
}

function through(port: number, { url }: TestDatabase, parameters = ''): string {
  const own = new URL(`${url}${parameters}`)
  own.port = String(port)
  return own.href
}

test('a PgBouncer that the URL does not announce refuses our limits, and the error names pgbouncer=true', async () => {
  const database = await readyDatabase()
  const port = await startPgBouncer()
  const open = (parameters: string) => {
    const url = through(port, database, parameters)
    return openSqlStore({ ...storeOptions({ sleep: pause }), database: { kind: 'postgres', url } })
  }
  await expect(open('')).rejects.toThrow(
    `database: PostgreSQL at 127.0.0.1:${port} is a PgBouncer, which refuses the time limits of a session (08P01). Add pgbouncer=true to the URL.`,
  )
  await expect(open('?pgbouncer=true&options=-c%20jit%3Doff')).rejects.toThrow(
    'is a PgBouncer, which refuses options (08P01). Take it out of the URL',
  )
  const store = await open('?pgbouncer=true')
  const user = await createdUser(store)
  expect(await store.users.findById(user.id)).toEqual(user)
  await store.close()
})

test('one that ignores the limits serves every start, and the log names pgbouncer=true once', async () => {
  const database = await readyDatabase()
  const port = await startPgBouncer(ignoring)
  const url = through(port, database)
  for (let starts = 1; starts <= 3; starts += 1) {
    const { lines, logger } = keptLines()
    const mailbox = createTestMailbox()
    const auth = createAuth(testSettings({ mailbox, database: url, logger }), createTestRuntime())
    onTestFinished(() => auth.close())
    await auth.ready()
    const browser = createTestClient(auth, { mailbox })
    await browser.signUp({ ...ada, email: `ada-${starts}@example.test` })
    expect((await browser.refresh()).status).toBe(200)
    expect((await browser.signOut()).status).toBe(204)
    expect(await planMigrations({ kind: 'postgres', url }, Date.now)).toMatchObject({ pending: [] })
    await auth.close()
    if (starts > 1) {
      expect(lines.filter(({ fields }) => fields.event === 'pooler')).toEqual([
        { level: 'warn', fields: { event: 'pooler' }, message: expect.stringContaining('Add pgbouncer=true') },
      ])
    }
  }
})
