import { CompiledQuery, type Dialect, Kysely, MssqlDialect, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely'
import { expect, test } from 'vitest'
import { connect } from '../../../../src/store/sql/engine/connect.js'
import { openSqlite } from '../../../../src/store/sql/engine/sqlite-driver.js'
import { openSqlStore } from '../../../../src/store/sql/store.js'
import { createdUser } from '../../../contracts/store/rows.js'
import { storeOptions } from '../../../support/databases.js'

const unused = () => Promise.reject(new Error('Nothing connects here.'))
const sqlite = new SqliteDialect({ database: unused })
const postgres = new PostgresDialect({ pool: unused })
const mysql = new MysqlDialect({ pool: unused })
const mssql: Dialect = Reflect.construct(MssqlDialect, [
  { tarn: { Pool: class {}, options: {} }, tedious: { connectionFactory: unused, Request: class {} } },
])

/** The same dialect under no class name that anybody knows, as minifiers and third parties leave it. */
function anonymous(dialect: Dialect): Dialect {
  return {
    createDriver: () => dialect.createDriver(),
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

function connectDialect(dialect: unknown) {
  return connect({ kind: 'dialect', dialect }, () => 0)
}

test.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
  ['mysql', mysql],
])('the SQL of a given dialect is recognised without connecting: %s', async (name, dialect) => {
  const { flavour, driver } = await connectDialect(dialect)
  expect([flavour.name, driver]).toEqual([name, 'dialect'])
  expect((await connectDialect(anonymous(dialect))).flavour.name).toBe(name)
})

test('a dialect of another SQL is refused', async () => {
  await expect(connectDialect(mssql)).rejects.toThrow(
    'database: the dialect must speak the SQL of SQLite, PostgreSQL, MySQL or MariaDB.',
  )
})

test.each([null, 'postgres://db', {}, { createDriver() {} }, new Kysely({ dialect: sqlite })])(
  'what is no dialect is refused: %o',
  async (value) => {
    await expect(connectDialect(value)).rejects.toThrow('database: give a URL or a Kysely dialect.')
  },
)

test('a store opens on a SQLite dialect of the application', async () => {
  const dialect = new SqliteDialect({ database: await openSqlite(':memory:') })
  const store = await openSqlStore({ ...storeOptions(), database: { kind: 'dialect', dialect } })
  const user = await createdUser(store)
  expect(await store.users.findByEmail(user.emailCanonical)).toEqual(user)
  await store.close()
})

test('a statement is prepared once, and many texts do not pile up', async () => {
  const { db } = await connect({ kind: 'sqlite', file: ':memory:' }, () => 0)
  const ask = (text: string) => db.executeQuery(CompiledQuery.raw(text))
  for (let index = 0; index < 600; index += 1) {
    const { rows } = await ask(`select ${index} as number`)
    expect(rows).toEqual([expect.objectContaining({ number: index })])
  }
  const database = await openSqlite(':memory:')
  expect(database.prepare('select 1')).toBe(database.prepare('select 1'))
  database.close()
  await db.destroy()
})
