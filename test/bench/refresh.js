// Session refresh on one PostgreSQL: ours raises the counter of a session and sets both cookies anew, better-auth's
// getSession moves the end of a session and sets its cookie anew. Both write one row of a session in each request.
import { startPostgres } from '../scale/postgres.js'
import { addUsers, refreshRequests } from './many-sessions.js'
import { median, shuffled, table } from './numbers.js'
import { launch, message, serve } from './process.js'

const peers = ['latchkey', 'better-auth']
const connections = 16
/** What both answer before they are measured: a server that has just started is still compiling itself. */
const warmUp = 4000

export async function benchRefresh({ rounds = 5, requests = 4000 } = {}) {
  const postgres = await startPostgres()
  try {
    return await measure(postgres, rounds, requests)
  } finally {
    postgres.remove()
  }
}

async function measure(postgres, rounds, requests) {
  const servers = {}
  for (const peer of peers) {
    process.env.LATCHKEY_BENCH_DATABASE = postgres.createDatabase(peer.replace('-', '_'))
    servers[peer] = await serve(`${peer}-postgres`)
  }
  const users = warmUp + rounds * requests
  await addUsers(postgres.url('latchkey'), { first: 1, last: users, sessionsEach: 1 })
  const client = launch('burst.js')
  await message(client)

  const requestsOf = {
    latchkey: (round) => ours(servers.latchkey, 1 + warmUp + round * requests, requests),
    'better-auth': () => theirs(servers['better-auth'], requests),
  }
  await run(client, servers.latchkey, ours(servers.latchkey, 1, warmUp))
  await run(client, servers['better-auth'], theirs(servers['better-auth'], warmUp))
  const samples = { latchkey: [], 'better-auth': [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of shuffled(peers)) samples[peer].push(await run(client, servers[peer], requestsOf[peer](round)))
  }
  client.disconnect()
  for (const server of Object.values(servers)) await server.stop()
  return report(samples)
}

function ours({ baseUrl, credentials }, first, count) {
  const sessions = Array.from({ length: count }, (_, index) => ({ session: first + index, user: first + index }))
  return { mustSet: 'refresh-token=', requests: refreshRequests({ ...credentials, origin: baseUrl }, sessions) }
}

function theirs({ baseUrl, credentials }, count) {
  const { cookies } = credentials
  const requests = Array.from({ length: count }, (_, index) => {
    return {
      method: 'GET',
      path: '/api/auth/get-session',
      headers: { origin: baseUrl, cookie: cookies[index % cookies.length] },
    }
  })
  return { mustSet: 'session_token=', requests }
}

async function run(client, server, burst) {
  const before = await server.cpu()
  client.send({ url: server.baseUrl, connections, ...burst })
  const figures = await message(client)
  return { ...figures, cpu: ((await server.cpu()) - before) / figures.count }
}

function report(samples) {
  const of = (peer, key) => median(samples[peer].map((sample) => sample[key]))
  const rows = [['session refresh on PostgreSQL', 'a second', 'p50 ms', 'p99 ms', 'CPU µs each']]
  for (const peer of peers) {
    const figures = ['perSecond', 'p50', 'p99', 'cpu'].map((key) => of(peer, key).toFixed(key === 'perSecond' ? 0 : 1))
    rows.push([peer, ...figures])
  }
  const ratio = median(
    samples.latchkey.map(({ perSecond }, round) => perSecond / samples['better-auth'][round].perSecond),
  )
  return {
    table: table(rows),
    results: [{ name: 'refreshes / better-auth', value: ratio.toFixed(2), target: '≥ 3', pass: ratio >= 3 }],
  }
}
