import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DataThreadsOptions, SpacePlace } from '../../../src/host/storage/threads.js'
import { createTestClock } from '../../../src/testing/clock.js'
import { temporaryFolder } from '../../support/auth.js'
import { startDataThreads, threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()
/** Ends when it is asked for a collection of this name. */
const mortal = await threadProgram(`
  import { parentPort } from 'node:worker_threads'
  parentPort?.on('message', (message) => { if (JSON.stringify(message).includes('killer')) process.exit(1) })
`)

function start(options: Partial<DataThreadsOptions> = {}, code = program) {
  const threads = startDataThreads(code, options)
  onTestFinished(threads.close)
  return threads
}

const place = (file: string, more: Partial<SpacePlace> = {}): SpacePlace => ({ spaceId: 'one', file, ...more })
const newFile = () => join(temporaryFolder(), 'g1.db')
const unavailable = { code: 'store_unavailable' }
const full = { code: 'quota_exceeded' }

/** Reads a file as another program would. */
function query(file: string, sql: string): unknown[] {
  const database = new Database(file)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

test('a space file is readable for its owner alone, and so are the files beside it', async () => {
  const file = newFile()
  const { documents } = await start().open(place(file))
  await documents.put('notes', 'a', '{}', 'any')
  for (const path of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('ATK-157 two spaces of one thread do not see each other', async () => {
  const threads = start()
  const one = await threads.open(place(newFile()))
  const other = await threads.open(place(newFile(), { spaceId: 'two' }))
  await one.documents.put('notes', 'a', '{"of":"one"}', 'any')
  await one.keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  expect(await other.documents.get('notes', 'a')).toBeNull()
  expect(await other.documents.list()).toEqual([])
  expect(await other.keyValues.get({ keyspace: '', key: 'k' })).toBeNull()
})

test('calls in a thread that dies are store_unavailable, and the next ones run in a new thread on the same rows', async () => {
  const onFault = vi.fn()
  const threads = start({ onFault }, mortal)
  const one = await threads.open(place(newFile()))
  const other = await threads.open(place(newFile(), { spaceId: 'two' }))
  for (const { documents } of [one, other]) await documents.put('notes', 'a', '{}', 'absent')
  const killed = [one.documents.count('killer'), other.documents.count('killer'), one.documents.get('notes', 'a')]
  for (const { status, ...rest } of await Promise.allSettled(killed)) {
    expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: unavailable })
  }
  for (const { documents } of [one, other]) expect(await documents.get('notes', 'a')).toMatchObject({ body: '{}' })
  expect(onFault).toHaveBeenCalledWith({ spaceId: null, reason: 'the thread ended' })
})

test('a program that cannot start is store_unavailable, not a process that ends', async () => {
  const onFault = vi.fn()
  const threads = start({ onFault }, new URL('data:text/javascript,throw new RangeError("no")'))
  await expect(threads.open(place(newFile()))).rejects.toMatchObject(unavailable)
  expect(onFault).toHaveBeenCalledWith({ spaceId: null, reason: 'RangeError' })
})

test('a file of a newer version and one of another program are refused as they are, and other spaces go on', async () => {
  const threads = start()
  const [newer, foreign] = [newFile(), newFile()]
  await (await threads.open(place(newer))).close()
  const database = new Database(newer)
  database.pragma('user_version = 1000')
  database.close()
  const other = new Database(foreign)
  other.exec('create table theirs (x)')
  other.close()
  await expect(threads.open(place(newer))).rejects.toMatchObject(unavailable)
  await expect(threads.open(place(foreign))).rejects.toMatchObject(unavailable)
  expect(query(foreign, 'select name from sqlite_schema')).toEqual([{ name: 'theirs' }])
  const { documents } = await threads.open(place(newFile(), { spaceId: 'two' }))
  expect(await documents.list()).toEqual([])
})

test('a damaged file is store_unavailable, and the log learns the code', async () => {
  const onFault = vi.fn()
  const threads = start({ onFault })
  const file = newFile()
  const space = await threads.open(place(file))
  await space.documents.put('notes', 'a', '{}', 'any')
  const database = new Database(file)
  database.exec('drop table c1')
  database.close()
  await expect(space.documents.get('notes', 'a')).rejects.toMatchObject(unavailable)
  expect(onFault).toHaveBeenCalledWith({ spaceId: 'one', reason: expect.stringMatching(/SQLITE|ERR/) })
})

test('a space whose quota is used up refuses writes, still deletes, and then writes again', async () => {
  const { documents, keyValues, usage } = await start().open(place(newFile(), { quotaBytes: 1024 * 1024 }))
  const body = JSON.stringify({ text: 'x'.repeat(50_000) })
  let written = 0
  await expect(async () => {
    for (; written < 100; written += 1) await documents.put('notes', `n${written}`, body, 'absent')
  }).rejects.toMatchObject(full)
  expect(written).toBeGreaterThan(10)
  expect((await usage()).bytes).toBeLessThanOrEqual(1024 * 1024)
  await expect(documents.putMany('notes', [{ id: 'm', body }], 'any')).rejects.toMatchObject(full)
  await expect(keyValues.set({ keyspace: '', key: 'k' }, body, null)).rejects.toMatchObject(full)
  expect(await documents.get('notes', 'n0')).toMatchObject({ body })
  for (let n = 0; n < written; n += 1) await documents.remove('notes', `n${n}`, 'any')
  await documents.put('notes', 'again', body, 'absent')
  expect(await documents.count('notes')).toBe(1)
})

test('a change of many finds the room that the log takes up, and is refused when there is none', async () => {
  const { documents } = await start().open(place(newFile(), { quotaBytes: 1024 * 1024 }))
  const bodyOf = (n: number, bytes = 50_000) => JSON.stringify({ n, text: 'x'.repeat(bytes) })
  const versions: number[] = []
  for (let n = 0; n < 8; n += 1) versions.push(await documents.put('notes', `n${n}`, bodyOf(n), 'absent'))
  const changed = (body: (n: number) => string | null) =>
    versions.map((version, n) => ({ id: `n${n}`, version, body: body(n) }))
  // Each adds to the log what it writes, until the log is emptied.
  for (let round = 0; round < 8; round += 1) {
    await documents.changeMany(
      'notes',
      changed((n) => bodyOf(n + round)),
    )
    for (const [n] of versions.entries()) versions[n] = (await documents.get('notes', `n${n}`))?.version ?? 0
  }
  await expect(
    documents.changeMany(
      'notes',
      changed((n) => bodyOf(n, 500_000)),
    ),
  ).rejects.toMatchObject(full)
  expect(await documents.get('notes', 'n7')).toMatchObject({ body: bodyOf(14) })
  expect(
    await documents.changeMany(
      'notes',
      changed(() => null),
    ),
  ).toEqual({ changed: 8, overtaken: [] })
})

test('documents and indexes keep within the limits of the settings', async () => {
  const { documents, indexes } = await start().open(place(newFile(), { depth: 4, indexes: 2 }))
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  await documents.put('notes', 'a', nested(5), 'absent')
  await expect(documents.put('notes', 'b', nested(6), 'absent')).rejects.toMatchObject({
    code: 'query_invalid',
    message: 'The document nests deeper than 4 levels.',
  })
  expect([await indexes.create('notes', 'a', false), await indexes.create('notes', 'b', true)]).toEqual([true, true])
  await expect(indexes.create('notes', 'c', false)).rejects.toMatchObject({
    code: 'quota_exceeded',
    message: 'A collection has at most 2 indexes.',
  })
  expect(await indexes.create('others', 'c', false)).toBe(true)
})

test('small rows with large overhead stay within the quota too', async () => {
  const { documents, usage } = await start().open(place(newFile(), { quotaBytes: 512 * 1024 }))
  await expect(async () => {
    for (let page = 0; page < 100; page += 1) {
      const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: `${page}-${n}-${'i'.repeat(200)}`, body: '{}' }))
      await documents.putMany('notes', rows, 'absent')
    }
  }).rejects.toMatchObject(full)
  expect((await usage()).bytes).toBeLessThan(2 * 1024 * 1024)
  expect((await documents.count('notes')) % 1_000).toBe(0)
})

test('ATK-201 below the mark of a low disk every write is refused, reading goes on', async () => {
  let mayWrite = true
  const { documents, keyValues } = await start({ mayWrite: () => mayWrite }).open(place(newFile()))
  const version = await documents.put('notes', 'a', '{}', 'absent')
  await keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  mayWrite = false
  const name = { keyspace: '', key: 'k' }
  for (const write of [
    () => documents.put('notes', 'b', '{}', 'any'),
    () => documents.putMany('notes', [{ id: 'b', body: '{}' }], 'any'),
    () => documents.remove('notes', 'a', version),
    () => documents.drop('notes'),
    () => keyValues.set(name, '2', null),
    () => keyValues.increment(name, 1, null),
    () => keyValues.remove(name),
    () => keyValues.removePage('', ''),
  ]) {
    await expect(write()).rejects.toMatchObject(full)
  }
  expect(await documents.get('notes', 'a')).toMatchObject({ version })
  expect(await keyValues.get(name)).toBe('1')
  expect(await documents.list()).toEqual([{ name: 'notes', count: 1, bytes: 2 }])
})

test('every hour the expired pairs leave the file, page by page, and the others stay', async () => {
  const clock = createTestClock()
  const file = newFile()
  const { keyValues } = await start({ world: clock }).open(place(file))
  await Promise.all(
    Array.from({ length: 900 }, (_, n) => keyValues.set({ keyspace: 'a', key: `k${n}` }, 'v'.repeat(9_000), 60_000)),
  )
  await keyValues.set({ keyspace: 'a', key: 'long' }, '1', 2 * 60 * 60_000)
  await keyValues.set({ keyspace: 'a', key: 'kept' }, '1', null)
  const count = () => query(file, 'select count(*) as n from kv')
  await clock.advance('59m')
  expect(count()).toEqual([{ n: 902 }])
  await clock.advance('1m')
  await vi.waitFor(() => expect(count()).toEqual([{ n: 2 }]), { timeout: 20_000 })
  await clock.advance('1h')
  await vi.waitFor(() => expect(count()).toEqual([{ n: 1 }]), { timeout: 20_000 })
})

test('expired pairs fill pages and are not counted as removed', async () => {
  const clock = createTestClock()
  const { keyValues } = await start({ world: clock }).open(place(newFile()))
  const set = (key: string, ttl: number | null) => keyValues.set({ keyspace: '', key }, 'v', ttl)
  await Promise.all(Array.from({ length: 999 }, (_, n) => set(`a${n}`, 1_000)))
  await Promise.all([set('a999', 1_000), set('b', null)])
  await clock.advance(1_000)
  const first = await keyValues.page('', '', null)
  expect(first).toEqual({ rows: [], next: 'a999' })
  expect(await keyValues.page('', '', first.next)).toEqual({ rows: [{ key: 'b', value: 'v' }], next: null })
  expect(await keyValues.removePage('', '')).toBe(1)
  expect(await keyValues.removePage('', '')).toBe(0)
})

test('a drop takes effect at once; its rows go in the background, and after a restart', async () => {
  let mayWrite = true
  const file = newFile()
  const first = start({ mayWrite: () => mayWrite })
  const { documents } = await first.open(place(file))
  const body = JSON.stringify({ text: 'x'.repeat(1_000) })
  for (let page = 0; page < 5; page += 1) {
    const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: `${page}-${n}`, body }))
    await documents.putMany('notes', rows, 'absent')
  }
  const dropping = documents.drop('notes')
  // The background stops before its first page, as in a crash.
  queueMicrotask(() => {
    mayWrite = false
  })
  await dropping
  expect(await documents.list()).toEqual([])
  expect(await documents.get('notes', '0-0')).toBeNull()
  await first.close()
  const tables = () => query(file, "select name from sqlite_schema where name glob 'c[0-9]*'")
  expect(query(file, 'select count(*) as n from c1')).toEqual([{ n: 5_000 }])

  const again = await start().open(place(file))
  await again.documents.put('notes', 'a', '{}', 'absent')
  await vi.waitFor(() => expect(tables()).toEqual([{ name: 'c2' }]), { timeout: 20_000 })
  expect(query(file, 'select * from dropped')).toEqual([])
  expect(await again.documents.get('notes', 'a')).toMatchObject({ body: '{}' })
})

test('ATK-205 versions go on after a restart', async () => {
  const file = newFile()
  const first = start()
  const version = await (await first.open(place(file))).documents.put('notes', 'a', '{}', 'absent')
  await first.close()
  const { documents } = await start().open(place(file))
  await documents.remove('notes', 'a', version)
  expect(await documents.put('notes', 'a', '{}', 'absent')).toBeGreaterThan(version)
})

test('a closed space and closed threads are store_unavailable; what was asked before is done', async () => {
  const threads = start()
  const file = newFile()
  const space = await threads.open(place(file))
  const puts = Array.from({ length: 20 }, (_, n) => space.documents.put('notes', `n${n}`, '{}', 'absent'))
  await Promise.all([space.close(), ...puts])
  await expect(space.documents.list()).rejects.toMatchObject(unavailable)
  expect(query(file, 'select count from collections')).toEqual([{ count: 20 }])
  await threads.close()
  await expect(threads.open(place(file))).rejects.toMatchObject(unavailable)
})

test('what is no JSON object, or nests too deep, never gets into the file', async () => {
  const { documents } = await start().open(place(newFile()))
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  for (const body of ['', '[]', '{', '{"a":}', '{}x', nested(33), nested(10_000)]) {
    await expect(documents.put('notes', 'a', body, 'any')).rejects.toMatchObject({ code: 'query_invalid' })
  }
  await documents.put('notes', 'a', nested(32), 'any')
  await documents.put('notes', 'b', '{"text":"[[[[[{{{{{\\"[[[[["}', 'any')
  expect(await documents.count('notes')).toBe(2)
})

test('a space holds a bounded number of collections', async () => {
  const { documents } = await start().open(place(newFile()))
  const names = Array.from({ length: 1_001 }, (_, n) => `n${n}`)
  const settled = await Promise.allSettled(names.map((name) => documents.put(name, 'a', '{}', 'any')))
  const rejected = settled.filter(({ status }) => status === 'rejected')
  expect(rejected).toMatchObject([{ reason: full }])
}, 120_000)
