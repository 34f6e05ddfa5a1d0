import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openSchema } from '../../src/host/storage/postgres/open-schema.js'
import { openPools, type Pool, type Pools } from '../../src/host/storage/postgres/pool.js'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { defaultLimits } from '../../src/host/storage/threads.js'
import { randomId } from '../support/databases.js'
import { makeIndex, scanOf } from '../support/index-scans.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase('postgres')
})
afterAll(() => database.close())

/** Calls back once, after the first statement that reads places of entries. */
function watched(pool: Pool, onPlaces: () => Promise<unknown>): Pool {
  let wasRead = false
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      return {
        release: () => client.release(),
        async query(text, values) {
          const result = await client.query(text, values)
          if (!wasRead && text.startsWith('select x.k, x.id')) {
            wasRead = true
            await onPlaces()
          }
          return result
        },
      }
    },
  }
}

async function opened(): Promise<{ pools: Pools; schema: string }> {
  const pools = openPools(database.url)
  onTestFinished(async () => {
    await Promise.all([pools.calls.end(), pools.snapshots.end()])
  })
  return { pools, schema: schemaName(randomId(), 1) }
}

test.each([1, -1, null] as const)(
  'a document whose value changes while a page is read is in the page once, in order %s',
  async (order) => {
    const { pools, schema } = await opened()
    const { documents, indexes } = await openSchema(pools, schema, defaultLimits)
    for (const [id, n] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      await documents.put('notes', id, JSON.stringify({ n }), 'absent')
    }
    await makeIndex(indexes, 'notes', 'n')
    const change = () => documents.put('notes', 'a', '{"n":3}', 'any')
    const reader = await openSchema({ ...pools, calls: watched(pools.calls, change) }, schema, defaultLimits)

    const page = await reader.indexes.scan('notes', scanOf('n', { order }))
    const seen = page.documents.map(({ id, body }) => `${id} ${body}`)
    expect(seen.toSorted()).toEqual(['a {"n":1}', 'b {"n":2}'])
    expect((await documents.get('notes', 'a'))?.body).toBe('{"n":3}')
  },
)
