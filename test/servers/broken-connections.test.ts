import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { aMail, anEvent, atOnce, createdUser, now } from '../contracts/store/rows.js'
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type ServerKind, serverUrls, type TestDatabase } from '../support/servers.js'

const unavailable = { code: 'store_unavailable', status: 503 }

describe.each<ServerKind>(['postgres', 'mysql'])('connections to %s that break', (kind) => {
  let database: TestDatabase
  let proxy: CuttingProxy
  let store: Store
  /** Where the proxy listens instead of the server. */
  let url: URL

  beforeAll(async () => {
    database = await createDatabase(kind)
    const target = new URL(serverUrls[kind])
    proxy = await startCuttingProxy({ host: target.hostname, port: Number(target.port) })
    url = new URL(database.url)
    url.port = String(proxy.port)
  })
  afterAll(async () => {
    await proxy.close()
    await database.close()
  })
  beforeEach(async () => {
    store = await open()
  })
  afterEach(async () => {
    proxy.cut('', 'before', 0)
    proxy.thaw()
    await store.close()
  })

  function open(parameters: Readonly<Record<string, string>> = {}): Promise<Store> {
    const own = new URL(url)
    for (const [name, value] of Object.entries(parameters)) own.searchParams.set(name, value)
    return openSqlStore({ ...storeOptions({ sleep: pause, now: Date.now }), database: { kind, url: own.href } })
  }
  // As it ends a message of PostgreSQL: transactions begin with `isolation level read committed`.
  const commit = kind === 'postgres' ? 'commit\0' : 'commit'
  const quoted = (table: string) => (kind === 'postgres' ? `"${table}"` : `\`${table}\``)
  async function count(table: string, id: string): Promise<number> {
    const [row] = await database.query(`select count(*) as found from ${table} where id = '${id}'`)
    return Number(row?.found)
  }

  test('a read is done again, also when only its answer was lost', async () => {
    const user = await createdUser(store)
    for (const when of ['before', 'after'] as const) {
      const fresh = await open()
      proxy.cut(`from ${quoted('latchkey_users')}`, when, 2)
      expect(await fresh.users.findById(user.id)).toEqual(user)
      expect(proxy.cuts).toBe(2)
      await fresh.close()
    }
  })

  test.each(['before', 'after'] as const)(
    'a transaction is done again when it breaks %s a statement of it ran',
    async (when) => {
      for (const text of [`insert into ${quoted('latchkey_outbox')}`, `update ${quoted('latchkey_audit_head')}`]) {
        const mail = aMail()
        const event = anEvent()
        const fresh = await open()
        proxy.cut(text, when, 2)
        await fresh.outbox.put(mail, event)
        expect(proxy.cuts).toBe(2)
        expect([await count('latchkey_outbox', mail.id), await count('latchkey_audit', event.id)]).toEqual([1, 1])
        await fresh.close()
      }
    },
  )

  test('a transaction whose commit did not arrive is unavailable and has not happened; the caller may ask again', async () => {
    const mail = aMail()
    proxy.cut(commit, 'before')
    await expect(store.outbox.put(mail)).rejects.toMatchObject(unavailable)
    expect(proxy.cuts).toBe(1)
    expect(await count('latchkey_outbox', mail.id)).toBe(0)
    await store.outbox.put(mail)
    expect(await count('latchkey_outbox', mail.id)).toBe(1)
  })

  test('a transaction whose commit was not answered is unavailable, and has happened once', async () => {
    const mail = aMail()
    proxy.cut(commit, 'after')
    await expect(store.outbox.put(mail)).rejects.toMatchObject(unavailable)
    expect(proxy.cuts).toBe(1)
    expect(await count('latchkey_outbox', mail.id)).toBe(1)
  })

  test('a single write is not done again: a hit whose answer was lost counts once', async () => {
    const id = 'b'.repeat(43)
    const rule = { limit: 3, windowSeconds: 60 }
    for (const when of ['before', 'after'] as const) {
      proxy.cut(kind === 'postgres' ? 'insert into latchkey_counters' : 'insert into `latchkey_counters`', when)
      await expect(store.counters.hit(id, rule, now)).rejects.toMatchObject(unavailable)
      expect(proxy.cuts).toBe(1)
    }
    expect(await store.counters.hit(id, rule, now)).toMatchObject({ counted: true, remaining: 1 })
  })

  test('a mail that was sent is taken out although the answer was lost, so that nobody sends it again', async () => {
    const mail = aMail()
    await store.outbox.put(mail)
    const leased = (await store.outbox.lease(10, now, now + 60)).find(({ id }) => id === mail.id)
    proxy.cut(`delete from ${quoted('latchkey_outbox')}`, 'after', 2)
    await store.outbox.sent(leased ?? { id: '', leaseId: '' })
    expect(proxy.cuts).toBe(2)
    expect(await count('latchkey_outbox', mail.id)).toBe(0)
  })

  test('connections that the server ends while they wait are replaced', async () => {
    const user = await createdUser(store)
    await atOnce(() => store.users.findById(user.id))
    await endConnections(database)
    await pause(50)
    expect(await atOnce(() => store.users.findById(user.id))).toEqual(Array.from({ length: 20 }, () => user))
  })

  test('whatever the server ends while many write, each write has happened once or not at all, and whoever was told so is right', async () => {
    const events = Array.from({ length: 100 }, () => anEvent())
    const writing = Promise.allSettled(events.map((event) => store.audit.record(event)))
    let busy = true
    const ending = (async () => {
      while (busy) {
        await endConnections(database)
        await pause(30)
      }
    })()
    const outcomes = await writing
    busy = false
    await ending
    for (const [index, event] of events.entries()) {
      const outcome = outcomes[index]
      const found = await count('latchkey_audit', event.id)
      if (outcome?.status === 'fulfilled') expect(found).toBe(1)
      else expect(outcome?.reason).toMatchObject(unavailable)
    }
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    expect(await store.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })

  test('a server that is away is unavailable after two seconds, and there again as soon as it is', async () => {
    const user = await createdUser(store)
    await proxy.stop()
    await expect(store.users.findById(user.id)).rejects.toMatchObject(unavailable)

    const waiting = store.users.findById(user.id)
    await pause(300)
    await proxy.listen()
    expect(await waiting).toEqual(user)
  })

  test('a network that swallows everything is given up on: by a new connection after 3 s, by a statement after its time', {
    timeout: 20_000,
  }, async () => {
    const impatient = await open({ statement_timeout: '2000', connect_timeout: '3', connection_limit: '1' })
    const user = await createdUser(store)
    expect(await impatient.users.findById(user.id)).toEqual(user)
    proxy.freeze()
    await expect(impatient.users.findById(user.id)).rejects.toMatchObject(unavailable)
    await expect(impatient.users.findById(user.id)).rejects.toMatchObject(unavailable)
    proxy.thaw()
    expect(await impatient.users.findById(user.id)).toEqual(user)
    await impatient.close()
  })

  test('no step waits for a connection, a lock or a slow statement for long', { timeout: 20_000 }, async () => {
    const narrow = await open({ statement_timeout: '2000', connect_timeout: '3', connection_limit: '1' })
    const user = await createdUser(store)
    await database.query('begin')
    await database.query(`select id from latchkey_users where id = '${user.id}' for update`)
    const event = anEvent()
    const refused = narrow.sessions.endAll(user.id, null, { until: now, audit: event })
    await expect(refused).rejects.toMatchObject(unavailable)
    await database.query('rollback')
    expect(await narrow.sessions.endAll(user.id, null, { until: now, audit: event })).toBe(0)
    await narrow.close()
  })
})

/** Ends every connection to the database but the one that asks, as a restart or an administrator does. */
async function endConnections({ kind, name, query }: TestDatabase): Promise<void> {
  if (kind === 'postgres') {
    await query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${name}' and pid <> pg_backend_pid() and application_name = 'latchkey'`)
    return
  }
  const rows = await query(
    `select id from information_schema.processlist where db = '${name}' and id <> connection_id()`,
  )
  for (const { id } of rows) await query(`kill ${id}`).catch(() => {})
}
