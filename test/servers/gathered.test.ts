import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '../../src/model/session.js'
import type { SessionState } from '../../src/store/sessions.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { atOnce, createdUser, now, openedSession } from '../contracts/store/rows.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

const rule = { limit: 5, windowSeconds: 60 }

let database: TestDatabase
let store: Store
/** Another process, which stands still in the middle of a transaction. */
let other: pg.Client

function open(parameters = ''): Promise<Store> {
  const url = `${database.url}?${parameters}`
  return openSqlStore({ ...storeOptions({ sleep: pause, now: Date.now }), database: { kind: 'postgres', url } })
}

beforeAll(async () => {
  database = await createDatabase('postgres')
  store = await open()
  other = new pg.Client({ connectionString: database.url })
  await other.connect()
  await database.query('create table noted (place text)')
  await database.query(`create function note() returns trigger language plpgsql
    as $$ begin insert into noted values (tg_table_name); return null; end $$`)
  for (const [table, verb] of [
    ['latchkey_counters', 'insert'],
    ['latchkey_sessions', 'update'],
  ])
    await database.query(`create trigger note after ${verb} on ${table} for each statement execute function note()`)
})
afterAll(async () => {
  await other.end()
  await store.close()
  await database.close()
})
beforeEach(() => database.query('truncate latchkey_counters, noted'))

async function statements(): Promise<number> {
  return (await database.query('delete from noted returning place')).length
}

async function opened(count: number): Promise<Session[]> {
  const user = await createdUser(store)
  const sessions: Session[] = []
  while (sessions.length < count) sessions.push(await openedSession(store, user))
  await statements()
  return sessions
}

function refresh({ id, userId, mode }: Session, by = store): Promise<SessionState | null> {
  const times = { issuedAt: now, expiresAt: now + 1_000, provenForMs: 30_000, now }
  return by.sessions.rotate({ sessionId: id, userId, mode, counter: 0, ...times })
}

describe('what is asked at the same time', () => {
  test('is one statement for hits of one rule, a hundred in each at most', async () => {
    const hits = await atOnce((index) => store.counters.hit(`counter ${index}`, rule, now), 250)
    expect(hits.every(({ counted, remaining }) => counted && remaining === 4)).toBe(true)
    expect(await statements()).toBe(3)
  })

  test('is a statement each for hits of one counter, and of another rule', async () => {
    await atOnce(() => store.counters.hit('one', rule, now), 3)
    expect(await statements()).toBe(3)
    await atOnce((index) => store.counters.hit('two', { ...rule, limit: 9 + index }, now), 2)
    expect(await statements()).toBe(2)
  })

  test('is one statement for refreshes', async () => {
    const sessions = await opened(20)
    const states = await Promise.all(sessions.map((session) => refresh(session)))
    expect(states.map((state) => state?.session.id)).toEqual(sessions.map(({ id }) => id))
    expect(await statements()).toBe(1)
  })

  test('is a statement each where no connection of ours says how long a row may be waited for', async () => {
    const pooled = await open('pgbouncer=true')
    await atOnce((index) => pooled.counters.hit(`counter ${index}`, rule, now), 4)
    expect(await statements()).toBe(4)
    const sessions = await opened(3)
    await Promise.all(sessions.map((session) => refresh(session, pooled)))
    expect(await statements()).toBe(3)
    await pooled.close()
  })
})

describe('a row that is held for long by another process', () => {
  test('of a session costs others of the same statement time, and nothing else', async () => {
    const sessions = await opened(3)
    await other.query('begin')
    await other.query('select id from latchkey_sessions where id = $1 for update', [sessions[1]?.id])
    const outcomes = await Promise.allSettled(sessions.map((session) => refresh(session)))
    await other.query('rollback')
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: { session: { counter: 1 } } },
      { status: 'rejected', reason: { code: 'store_unavailable' } },
      { status: 'fulfilled', value: { session: { counter: 1 } } },
    ])
  })

  test('of a counter keeps no other from being counted', async () => {
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
})

test('a row that cannot be read is no fault of the others', async () => {
  const sessions = await opened(3)
  await database.query(`update latchkey_sessions set amr = '[' where id = '${sessions[1]?.id}'`)
  const outcomes = await Promise.allSettled(sessions.map((session) => refresh(session)))
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { session: { counter: 1 } } },
    { status: 'rejected', reason: { code: 'store_unavailable' } },
    { status: 'fulfilled', value: { session: { counter: 1 } } },
  ])
})
