import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { createTestClock } from '../../src/testing/clock.js'
import { createHousekeeping } from '../../src/wiring/housekeeping.js'
import { createdUser, now, openedSession } from '../contracts/store/rows.js'
import { ada, testAuth } from '../support/auth.js'
import { storeOptions } from '../support/databases.js'
import { failingDatabase } from '../support/failing-database.js'

const tables = [
  'sessions',
  'one_time_tokens',
  'devices',
  'api_tokens',
  'counters',
  'outbox',
  'audit',
  'changes',
] as const

/** A database in memory that the test can look into. */
function openDatabase() {
  const database = new Database(':memory:')
  const rows = (table: string) =>
    Number(database.prepare<[], { count: number }>(`select count(*) as count from latchkey_${table}`).get()?.count)
  return { database, dialect: new SqliteDialect({ database }), rows }
}

describe('a year and more of traffic', () => {
  it('leaves every table bounded, and the audit log of the last 400 days whole', async () => {
    const { dialect, rows } = openDatabase()
    const gone = 'gone@example.test'
    const transport = {
      name: 'test',
      version: '1',
      send(mail: { data: unknown }, callback: (error: Error | null, sent: object) => void) {
        const refused = JSON.stringify(mail.data).includes(gone)
        callback(refused ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null, {})
      },
    }
    const { auth, client, runtime } = await testAuth({
      database: dialect,
      limits: {},
      mail: { from: 'Acme <hello@acme.example>', transport },
    })
    /** Somebody signs in and never comes back, strangers register and never confirm, a link is asked for and left. */
    async function twentyDays(round: number): Promise<void> {
      const browser = client({ ip: `192.0.2.${round}` })
      const account = { ...ada, email: `user-${round}@example.test` }
      await auth.users.create({ ...account, emailVerified: true })
      const { body } = await browser.signIn(account)
      await client().signIn(account)
      await auth.sessions.revoke(body.session.id)
      await auth.apiTokens.create({ name: 'short', expiresAt: new Date(runtime.clock.now() + 60_000) })
      await browser.post('/auth/register', { ...ada, email: `stranger-${round}@example.test` })
      await browser.post('/auth/register', { ...ada, email: gone })
      await browser.post('/auth/password/forgot', { email: account.email })
      await runtime.clock.set(runtime.clock.now() + 20 * 86_400_000)
    }
    /** Once every mail is sent or set aside. */
    async function counts() {
      await expect.poll(() => rows('outbox where set_aside = 0')).toBe(0)
      return Object.fromEntries(tables.map((table) => [table, rows(table)]))
    }

    for (let round = 0; round < 23; round += 1) await twentyDays(round)
    const before = await counts()
    for (let round = 23; round < 26; round += 1) await twentyDays(round)
    expect(await counts()).toEqual(before)
    expect(Math.max(...Object.values({ ...before, audit: 0 }))).toBeLessThan(50)
    expect(before.audit).toBeGreaterThan(100)

    const oldest = runtime.clock.now() - 421 * 86_400_000
    let cursor: string | null = ''
    const times: string[] = []
    while (cursor !== null) {
      const page = await auth.audit.list(cursor === '' ? { limit: 200 } : { limit: 200, cursor })
      times.push(...page.items.map(({ at }) => at))
      cursor = page.nextCursor
    }
    expect(Date.parse(times.at(-1) ?? '')).toBeGreaterThan(oldest)
    expect(await auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })
})

describe('housekeeping', () => {
  async function setUp(dialect: SqliteDialect) {
    const clock = createTestClock(now * 1000)
    const store = await openSqlStore({ ...storeOptions({ now: clock.now }), database: { kind: 'dialect', dialect } })
    const warned: unknown[] = []
    const housekeeping = createHousekeeping({
      endImpersonations: async () => false,
      endDeletionWaits: async () => false,
      store,
      clock: { now: () => Math.floor(clock.now() / 1000), nowMs: clock.now, monotonicMs: clock.monotonic },
      accessTokensLiveSeconds: 1_000,
      timer: clock.timer,
      random: () => 0.5,
      logger: { warn: (fields) => void warned.push(fields), error: () => {} },
    })
    onTestFinished(async () => {
      await housekeeping.close()
      await store.close()
    })
    housekeeping.start()
    return { clock, store, warned, housekeeping }
  }

  it('comes every ten minutes, takes little at a time, and goes on after a pause while there is more', async () => {
    const { database, dialect, rows } = openDatabase()
    const { clock, store } = await setUp(dialect)
    const user = await createdUser(store)
    await openedSession(store, user)
    const { id } = await openedSession(store, user, { refreshExpiresAt: now })
    const columns = "name from pragma_table_info('latchkey_sessions') where name not in ('id', 'ordinal')"
    const copied = database
      .prepare<[], { name: string }>(`select ${columns}`)
      .all()
      .map(({ name }) => name)
      .join()
    database.exec(
      `insert into latchkey_sessions (id, ordinal, ${copied})
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
       select 'copy' || i, i, ${copied} from n, latchkey_sessions where id = '${id}'`,
    )
    await clock.advance('9m')
    expect(rows('sessions')).toBe(1_202)
    await clock.advance('1m')
    expect(rows('sessions')).toBe(1_202)
    await clock.advance('10m')
    expect(rows('sessions')).toBe(1_002)
    await clock.advance(49)
    expect(rows('sessions')).toBe(1_002)
    await clock.advance(1)
    expect(rows('sessions')).toBe(802)
    await clock.advance(200)
    expect(rows('sessions')).toBe(2)
    await clock.advance(50)
    expect(rows('sessions')).toBe(1)
  })

  it('takes less at a time from a store that is slow, and a tenth of its time at most', async () => {
    const clock = createTestClock(now * 1000)
    const asked: { count: number; atMs: number }[] = []
    let workedMs = 0
    /** Takes 40 ms, and mostly finds as much as it may take. */
    async function slow(_before: number, count: number): Promise<number> {
      asked.push({ count, atMs: clock.monotonic() })
      workedMs += 40
      return asked.length < 5 ? count : 0
    }
    const none = { prune: async () => 0 }
    const pruneFurtherTokens = none.prune
    const empty = {
      pruneFurtherTokens,
      oneTimeTokens: none,
      devices: none,
      apiTokens: none,
      counters: none,
      outbox: none,
    }
    const housekeeping = createHousekeeping({
      endImpersonations: async () => false,
      endDeletionWaits: async () => false,
      store: { ...empty, changes: none, audit: none, sessions: { prune: slow } },
      clock: { now: () => now, nowMs: clock.now, monotonicMs: () => clock.monotonic() + workedMs },
      accessTokensLiveSeconds: 1_000,
      timer: clock.timer,
      random: () => 0.5,
      logger: { warn: () => {}, error: () => {} },
    })
    housekeeping.start()
    await clock.advance('11m')
    await housekeeping.close()
    expect(asked.map(({ count }) => count)).toEqual([200, 100, 50, 50, 50])
    const pauses = asked.slice(1).map(({ atMs }, index) => atMs - (asked[index]?.atMs ?? 0))
    expect(pauses).toEqual([360, 360, 360, 360])
  })

  it('goes by the time of the store, in the audit log too, where the clock of its process is wrong', async () => {
    const clock = createTestClock(now * 1000)
    const asked: number[] = []
    const none = { prune: async () => 0 }
    const pruneFurtherTokens = none.prune
    const empty = {
      pruneFurtherTokens,
      sessions: none,
      oneTimeTokens: none,
      devices: none,
      apiTokens: none,
      counters: none,
      outbox: none,
    }
    const prune = async (beforeMs: number) => {
      asked.push(beforeMs)
      return 0
    }
    const housekeeping = createHousekeeping({
      endImpersonations: async () => false,
      endDeletionWaits: async () => false,
      store: { ...empty, changes: none, audit: { prune } },
      clock: { now: () => now, nowMs: () => 2 * clock.now(), monotonicMs: clock.monotonic },
      accessTokensLiveSeconds: 1_000,
      timer: clock.timer,
      random: () => 0.5,
      logger: { warn: () => {}, error: () => {} },
    })
    housekeeping.start()
    await clock.advance('11m')
    await housekeeping.close()
    expect(asked).toEqual([(now - 400 * 86_400) * 1_000])
  })

  it('tries again later what the store could not do, and says so', async () => {
    const database = failingDatabase()
    const { clock, store, warned } = await setUp(database.dialect)
    const user = await createdUser(store)
    const { id } = await openedSession(store, user, { refreshExpiresAt: now - 500 })
    database.failAfter(0)
    await clock.advance('10m')
    expect(warned).toEqual([{ event: 'housekeeping_failed' }])
    database.failAfter(Number.POSITIVE_INFINITY)
    expect(await store.sessions.find(id)).not.toBeNull()
    await clock.advance('10m')
    expect(await store.sessions.find(id)).toBeNull()
    expect(warned).toHaveLength(1)
  })

  it('ends with its process', async () => {
    const { clock, store, housekeeping } = await setUp(openDatabase().dialect)
    const user = await createdUser(store)
    const { id } = await openedSession(store, user, { refreshExpiresAt: now - 500 })
    await housekeeping.close()
    await clock.advance('1d')
    expect(await store.sessions.find(id)).not.toBeNull()
  })
})
