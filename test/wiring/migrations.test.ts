import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { createAuth, type LatchkeySettings } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { temporaryFolder, testAuth } from '../support/auth.js'
import { startPostgres } from '../support/pglite.js'

const silent = { warn: () => {}, error: () => {} }
const names = ['0001-first', '0002-actor', '0003-administration', '0004-scopes', '0005-passkeys']
const done = names.map((name) => ({ name, at: expect.stringMatching(/^20\d\d-.*Z$/), known: true }))

function unopened(database: NonNullable<LatchkeySettings['database']>) {
  const auth = createAuth(testSettings({ database, logger: silent }), createTestRuntime())
  onTestFinished(() => auth.close())
  return auth
}

test('before the first start everything is pending, with its statements, and nothing is made', async () => {
  const folder = temporaryFolder()
  const auth = unopened(`sqlite:${join(folder, 'latchkey.db')}`)
  const plan = await auth.migrations()
  expect(plan.applied).toEqual([])
  expect(plan.pending.map(({ name }) => name)).toEqual(names)
  const statements = plan.pending.flatMap(({ sql }) => sql)
  expect(statements).toContainEqual(expect.stringMatching(/^create table if not exists "latchkey_users"/))
  expect(statements).toContainEqual(expect.stringMatching(/^create index if not exists "latchkey_sessions_/))
  expect(statements).toContainEqual('alter table "latchkey_audit" add column "actor" text')
  expect(readdirSync(folder)).toEqual([])

  await auth.ready()
  expect(await auth.migrations()).toEqual({ applied: done, pending: [] })
})

test('the statements are those that are run: together they make the tables', async () => {
  const auth = unopened('sqlite::memory:')
  const statements = (await auth.migrations()).pending.flatMap(({ sql }) => sql)
  const database = new Database(':memory:')
  for (const sql of statements) if (/^(create|alter|drop)/.test(sql)) database.exec(sql)
  const schema = (of: Database.Database) =>
    of.prepare("select type, name, sql from sqlite_master where name not like '%migrations%' order by name").all()

  const file = join(temporaryFolder(), 'latchkey.db')
  const made = unopened(`sqlite:${file}`)
  await made.ready()
  expect(schema(database)).toEqual(schema(new Database(file, { readonly: true })))
})

test('a file of another program is read without a byte being changed', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'theirs.db')
  const theirs = new Database(file)
  theirs.exec('create table notes (text text)')
  theirs.close()
  const digest = () => createHash('sha256').update(readFileSync(file)).digest('hex')
  const before = digest()
  expect((await unopened(`sqlite:${file}`).migrations()).pending).toHaveLength(names.length)
  expect(digest()).toBe(before)
  expect(readdirSync(folder)).toEqual(['theirs.db'])
})

test('asked first, it keeps the store shut until a request or ready() asks for it', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const auth = unopened(`sqlite:${file}`)
  await auth.migrations()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(existsSync(file)).toBe(false)
  expect((await auth.fetch(new Request('http://localhost:3000/auth/me'))).status).toBe(401)
  expect(existsSync(file)).toBe(true)
})

test('what a newer release has done is told, and known as such', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const { auth } = await testAuth({ database: `sqlite:${file}` })
  await auth.close()
  const other = new Database(file)
  other.exec("insert into latchkey_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')")
  other.close()
  const later = { name: '9999-later', at: '2030-01-01T00:00:00.000Z', known: false }
  expect(await unopened(`sqlite:${file}`).migrations()).toEqual({ applied: [...done, later], pending: [] })
})

test('on PostgreSQL the statements are PostgreSQL, and the dialect of the application stays usable', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.close())
  const auth = unopened(postgres.dialect())
  const { applied, pending } = await auth.migrations()
  expect(applied).toEqual([])
  expect(pending.flatMap(({ sql }) => sql)).toContainEqual(expect.stringMatching(/^insert into .* values \(\$1, \$2/))
  await auth.ready()
  expect(await auth.migrations()).toEqual({ applied: done, pending: [] })
})

test('it rejects with what is wrong with the database, and a closed one has nothing to say', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  writeFileSync(file, 'no database, but a text that is longer than the header of one. '.repeat(20))
  const auth = unopened(`sqlite:${file}`)
  await expect(auth.migrations()).rejects.toThrow(/database: .* is not an SQLite database/)
  await auth.close()
  await expect(auth.migrations()).rejects.toMatchObject({ code: 'store_unavailable' })
})
