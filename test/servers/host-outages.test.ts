import { expect, onTestFinished, test, vi } from 'vitest'
import { collectionsHost } from '../support/collections-host.js'
import { startCuttingProxy } from '../support/cutting-proxy.js'
import { startPgBouncer } from '../support/pgbouncer.js'
import { createDatabase, serverUrls } from '../support/servers.js'

vi.setConfig({ testTimeout: 120_000 })

const patience = { timeout: 30_000 }
const lines = (count: number) => Array.from({ length: count }, (_, n) => `{"_id":"n${n}","n":${n}}\n`).join('')

async function hostAt(portOf?: () => Promise<number>, parameters = '') {
  const database = await createDatabase('postgres')
  onTestFinished(() => database.close())
  const url = new URL(`${database.url}${parameters}`)
  if (portOf) url.port = String(await portOf())
  const host = await collectionsHost({ database: url.href })
  onTestFinished(host.close)
  await host.createSpace('dev')
  return { ...host, database }
}

async function cutHost() {
  const { hostname, port } = new URL(serverUrls.postgres)
  const proxy = await startCuttingProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  return { proxy, ...(await hostAt(async () => proxy.port)) }
}

test('while the server is away every route about documents answers store_unavailable, and works when it is back', async () => {
  const { proxy, call, query, importText, send, bearer } = await cutHost()
  await importText('notes', lines(10))
  await proxy.stop()
  const answers = await Promise.all([
    query('notes', {}),
    query('notes', { filter: {}, update: { $set: { a: 1 } } }),
    importText('notes', lines(1)),
    call('GET', '/collections'),
    call('POST', '/collections/notes/indexes', { fields: ['n'] }),
    call('GET', '/collections/notes/export'),
    call('GET', '/backup'),
    send('/spaces', { headers: bearer }),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  await proxy.listen()
  await expect
    .poll(async () => (await query('notes', { count: true })).rows, patience)
    .toEqual([{ end: { count: 10 } }])
  const { rows } = await call('POST', '/collections/notes/indexes', { fields: ['n'] })
  expect(rows.at(-1)).toEqual({ finished: true })
})

test('a server that goes away during an import ends its rows with the problem, and what was confirmed stays', async () => {
  const { proxy, query, importText } = await cutHost()
  proxy.cut('n2500', 'before', 50)
  const { status, rows } = await importText('notes', lines(5_000))
  expect(status).toBe(200)
  expect(rows.at(-1)).toMatchObject({ error: { code: 'store_unavailable' } })
  const confirmed = rows.map((row) => Number(Object(row).imported)).filter(Number.isFinite)
  proxy.cut('', 'before', 0)
  expect((await query('notes', { count: true })).rows).toEqual([{ end: { count: Math.max(...confirmed) } }])
})

test('killed connections cost no request more than a 503, and no document', async () => {
  const { query, importText, database } = await hostAt()
  await importText('notes', lines(50))
  const kill = () =>
    database.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'latchkey'`)
  const statuses = new Set<number>()
  for (let round = 0; round < 5; round += 1) {
    const asked = Array.from({ length: 4 }, () =>
      query('notes', { filter: { _id: 'n1' }, update: { $inc: { hits: 1 } } }),
    )
    await kill()
    for (const { status } of await Promise.all(asked)) statuses.add(status)
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  await expect
    .poll(async () => (await query('notes', { count: true })).rows, patience)
    .toEqual([{ end: { count: 50 } }])
})

test('a call meets one dead connection after another, as after a restart of the server, and works', async () => {
  const { call, proxy, query, importText } = await cutHost()
  await importText('notes', lines(10))
  proxy.cut('"lk_', 'before', 5)
  expect((await query('notes', { filter: { n: 1 } })).rows).toMatchObject([{ _id: 'n1' }, { end: { count: 1 } }])
  expect(proxy.cuts).toBe(5)
  proxy.cut('begin isolation level repeatable read read only', 'before', 5)
  expect((await call('GET', '/collections/notes/export')).rows).toHaveLength(11)
  expect(proxy.cuts).toBe(5)
})

test('a host behind a PgBouncer that pools transactions imports, indexes, queries and exports', async () => {
  const { call, query, importText } = await hostAt(() => startPgBouncer(['default_pool_size = 12']), '?pgbouncer=true')
  expect((await importText('notes', lines(1_500))).rows.at(-1)).toMatchObject({ finished: true, imported: 1_500 })
  expect((await call('POST', '/collections/notes/indexes', { fields: ['n'], unique: true })).rows.at(-1)).toEqual({
    finished: true,
  })
  expect((await query('notes', { filter: { n: { $gte: 1_498 } }, sort: { n: -1 } })).rows).toMatchObject([
    { n: 1_499 },
    { n: 1_498 },
    {},
  ])
  const exported = await call('GET', '/collections/notes/export')
  expect(exported.rows).toHaveLength(1_501)
})
