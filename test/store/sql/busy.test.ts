import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  isBusy,
  isUniqueViolation,
  retrying,
  sqliteCodeOf,
  stepPatienceMs,
} from '../../../src/store/sql/engine/retry.js'
import { openSqlite } from '../../../src/store/sql/engine/sqlite-driver.js'
import { openSqlStore, type SqlStoreOptions } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { anEvent, atOnce, createdUser, crowd } from '../../contracts/store/rows.js'
import { holdWriteLock, storeOptions, temporaryFolder } from '../../support/databases.js'

describe('a database that another program has locked', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let file: string
  let stores: Store[]

  beforeEach(async () => {
    folder = await temporaryFolder()
    file = join(folder.path, 'latchkey.db')
    stores = []
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await folder.remove()
  })

  async function open(overrides: Partial<SqlStoreOptions> = {}): Promise<Store> {
    const store = await openSqlStore({ ...storeOptions(overrides), database: { kind: 'sqlite', file } })
    stores.push(store)
    return store
  }

  test('a step waits beside the event loop and succeeds once a timer has released the lock', async () => {
    const store = await open({ sleep: async () => void (await pause(1)) })
    const lock = await holdWriteLock(file)
    setTimeout(() => lock.release(), 20)
    const event = anEvent()
    await store.audit.record(event)
    expect(await store.audit.list({ limit: 10 })).toEqual([event])
  })

  test('a step gives up after two seconds of pauses, each after a turn of the event loop', async () => {
    const pauses: number[] = []
    let turns = 0
    const store = await open({
      sleep: async (milliseconds) => {
        pauses.push(milliseconds)
        await pause(0)
        turns += 1
      },
    })
    const lock = await holdWriteLock(file)
    const error: unknown = await store.audit.record(anEvent()).catch((thrown: unknown) => thrown)
    lock.release()

    expect(error).toMatchObject({ name: 'AuthError', code: 'store_unavailable', status: 503 })
    expect(isBusy(error instanceof Error ? error.cause : null)).toBe(true)
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBeCloseTo(2_000)
    expect(turns).toBe(pauses.length)
    expect(await store.audit.list({ limit: 10 })).toEqual([])
    await store.audit.record(anEvent())
    expect(await store.audit.list({ limit: 10 })).toHaveLength(1)
  })

  test('reads go on meanwhile', async () => {
    const store = await open()
    const user = await createdUser(store)
    const lock = await holdWriteLock(file)
    expect(await store.users.findById(user.id)).toEqual(user)
    expect((await store.changes.recent(60_000)).headMs).toBeNull()
    lock.release()
  })

  test('many steps that wait all happen, each once', async () => {
    const store = await open({ sleep: async () => void (await pause(1)) })
    const lock = await holdWriteLock(file)
    setTimeout(() => lock.release(), 20)
    await atOnce(() => store.audit.record(anEvent()))
    expect(await store.audit.list({ limit: 100 })).toHaveLength(crowd)
  })

  test('the driver blocks for the first busy answer only, until a write succeeds again', async () => {
    const database = await openSqlite(file)
    const run = (sql: string) => database.prepare(sql).run([])
    const timeout = () => Object.values(Object(database.prepare('pragma busy_timeout').all([])[0]))[0]
    run('create table notes (text)')
    const lock = await holdWriteLock(file)
    expect(timeout()).toBe(50)
    expect(() => run("insert into notes values ('lost')")).toThrow(/locked/)
    expect(timeout()).toBe(0)
    run('begin')
    expect(database.prepare('select * from notes').all([])).toEqual([])
    run('rollback')
    expect(timeout()).toBe(0)
    lock.release()
    run("insert into notes values ('kept')")
    expect(timeout()).toBe(50)
    database.close()
  })

  test('a rollback that SQLite has done already does not hide what went wrong', async () => {
    const database = await openSqlite(file)
    expect(database.prepare('rollback').run([])).toMatchObject({ changes: 0 })
    database.close()
  })

  test('opening waits longer than a step', async () => {
    await open()
    let waited = 0
    const lock = await holdWriteLock(file)
    const opening = open({
      sleep: async (milliseconds) => {
        waited += milliseconds
        if (waited > 2 * stepPatienceMs) lock.release()
        await pause(0)
      },
    })
    expect((await opening).installationId).toBe(stores[0]?.installationId)
    expect(waited).toBeLessThan(3 * stepPatienceMs)
  })

  test('a database that stays locked is named when it is opened', async () => {
    await open()
    const lock = await holdWriteLock(file)
    await expect(open()).rejects.toThrow(
      'database: another program keeps it locked. Stop that program, or name another file.',
    )
    lock.release()
  })
})

describe('trying again', () => {
  const waiting = { sleep: async () => {}, random: () => 0 }

  async function attemptsFor(error: unknown): Promise<number> {
    let attempts = 0
    await retrying(waiting, stepPatienceMs, async () => {
      attempts += 1
      if (attempts < 4) throw error
    }).catch(() => {})
    return attempts
  }

  test.each([
    ['better-sqlite3 busy', { code: 'SQLITE_BUSY' }],
    ['better-sqlite3 busy with a stale snapshot', { code: 'SQLITE_BUSY_SNAPSHOT' }],
    ['better-sqlite3 locked', { code: 'SQLITE_LOCKED_SHAREDCACHE' }],
    ['node:sqlite busy', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
    ['node:sqlite busy in recovery', { code: 'ERR_SQLITE_ERROR', errcode: 261 }],
    ['PostgreSQL serialization failure', { code: '40001' }],
    ['PostgreSQL deadlock', { code: '40P01' }],
    ['MySQL deadlock', { code: 'ER_LOCK_DEADLOCK' }],
  ])('%s is tried again', async (_name, fields) => {
    expect(await attemptsFor(Object.assign(new Error('lost'), fields))).toBe(4)
  })

  test.each(['ER_LOCK_WAIT_TIMEOUT', '55P03'])('%s is tried once more: seconds have passed already', async (code) => {
    expect(await attemptsFor(Object.assign(new Error('lost'), { code }))).toBe(2)
  })

  test.each([
    ['a unique violation', { code: 'SQLITE_CONSTRAINT_UNIQUE' }],
    ['a full disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
    ['a lost connection', { code: 'ECONNRESET' }],
    ['an error without a code', {}],
  ])('%s is not', async (_name, fields) => {
    expect(await attemptsFor(Object.assign(new Error('lost'), fields))).toBe(1)
    expect(await attemptsFor('a text')).toBe(1)
    expect(await attemptsFor(null)).toBe(1)
  })

  test('pauses grow, are spread by chance, and end at the patience', async () => {
    const pauses: number[] = []
    let next = 0
    const spread = {
      sleep: async (milliseconds: number) => void pauses.push(milliseconds),
      random: () => (next++ % 2 === 0 ? 0 : 0.999),
    }
    const failing = retrying(spread, 1_000, () => Promise.reject(Object.assign(new Error('busy'), { code: '40001' })))
    await expect(failing).rejects.toThrow('busy')
    expect(pauses.slice(0, 4).map(Math.round)).toEqual([5, 20, 20, 50])
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(50)
  })

  test.each([
    ['better-sqlite3', { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: t.a' }, true],
    [
      'better-sqlite3 primary key',
      { code: 'SQLITE_CONSTRAINT_PRIMARYKEY', message: 'UNIQUE constraint failed: t.a' },
      true,
    ],
    ['node:sqlite', { errcode: 2067, message: 'UNIQUE constraint failed: t.a' }, true],
    ['PostgreSQL', { code: '23505' }, true],
    ['MySQL', { code: 'ER_DUP_ENTRY' }, true],
    [
      'a foreign key of SQLite',
      { code: 'SQLITE_CONSTRAINT_FOREIGNKEY', message: 'FOREIGN KEY constraint failed' },
      false,
    ],
    ['a foreign key of PostgreSQL', { code: '23503' }, false],
    ['nothing', {}, false],
  ])('a unique violation is told apart: %s', (_name, error, unique) => {
    expect(isUniqueViolation(error)).toBe(unique)
  })

  test('an error of another kind has no SQLite code', () => {
    expect(sqliteCodeOf(new Error('lost'))).toBeNull()
    expect(sqliteCodeOf(Object.assign(new Error('lost'), { code: 'ENOENT' }))).toBeNull()
    expect(sqliteCodeOf(undefined)).toBeNull()
  })
})
