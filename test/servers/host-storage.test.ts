import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRemoteStore } from '../../src/host/runner/datastore/datastore.js'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { openSchemas } from '../../src/host/storage/postgres/schemas.js'
import { serveData } from '../../src/host/storage/server.js'
import { documentsContract } from '../contracts/host/documents.js'
import { indexesContract } from '../contracts/host/indexes.js'
import { keyValuesContract } from '../contracts/host/key-values.js'
import { killedBuildingContract } from '../contracts/host/killed-building.js'
import { temporaryFolder } from '../support/auth.js'
import { startCuttingProxy } from '../support/cutting-proxy.js'
import { randomId } from '../support/databases.js'
import { makeIndex, scanAll, scanOf } from '../support/index-scans.js'
import { startPgBouncer } from '../support/pgbouncer.js'
import { standingClock } from '../support/postgres-clock.js'
import { createDatabase, serverUrls, type TestDatabase } from '../support/servers.js'
import { startDataThreads, threadProgram } from '../support/storage-threads.js'

const program = await threadProgram()
const key = 'k'.repeat(43)

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase('postgres')
  await database.query(standingClock.make)
})
afterAll(() => database.close())

/** No test pulls the plug, so a commit need not wait for the disk. */
const own = () =>
  `${database.url}?options=-c%20search_path%3D${standingClock.searchPath}%20-c%20synchronous_commit%3Doff`

async function openAt(url: string, quotaBytes = 1024 ** 3) {
  const threads = startDataThreads(program)
  const spaceId = randomId()
  const schema = schemaName(spaceId, 1)
  const data = await threads.open({ spaceId, url, schema, quotaBytes })
  const advance = async (milliseconds: number) => void (await database.query(standingClock.move(milliseconds)))
  return { ...data, threads, spaceId, schema, advance, close: threads.close }
}

async function opened(url = own()) {
  const space = await openAt(url)
  onTestFinished(space.close)
  return space
}

async function openRemote() {
  const data = await openAt(own())
  const socketPath = join(temporaryFolder(), 's.sock')
  const server = await serveData({ data, socketPath, key })
  const close = async () => {
    await server.close()
    await data.close()
  }
  return { ...createRemoteStore({ socketPath, key }), advance: data.advance, close }
}

documentsContract('a thread over a PostgreSQL server', () => openAt(own()))
indexesContract('a thread over a PostgreSQL server', () => openAt(own()))
keyValuesContract('a thread over a PostgreSQL server', () => openAt(own()))
documentsContract('the socket of such a thread', openRemote)
indexesContract('the socket of such a thread', openRemote)
keyValuesContract('the socket of such a thread', openRemote)

killedBuildingContract('PostgreSQL', async () => ({ url: own(), schema: schemaName(randomId(), 1) }))

const unavailable = { code: 'store_unavailable' }
const all = { after: null, reverse: false, limit: 1_000 }

test('a text that is no JSON is query_invalid', async () => {
  const { documents } = await opened()
  await expect(documents.put('notes', 'a', '{"a":}', 'any')).rejects.toMatchObject({ code: 'query_invalid' })
})

test('two hosts that open a space at once make one schema, and write with one counter of versions', async () => {
  const one = await opened()
  const spaceId = randomId()
  const place = { spaceId, url: own(), schema: schemaName(spaceId, 1) }
  const other = await opened()
  const both = await Promise.all([one, other].map(({ threads }) => threads.open(place)))
  const puts = Array.from({ length: 40 }, (_, n) => both[n % 2]?.documents.put('notes', `n${n}`, '{}', 'absent'))
  expect(new Set(await Promise.all(puts)).size).toBe(40)
  expect(await both[0]?.documents.count('notes')).toBe(40)
  const version = await both[0]?.documents.put('notes', 'x', '{}', 'absent')
  const lost = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => both[n % 2]?.documents.put('notes', 'x', `{"n":${n}}`, version ?? 0)),
  )
  expect(lost.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('ATK-206 of two hosts that write one unique value at once, one wins, also while an index builds', async () => {
  const [one, other] = [await opened(), await opened()]
  const spaceId = randomId()
  const place = { spaceId, url: own(), schema: schemaName(spaceId, 1) }
  const both = [await one.threads.open(place), await other.threads.open(place)]
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: `d${n}`, body: JSON.stringify({ n }) }))
  await both[0]?.documents.putMany('users', rows, 'absent')
  await both[0]?.indexes.create('users', 'n', true)
  const build = async ({ indexes }: (typeof both)[number]) => {
    while (!(await indexes.build('users', 'n')).isReady);
  }
  const puts = Array.from({ length: 20 }, (_, n) => both[n % 2]?.documents.put('users', `w${n}`, '{"n":-1}', 'absent'))
  const [settled] = await Promise.all([Promise.allSettled(puts), ...both.map(build)])
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const each of settled) {
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'already_exists' })
  }
  const seen = await scanAll(both[1]?.indexes ?? one.indexes, 'users', scanOf('n', { order: 1 }))
  expect(seen.ids).toHaveLength(1_001)
  expect(new Set(seen.ids).size).toBe(1_001)
})

test('a plan from when a table was small reads no large one', async () => {
  const space = await openAt(own())
  const { documents, indexes, schema } = space
  const body = (n: number) => JSON.stringify({ n, text: 'x'.repeat(300) })
  const fill = async (count: number) => {
    const rows = Array.from({ length: count }, (_, n) => ({ id: `d${n}`, body: body(n) }))
    for (let from = 0; from < count; from += 1_000)
      await documents.putMany('notes', rows.slice(from, from + 1_000), 'any')
  }
  const use = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      await documents.put('notes', 'd1', body(n), 'any')
      await documents.get('notes', 'd1')
      for (const order of [1, -1] as const) await indexes.scan('notes', scanOf('n', { order, limit: 2 }))
    }
  }
  await fill(3)
  await makeIndex(indexes, 'notes', 'n')
  await database.query('vacuum analyze')
  await use(20)
  await fill(5_000)
  await use(40)
  await space.close()
  const reads = async () => {
    const [row] = await database.query(
      `select sum(idx_scan) as found, sum(seq_tup_read) as read from pg_stat_user_tables
        where schemaname = '${schema}' and relname in ('c1', 'x1_1')`,
    )
    return { found: Number(row?.found), read: Number(row?.read) }
  }
  // A session reports what it has read when it ends.
  await expect.poll(async () => (await reads()).found > 300).toBe(true)
  expect((await reads()).read).toBeLessThan(20_000)
})

test('a snapshot has what was there, and its collections stay until it ends', async () => {
  const { documents, indexes, keyValues, snapshot, schema } = await opened()
  await documents.put('notes', 'a', '{"n":1}', 'absent')
  await makeIndex(indexes, 'notes', 'n', true)
  await keyValues.set({ keyspace: 's', key: 'k' }, '1', null)
  const seen = await snapshot()
  await documents.put('notes', 'a', '{"n":2}', 'any')
  await documents.drop('notes')
  await keyValues.set({ keyspace: 's', key: 'k' }, '2', null)
  await documents.put('notes', 'b', '{}', 'absent')
  expect(await seen.list()).toMatchObject([
    { name: 'notes', count: 1, bytes: 7, indexes: [{ field: 'n', state: 'ready' }] },
  ])
  expect((await seen.scan('notes', all)).documents).toMatchObject([{ id: 'a', body: '{"n":1}' }])
  expect((await seen.pairs(null)).rows).toEqual([{ keyspace: 's', key: 'k', value: '1', endsAt: null }])
  await seen.close()
  await expect(seen.list()).rejects.toMatchObject(unavailable)
  await documents.drop('notes')
  const tables = () =>
    database.query(`select 1 from pg_tables where schemaname = '${schema}' and tablename ~ '^[cux][0-9]'`)
  await expect.poll(tables).toEqual([])
})

test('a version is raised and never lowered, and pairs keep the moment at which they expire', async () => {
  const { documents, keyValues, versions, putPairs, advance } = await opened()
  expect(await versions(41)).toBe(41)
  expect(await versions(7)).toBe(41)
  expect(await documents.put('notes', 'a', '{}', 'absent')).toBe(42)
  const pair = { keyspace: '', key: 'k', value: '1', endsAt: null }
  const now = Number((await database.query('select ms from standing.clock'))[0]?.ms)
  await putPairs([pair, { ...pair, value: '2' }, { ...pair, key: 'short', endsAt: now + 1_000 }])
  expect(await keyValues.get(pair)).toBe('2')
  expect(await keyValues.get({ keyspace: '', key: 'short' })).toBe('1')
  await advance(1_000)
  expect(await keyValues.get({ keyspace: '', key: 'short' })).toBeNull()
})

test('a draft becomes the generation in force, and what is over is dropped', async () => {
  const { threads, spaceId, schema, documents } = await opened()
  const schemas = openSchemas(own())
  onTestFinished(schemas.close)
  const names = async () => {
    const rows = await database.query(`select nspname from pg_namespace where nspname ~ '^lk_${spaceId}_' order by 1`)
    return rows.map(({ nspname }) => String(nspname).slice(`lk_${spaceId}_`.length))
  }
  await documents.put('notes', 'a', '{}', 'absent')
  for (const generation of [2, 3]) {
    const draft = await threads.open({ spaceId, ...(await schemas.draft(spaceId, generation)) })
    await draft.documents.put('notes', 'b', '{}', 'absent')
    await draft.close()
    await schemas.syncDraft(spaceId, generation)
  }
  expect(await names()).toEqual(['draft2', 'draft3', schema.slice(`lk_${spaceId}_`.length)])
  await schemas.adoptDraft(spaceId, 2)
  await schemas.adoptDraft(spaceId, 2)
  await schemas.removeDrafts(spaceId)
  await schemas.removeGenerations(spaceId, (generation) => generation < 2)
  expect(await names()).toEqual(['g2'])
  const living = await threads.open({ spaceId, ...(await schemas.living(spaceId, 2)) })
  expect(await living.documents.count('notes')).toBe(1)
})

test('the schemas of a removed space are dropped, and no other', async () => {
  const gone = await openAt(own())
  const kept = await opened()
  for (let n = 0; n < 45; n += 1) await gone.documents.put(`c${n}`, 'a', '{}', 'absent')
  await kept.documents.put('notes', 'a', '{}', 'absent')
  await gone.close()
  const schemas = openSchemas(database.url)
  onTestFinished(schemas.close)
  expect(await schemas.fault()).toBeNull()
  await schemas.remove(gone.spaceId)
  const left = await database.query(`select nspname from pg_namespace where nspname ~ '^lk_'`)
  expect(left.map(({ nspname }) => nspname)).toContain(kept.schema)
  expect(left.map(({ nspname }) => nspname)).not.toContain(gone.schema)
  expect(await kept.documents.count('notes')).toBe(1)
})

describe('connections that break', () => {
  async function cut(parameters = '') {
    const { hostname, port } = new URL(serverUrls.postgres)
    const proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
    onTestFinished(() => proxy.close())
    const url = new URL(`${database.url}${parameters}`)
    url.port = String(proxy.port)
    return { proxy, space: await opened(url.href) }
  }

  test('a write that was cut before its commit is made once', async () => {
    const { proxy, space } = await cut()
    await space.documents.put('notes', 'a', '{}', 'absent')
    for (const when of ['before', 'after'] as const) {
      proxy.cut('cutting', when)
      expect(await space.documents.putMany('notes', [{ id: when, body: '{"a":"cutting"}' }], 'absent')).toEqual([])
      expect(proxy.cuts).toBe(1)
    }
    expect(await space.documents.count('notes')).toBe(3)
  })

  test('a write whose commit was cut is not made twice', async () => {
    const { proxy, space } = await cut()
    await space.keyValues.set({ keyspace: '', key: 'n' }, '0', null)
    proxy.cut('commit\0', 'after')
    await expect(space.keyValues.increment({ keyspace: '', key: 'n' }, 1, null)).rejects.toMatchObject(unavailable)
    expect(await space.keyValues.get({ keyspace: '', key: 'n' })).toBe('1')
  })

  test('a network that is gone fails calls after their time limit, and they work when it is back', async () => {
    const { proxy, space } = await cut('?statement_timeout=100&connect_timeout=1')
    await space.documents.put('notes', 'a', '{}', 'absent')
    proxy.freeze()
    await expect(space.documents.get('notes', 'a')).rejects.toMatchObject(unavailable)
    await expect(space.documents.put('notes', 'b', '{}', 'absent')).rejects.toMatchObject(unavailable)
    await expect(space.snapshot()).rejects.toMatchObject(unavailable)
    proxy.thaw()
    await space.documents.put('notes', 'b', '{}', 'any')
    expect(await space.documents.count('notes')).toBe(2)
  })

  test('while the server is away calls fail, and work when it is back', async () => {
    const { proxy, space } = await cut()
    await space.documents.put('notes', 'a', '{}', 'absent')
    await proxy.stop()
    await expect(space.documents.get('notes', 'a')).rejects.toMatchObject(unavailable)
    await expect(space.documents.put('notes', 'b', '{}', 'absent')).rejects.toMatchObject(unavailable)
    await proxy.listen()
    expect(await space.documents.count('notes')).toBe(1)
    await space.documents.put('notes', 'b', '{}', 'absent')
  })
})

test('a PgBouncer that pools transactions carries calls and snapshots', async () => {
  const port = await startPgBouncer(['default_pool_size = 4'])
  const url = new URL(`${database.url}?pgbouncer=true`)
  url.port = String(port)
  const { documents, keyValues, snapshot } = await opened(url.href)
  await documents.put('notes', 'a', '{"n":1}', 'absent')
  expect(await keyValues.increment({ keyspace: '', key: 'n' }, 1, null)).toBe(1)
  const seen = await snapshot()
  await documents.put('notes', 'a', '{"n":2}', 'any')
  expect((await seen.scan('notes', all)).documents).toMatchObject([{ body: '{"n":1}' }])
  await seen.close()
})
