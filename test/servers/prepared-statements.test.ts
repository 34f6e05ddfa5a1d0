import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { aMail, anEvent, atOnce, createdUser, now } from '../contracts/store/rows.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase } from '../support/servers.js'

/** A store on one connection, so that the test knows what stands on it. */
async function openOne(parameters = '') {
  const database = await createDatabase('postgres')
  const url = `${database.url}?connection_limit=1${parameters}`
  const store = await openSqlStore({ ...storeOptions({ sleep: pause }), database: { kind: 'postgres', url } })
  onTestFinished(async () => {
    await store.close()
    await database.close()
  })
  // What a connection has prepared, nobody else sees; a trigger of its own notes it.
  await database.query('create table noted (statements bigint)')
  await database.query(`create function note() returns trigger language plpgsql
    as $$ begin insert into noted select count(*) from pg_prepared_statements; return null; end $$`)
  await database.query('create trigger note after insert on latchkey_access_entries execute function note()')
  let asked = 0
  async function prepared(): Promise<number> {
    asked += 1
    await store.accessSettings.addNetwork(`192.0.2.${asked}/32`, anEvent(), () => true)
    const [row] = await database.query('delete from noted returning statements')
    return Number(row?.statements)
  }
  return { store, database, prepared }
}

test('a column that a newer release adds under prepared statements fails nobody', async () => {
  const { store, database } = await openOne()
  const user = await createdUser(store)
  for (const column of ['one', 'two']) {
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.oneTimeTokens.listByEmail('otp', user.emailCanonical, now)).toEqual([])
    await database.query(`alter table latchkey_users add column later_${column} text`)
    await database.query(`alter table latchkey_one_time_tokens add column later_${column} text`)
    await database.query(`alter table latchkey_outbox add column later_${column} text`)
  }
  expect(await store.users.findById(user.id)).toEqual(user)
  const mail = aMail()
  await store.outbox.put(mail)
  expect(await store.outbox.lease(1, now, now + 60)).toHaveLength(1)
})

test('a pooler that nobody told us of takes prepared statements away: nobody fails, and no more are made', async () => {
  const { store, database, prepared } = await openOne()
  const user = await createdUser(store)
  expect(await store.users.findById(user.id)).toEqual(user)
  expect(await prepared()).toBeGreaterThan(3)
  // Only the connection itself can take away what is prepared on it, so a trigger does.
  const { query } = database
  await query(`create function forget() returns trigger language plpgsql
    as $$ begin execute 'deallocate all'; return null; end $$`)
  await query('create trigger forget after insert on latchkey_outbox execute function forget()')
  await store.outbox.put(aMail())
  expect(await atOnce(() => store.users.findById(user.id))).toEqual(Array.from({ length: 20 }, () => user))
  await store.outbox.put(aMail())
  expect(await store.users.findById(user.id)).toEqual(user)
  expect(await prepared()).toBe(0)
})

test('behind a pooler that was announced nothing is prepared', async () => {
  const { store, prepared } = await openOne('&pgbouncer=true')
  const user = await createdUser(store)
  expect(await store.users.findById(user.id)).toEqual(user)
  expect(await prepared()).toBe(0)
})

test('texts of differing length do not pile up on a connection', async () => {
  const { store, prepared } = await openOne()
  const user = await createdUser(store)
  for (let count = 1; count <= 400; count += 1) {
    await store.apiTokens.findByHash(Array.from({ length: count }, (_, index) => `hash-${index}`))
  }
  expect(await store.users.findById(user.id)).toEqual(user)
  expect(await prepared()).toBeLessThan(100)
})
