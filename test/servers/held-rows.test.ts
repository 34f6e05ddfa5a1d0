import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { createdUser, now, openedSession } from '../contracts/store/rows.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

let database: TestDatabase
let store: Store
/** Another process, which stands still in the middle of a transaction. */
let other: pg.Client
beforeAll(async () => {
  database = await createDatabase('postgres')
  const options = storeOptions({ sleep: pause, now: Date.now })
  store = await openSqlStore({ ...options, database: { kind: 'postgres', url: database.url } })
  other = new pg.Client({ connectionString: database.url })
  await other.connect()
})
afterAll(async () => {
  await other.end()
  await store.close()
  await database.close()
})

test('a session whose row is held for long costs others of the same statement time, and nothing else', async () => {
  const user = await createdUser(store)
  const sessions = [
    await openedSession(store, user),
    await openedSession(store, user),
    await openedSession(store, user),
  ]
  await other.query('begin')
  await other.query('select id from latchkey_sessions where id = $1 for update', [sessions[1]?.id])
  const rotations = sessions.map(({ id, userId, mode }) =>
    store.sessions.rotate({
      ...{ sessionId: id, userId, mode, counter: 0, now },
      ...{ issuedAt: now, expiresAt: now + 1_000, provenForMs: 30_000 },
    }),
  )
  const outcomes = await Promise.allSettled(rotations)
  await other.query('rollback')
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { session: { counter: 1 } } },
    { status: 'rejected', reason: { code: 'store_unavailable' } },
    { status: 'fulfilled', value: { session: { counter: 1 } } },
  ])
})

test('a counter whose row is held for long keeps no other from being counted', async () => {
  const rule = { limit: 5, windowSeconds: 60 }
  for (const id of ['first', 'second']) await store.counters.hit(id, rule, now)
  await other.query('begin')
  await other.query("select id from latchkey_counters where id = 'first' for update")
  const hits = await Promise.allSettled(['first', 'second'].map((id) => store.counters.hit(id, rule, now)))
  await other.query('rollback')
  expect(hits).toMatchObject([
    { status: 'rejected', reason: { code: 'store_unavailable' } },
    { status: 'fulfilled', value: { counted: true, remaining: 3 } },
  ])
})
