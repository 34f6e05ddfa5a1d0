// What a million users and five million sessions in PostgreSQL change: a refresh beside that of a thousand users, the
// plans of its statements, and whether a guarded request asks the database anything. Needs 5 GB on the disk of the
// folder for temporary files, and some minutes to fill them; LATCHKEY_BENCH_USERS makes it fewer, to try it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../scale/postgres.js'
import { addUsers, refreshRequests } from './many-sessions.js'
import { median, shuffled, table } from './numbers.js'
import { launch, message, serve } from './process.js'

const sizes = { thousand: 1_000, million: Number(process.env.LATCHKEY_BENCH_USERS ?? 1_000_000) }
const sessionsEach = 5
const guardedRequests = 10_000
const settings = ['shared_preload_libraries=pg_stat_statements', 'shared_buffers=512MB', 'max_wal_size=8GB']

export async function benchCrowd({ rounds = 5, requests = 900 } = {}) {
  const postgres = await startPostgres(settings)
  try {
    return await measure(postgres, rounds, requests)
  } finally {
    postgres.remove()
  }
}

async function measure(postgres, rounds, requests) {
  const servers = {}
  for (const [name, users] of Object.entries(sizes)) {
    process.env.LATCHKEY_BENCH_DATABASE = postgres.createDatabase(name)
    servers[name] = await serve('latchkey-postgres')
    await addUsers(postgres.url(name), { first: 1, last: users, sessionsEach })
  }
  const client = launch('burst.js')
  await message(client)
  const draw = { thousand: drawer(sizes.thousand), million: drawer(sizes.million) }
  const burst = async (name, count) => {
    const { baseUrl, credentials } = servers[name]
    const requests = refreshRequests({ ...credentials, origin: baseUrl }, draw[name](count))
    client.send({ url: baseUrl, connections: 4, requests, mustSet: 'refresh-token=' })
    return message(client)
  }
  const samples = { thousand: [], million: [] }
  for (const name of Object.keys(sizes)) await burst(name, 200)
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffled(Object.keys(sizes))) samples[name].push(await burst(name, requests))
  }
  const guarded = await countQueries(postgres, servers.million, client)
  client.disconnect()
  for (const server of Object.values(servers)) await server.stop()
  const plans = await plansOfRefresh(postgres, draw.million(1))
  return report(samples, guarded, plans)
}

/** Sessions by chance, none twice. */
function drawer(users) {
  const drawn = new Set()
  return (count) =>
    Array.from({ length: count }, () => {
      let session = 0
      do session = sessionsEach + Math.floor(Math.random() * users * sessionsEach)
      while (drawn.has(session))
      drawn.add(session)
      return { session, user: Math.floor(session / sessionsEach) }
    })
}

/** Statements while nobody asks anything, and while guarded requests come in: by text, since polling goes on beneath both. */
async function countQueries(postgres, { baseUrl, credentials }, client) {
  const database = new pg.Client({ connectionString: postgres.url('million') })
  await database.connect()
  await database.query('create extension pg_stat_statements')
  const during = async (work) => {
    await database.query('select pg_stat_statements_reset()')
    const began = performance.now()
    await work()
    const seconds = (performance.now() - began) / 1000
    const { rows } = await database.query(
      `select query, calls::int from pg_stat_statements join pg_database d on d.oid = dbid
       where d.datname = 'million' and query like '%latchkey_%'`,
    )
    return { seconds, calls: rows.reduce((sum, { calls }) => sum + calls, 0) }
  }
  const request = { method: 'GET', path: '/api/hello', headers: credentials.cookie }
  const ask = (count) => {
    client.send({ url: baseUrl, connections: 8, requests: Array(count).fill(request) })
    return message(client)
  }
  await ask(500)
  await sleep(3_000)
  const idle = await during(() => sleep(10_000))
  const busy = await during(() => ask(guardedRequests))
  await database.end()
  return { idlePerSecond: idle.calls / idle.seconds, busyPerSecond: busy.calls / busy.seconds, calls: busy.calls }
}

/** What PostgreSQL itself says that it did in one refresh, in connections that are opened for it. */
async function plansOfRefresh(postgres, drawn) {
  const database = new pg.Client({ connectionString: postgres.url('million') })
  await database.connect()
  for (const setting of [
    "session_preload_libraries = 'auto_explain'",
    'auto_explain.log_min_duration = 0',
    'auto_explain.log_analyze = on',
    'auto_explain.log_buffers = on',
    'auto_explain.log_timing = off',
  ])
    await database.query(`alter database million set ${setting}`)
  await database.end()

  process.env.LATCHKEY_BENCH_DATABASE = postgres.url('million')
  const server = await serve('latchkey-postgres')
  const [request] = refreshRequests({ ...server.credentials, origin: server.baseUrl }, drawn)
  const log = join(postgres.folder, 'log')
  const before = readFileSync(log, 'utf8').length
  const { status } = await fetch(server.baseUrl + request.path, request)
  await sleep(200)
  const plans = plansIn(readFileSync(log, 'utf8').slice(before))
  await server.stop()
  if (status !== 200) throw new Error(`refresh: ${status}`)
  // Polling and housekeeping go on beside it.
  return plans.filter((plan) =>
    /(update "?latchkey_sessions|insert into "?latchkey_counters|from "?latchkey_sessions)/.test(plan),
  )
}

/** Entries of the log begin with a date; their further lines with a tab. */
function plansIn(log) {
  return log
    .split(/^(?=\d{4}-\d\d-\d\d )/m)
    .filter((entry) => entry.includes('plan:'))
    .map((entry) =>
      entry
        .replace(/^.*plan:\n/, '')
        .replaceAll('\t', '  ')
        .trimEnd(),
    )
}

function report(samples, { idlePerSecond, busyPerSecond, calls }, plans) {
  const of = (name, key) => median(samples[name].map((sample) => sample[key]))
  const rows = [['refresh on PostgreSQL, 4 at a time', 'a second', 'p50 ms', 'p99 ms']]
  for (const [name, users] of Object.entries(sizes)) {
    const title = `${users.toLocaleString('en')} users, ${(users * sessionsEach).toLocaleString('en')} sessions`
    rows.push([title, of(name, 'perSecond').toFixed(0), of(name, 'p50').toFixed(1), of(name, 'p99').toFixed(1)])
  }
  const ratio = median(samples.million.map(({ p99 }, round) => p99 / samples.thousand[round].p99))
  const beyond = Math.max(0, calls - (calls / busyPerSecond) * idlePerSecond) / guardedRequests
  const polled = `polling: ${idlePerSecond.toFixed(1)} a second when idle, ${busyPerSecond.toFixed(1)} under load`
  return {
    table: `${table(rows)}\n\nStatements of one refresh in the larger one:\n\n${plans.join('\n\n')}\n\n${polled}`,
    results: [
      { name: 'refresh p99, a million users / a thousand', value: ratio.toFixed(2), target: '≤ 2', pass: ratio <= 2 },
      { name: 'queries a guarded request', value: beyond.toFixed(3), target: '0', pass: beyond < 0.001 },
    ],
  }
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
