import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { openSchemas } from '../../src/host/storage/postgres/schemas.js'
import { randomId } from '../support/databases.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase('postgres')
})
afterAll(() => database.close())

test('what a space asks of its schema does not wait until another space is removed', async () => {
  const schemas = openSchemas(database.url)
  onTestFinished(schemas.close)
  const [gone, other] = [randomId(), randomId()]
  const schema = `"${schemaName(gone, 1)}"`
  const tables = Array.from({ length: 45 }, (_, n) => `create table ${schema}.c${n} (id bytea)`)
  await database.query(['create schema ', schema, ';', tables.join(';')].join(''))

  const order: string[] = []
  await Promise.all([
    schemas.remove(gone).then(() => order.push('removed')),
    schemas.has(other, 1).then(() => order.push('answered')),
  ])
  expect(order).toEqual(['answered', 'removed'])
  expect(await schemas.has(gone, 1)).toBe(false)
})
