import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isLastByRole } from '../../../../src/store/accounts/last-admin.js'
import { toTokenRow } from '../../../../src/store/one-time-tokens.js'
import { numberColumns } from '../../../../src/store/rows.js'
import { connect } from '../../../../src/store/sql/engine/connect.js'
import { createSteps } from '../../../../src/store/sql/engine/steps.js'
import { migrations, migrationsTable } from '../../../../src/store/sql/migrations/list.js'
import { migrate } from '../../../../src/store/sql/migrations/migrate.js'
import { devices, identities, oneTimeTokens } from '../../../../src/store/tables.js'
import type { Page, Query } from '../../../../src/store/unit.js'
import { aRegistration, now } from '../../../contracts/store/rows.js'
import { storeOptions, temporaryFolder } from '../../../support/databases.js'
import { watchedDatabase } from '../../../support/watched-database.js'

/** Steps over the tables of a new database, and the statements that they have made. */
async function openSteps() {
  const statements: string[] = []
  const { database, dialect } = watchedDatabase({ before: (text) => void statements.push(text) })
  const connection = await connect({ kind: 'dialect', dialect }, Date.now)
  onTestFinished(() => connection.db.destroy())
  await migrate({ ...storeOptions(), ...connection, migrations, table: migrationsTable })
  const steps = createSteps({ ...storeOptions(), ...connection, isLastAdmin: isLastByRole })
  statements.length = 0
  return { database, statements, steps }
}

/** Steps that have a token. */
async function withToken() {
  const opened = await openSteps()
  const token = aRegistration('ada@example.com')
  await opened.steps.transaction(async (unit) => unit.put(oneTimeTokens, toTokenRow(token, unit)))
  opened.statements.length = 0
  const read = () => opened.steps.glance((view) => view.get(oneTimeTokens, { id: token.id }))
  return { ...opened, token, read }
}

describe('a step on rows of a SQL database', () => {
  test('takes the lock for writing before it reads', async () => {
    const { steps, statements } = await withToken()
    await steps.transaction((unit) => unit.find(oneTimeTokens, {}))
    expect(statements.map((text) => text.split(' ')[0])).toEqual(['begin', 'update', 'select', 'commit'])
  })

  test('writes the columns that have changed, and nothing where none has', async () => {
    const { steps, statements, token, read } = await withToken()
    await steps.transaction(async (unit) => {
      const row = await unit.get(oneTimeTokens, { id: token.id })
      if (row) await unit.put(oneTimeTokens, { ...row })
      if (row) await unit.put(oneTimeTokens, { ...row, tries: 3 })
    })
    const updates = statements.filter((text) => text.startsWith('update "latchkey_one'))
    expect(updates).toEqual(['update "latchkey_one_time_tokens" set "tries" = ? where "id" = ?'])
    expect((await read())?.tries).toBe(3)
  })

  test('changes no row that it has read without a lock', async () => {
    const { steps, token, read } = await withToken()
    const step = steps.transaction(async (unit) => {
      const [row] = await unit.find(oneTimeTokens, { id: token.id })
      if (row) await unit.put(oneTimeTokens, { ...row, tries: 3 })
    })
    await expect(step).rejects.toMatchObject({ code: 'store_unavailable' })
    expect((await read())?.tries).toBe(0)
  })

  test('keeps a row that it has dropped and written again', async () => {
    const { steps, token, read } = await withToken()
    await steps.transaction(async (unit) => {
      const row = await unit.get(oneTimeTokens, { id: token.id })
      await unit.drop(oneTimeTokens, { email: token.email })
      if (row) await unit.put(oneTimeTokens, { ...row, tries: 2 })
    })
    expect((await read())?.tries).toBe(2)
  })

  test('finds a row by its key alone, whatever else stands beside the key', async () => {
    const { steps } = await openSteps()
    const key = { provider: 'google', subject: 'x', linked_at: now, user_id: 'unknown' }
    expect(await steps.glance((view) => view.get(identities, key))).toBeNull()
  })

  test('answers each read of one shape for its own values', async () => {
    const { steps, token } = await withToken()
    const find = (query: Query, page?: Page) => steps.glance((view) => view.find(oneTimeTokens, query, page))
    const counts = async (queries: readonly Query[]) => {
      const found = await Promise.all(queries.map((query) => find(query, { sort: { id: 1 }, limit: 1 })))
      return found.map((rows) => rows.length)
    }
    const { id, expiresAt } = token
    expect(await counts([{ id }, { id: 'unknown' }, { id: { ne: id } }, { id: { in: [id] } }])).toEqual([1, 0, 0, 1])
    const late = { expires_at: { gt: expiresAt } }
    const bounds = [{ gt: expiresAt - 1 }, { gte: expiresAt }, { lt: expiresAt }, { lte: expiresAt }]
    expect(await counts([late, ...bounds.map((expires_at) => ({ expires_at }))])).toEqual([0, 1, 1, 0, 1])
    expect(
      await counts([
        { id, ...late },
        { id, expires_at: { gt: 0 } },
        { ...late, id },
      ]),
    ).toEqual([0, 1, 0])
  })

  test('asks the database for nothing that is in an empty list', async () => {
    const { steps, statements } = await openSteps()
    expect(await steps.glance((view) => view.find(devices, { token_hash: { in: [] } }))).toEqual([])
    await steps.transaction((unit) => unit.drop(devices, { token_hash: { in: [] } }))
    expect(statements).toEqual(['begin', 'commit'])
  })

  test('one conditional write is one statement, which says whether it has changed a row', async () => {
    const { steps, statements, token } = await withToken()
    const raise = () => steps.write(oneTimeTokens, { query: { id: token.id, tries: { lt: 1 } }, raise: ['tries'] })
    expect([await raise(), await raise()]).toEqual([true, false])
    expect(statements).toHaveLength(2)
  })
})

test('every column of numbers is read as a number', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => folder.remove())
  const connection = await connect({ kind: 'sqlite', file: join(folder.path, 'latchkey.db') }, Date.now)
  onTestFinished(() => connection.db.destroy())
  await migrate({ ...storeOptions(), ...connection, migrations, table: migrationsTable })
  const tables = await connection.db.introspection.getTables()
  const numbers = tables
    .filter(({ name }) => name.startsWith('latchkey_') && !name.startsWith(migrationsTable))
    .flatMap(({ columns }) => columns)
    .filter(({ dataType }) => /int/i.test(dataType))
  const missing = numbers.map(({ name }) => name).filter((name) => !numberColumns.includes(name))
  expect(missing).toEqual([])
})
