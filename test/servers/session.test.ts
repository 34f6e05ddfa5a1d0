import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isLastByRole } from '../../src/store/accounts/last-admin.js'
import { connect } from '../../src/store/sql/engine/connect.js'
import { createSteps, type Steps } from '../../src/store/sql/engine/steps.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import { createdUser, now } from '../contracts/store/rows.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type ServerKind, type TestDatabase } from '../support/servers.js'

describe.each<ServerKind>(['postgres', 'mysql'])('a session on %s', (kind) => {
  let database: TestDatabase
  let steps: Steps
  let close: () => Promise<void>

  beforeEach(async () => {
    database = await createDatabase(kind)
    // An administrator who wanted it stricter: every transaction would see only what was there when it began.
    if (kind === 'postgres') {
      await database.query(`alter database ${database.name} set default_transaction_isolation = 'repeatable read'`)
      await database.query(`alter database ${database.name} set timezone = 'Europe/Oslo'`)
    }
    const store = await openSqlStore({ ...storeOptions(), database })
    await createdUser(store, { id: 'ada' })
    await store.close()
    const connection = await connect(database, Date.now)
    steps = createSteps({ ...storeOptions(), ...connection, isLastAdmin: isLastByRole })
    close = () => connection.db.destroy()
  })
  afterEach(async () => {
    await close()
    await database.close()
  })

  const versionOf = ({ db }: Pick<Parameters<Parameters<Steps['transaction']>[0]>[0], 'db'>) =>
    db.selectFrom('latchkey_users').select('version').where('id', '=', 'ada').executeTakeFirstOrThrow()

  test('reads in a transaction what others have committed since it began', async () => {
    await steps.transaction(async (unit) => {
      expect(Number((await versionOf(unit)).version)).toBe(1)
      await database.query("update latchkey_users set version = 2 where id = 'ada'")
      expect(Number((await versionOf(unit)).version)).toBe(2)
    })
  })

  test('has the time of the server, to the millisecond and whatever zone that is in', async () => {
    const beforeMs = Date.now()
    const row = await steps.step((db) =>
      db
        .selectFrom('latchkey_users')
        .select([steps.flavour.storeNowMs(-250).as('ms'), steps.flavour.storeNowSeconds(0).as('seconds')])
        .executeTakeFirstOrThrow(),
    )
    const afterMs = Date.now()
    const [ms, secondsMs] = [Number(row.ms) + 250, Number(row.seconds) * 1_000]
    expect([ms >= beforeMs - 50, ms <= afterMs + 50]).toEqual([true, true])
    expect([secondsMs >= beforeMs - 1_050, secondsMs <= afterMs + 1_050]).toEqual([true, true])
  })

  test('counts rows that were found, also when nothing of them had to change', async () => {
    for (let round = 0; round < 2; round += 1) {
      const update = await steps.step((db) =>
        db.updateTable('latchkey_users').set({ last_login_at: now }).where('id', '=', 'ada').executeTakeFirstOrThrow(),
      )
      expect(update.numUpdatedRows).toBe(1n)
    }
  })

  test('cuts nothing to fit: what is too long is refused', async () => {
    const long = (db: Parameters<Parameters<Steps['step']>[0]>[0]) =>
      db
        .updateTable('latchkey_users')
        .set({ email: 'x'.repeat(321) })
        .where('id', '=', 'ada')
        .execute()
    await expect(steps.step(long)).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  test('tells nothing of rows and values when a statement is refused', async () => {
    const row = { scope: '', network: "o'hara@example.test", created_at: now }
    const insert = () => steps.step((db) => db.insertInto('latchkey_access_entries').values(row).execute())
    await insert()
    const error = await insert().catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code: 'store_unavailable' })
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hara')
  })

  test('takes quotes, backslashes and placeholders in a value as what they are', async () => {
    const names = ["'; drop table latchkey_users; --", '\\', "\\' or 1=1 -- ", '"`$1?:a', '𝒜🦊\u202e']
    for (const name of names) {
      await steps.step((db) => db.updateTable('latchkey_users').set({ name }).where('name', 'is not', null).execute())
      const found = await steps.step((db) =>
        db.selectFrom('latchkey_users').select('name').where('name', '=', name).execute(),
      )
      expect(found).toEqual([{ name }])
    }
  })
})
