import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createWorld } from '../../../src/lib/runtime.js'
import { createTestRuntime } from '../../../src/testing.js'
import { temporaryFolder } from '../../support/auth.js'
import { diagnosed, doctorContext, examined } from '../../support/doctor.js'
import { failingDatabase } from '../../support/failing-database.js'
import { watchedDatabase } from '../../support/watched-database.js'

test('a database that cannot be opened is one finding, and the checks that need it are skipped', async () => {
  const settings = { database: `sqlite:${join(temporaryFolder(), 'nowhere', 'latchkey.db')}` }
  const results = await examined({ settings })
  expect(results.filter(({ ok }) => !ok)).toMatchObject([
    { code: 'store_unreachable', level: 'error', finding: expect.stringContaining('nowhere does not exist') },
  ])
  expect(results.find(({ code }) => code === 'mail_backlog')).toMatchObject({
    skipped: 'The database cannot be opened as it is.',
  })
})

test('a database that stops answering is found without the words of its driver', async () => {
  const database = failingDatabase()
  const context = await doctorContext({ settings: { database: database.dialect } })
  await context.store()
  database.failAfter(0)
  const results = await examined({ place: 'S', context })
  expect(results.filter(({ ok }) => !ok)).toMatchObject([{ code: 'store_unreachable', level: 'error' }])
  expect(JSON.stringify(results)).not.toContain('disk I/O')
})

test.each([
  [51, [{ ok: false, level: 'warn', finding: 'The median of 20 reads is 51 ms.' }]],
  [50, [{ ok: true }]],
])('reads of %i ms each', async (milliseconds, expected) => {
  const runtime = createTestRuntime({ fetch: globalThis.fetch })
  let elapsedMs = 0
  const { dialect } = watchedDatabase({
    before(sql) {
      if (/latchkey_changes/.test(sql) && /max/.test(sql)) elapsedMs += milliseconds
    },
  })
  const world = { ...createWorld(runtime), monotonic: () => elapsedMs }
  expect(await diagnosed('store_slow', { settings: { database: dialect }, world })).toMatchObject(expected)
})

test('tables that are older than the release are found, and nothing is migrated', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const made = await doctorContext({ settings: { database: `sqlite:${file}` } })
  const { applied } = await (await made.store().then(() => made)).migrations()
  const newest = applied.at(-1)?.name
  const database = new Database(file)
  database.prepare('delete from latchkey_migrations where name = ?').run(newest)

  expect(
    await diagnosed('schema_behind', { context: { migrations: made.migrations, store: made.store } }),
  ).toMatchObject([
    {
      ok: false,
      level: 'error',
      finding: `Migrations are pending. To run: ${newest}.`,
      cure: 'Run `latchkey migrate`.',
    },
  ])
  expect(database.prepare('select count(*) as n from latchkey_migrations').get()).toEqual({ n: applied.length - 1 })
  database.close()
})

test('tables of a newer release are found', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const made = await doctorContext({ settings: { database: `sqlite:${file}` } })
  await made.store()
  const database = new Database(file)
  database.prepare('insert into latchkey_migrations values (?, ?)').run('9999-later', '2030-01-01T00:00:00.000Z')
  database.close()
  const context = { migrations: made.migrations, store: made.store }
  expect(await diagnosed('schema_ahead', { context })).toMatchObject([
    { ok: false, level: 'error', finding: 'Migrations that this release does not know: 9999-later.' },
  ])
  expect(await diagnosed('schema_behind', { context })).toMatchObject([{ ok: true }])
})
