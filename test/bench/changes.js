// How long a change by an administrator takes to be in force in another process: API tokens are removed, by the flows of the
// local tool in this process and by the control API of one process, and another process refuses them. On one SQLite file, or
// on the database whose URL is in LATCHKEY_BENCH_DATABASE. The time runs from before the change to the first refusal.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readApplication } from '../../.build/wiring/for-tool.js'
import { median, percentile, table } from './numbers.js'
import { configuration } from './peers/latchkey-settings.js'
import { ask, launch, message } from './process.js'

const boundMs = 1_000
/** Every removed token is tried once more. */
const limits = { apiToken: { ip: '1000000/1m' } }

export async function benchChanges({ changes = 500 } = {}) {
  const file = join(tmpdir(), `latchkey-bench-${randomUUID()}.db`)
  const database = process.env.LATCHKEY_BENCH_DATABASE ?? `sqlite:${file}`
  const secrets = [randomUUID() + randomUUID(), randomUUID() + randomUUID()]
  const instances = [launch('instance.js'), launch('instance.js')]
  await Promise.all(instances.map(message))
  const [first, second] = instances
  // One after the other: the first makes the tables.
  const { baseUrl: controlled } = await ask(first, { open: { database, secrets, limits, administered: true } })
  const { baseUrl: watched } = await ask(second, { open: { database, secrets, limits } })
  const { accessToken } = await ask(first, { signIn: true })

  const ways = {
    'local tool': () => openTool({ ...configuration('http://localhost:3000', '', secrets), database }),
    'control API': () => (id) => removeByApi(controlled, accessToken, id),
  }
  const times = { 'local tool': [], 'control API': [] }
  for (let round = 0; round < changes; round += 1) {
    for (const [way, open] of Object.entries(ways)) {
      const remove = await open()
      const [token] = await ask(first, { createTokens: 1 })
      times[way].push(await timeOf(token, remove, watched))
    }
  }
  for (const child of instances) child.disconnect()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  return report(times)
}

/** The application is opened for one change, and closed after it, as each command does. */
async function openTool(settings) {
  const { calls, close } = await readApplication(settings, 'bench').open()
  return async (id) => {
    await calls.removeApiToken(id)
    await close()
  }
}

async function removeByApi(baseUrl, accessToken, id) {
  const headers = { authorization: `Bearer ${accessToken}` }
  const { status } = await fetch(`${baseUrl}/auth/admin/api/tokens/${id}`, { method: 'DELETE', headers })
  if (status !== 204) throw new Error(`the control API answered ${status}`)
}

/** Milliseconds until the watched process refuses the token. */
async function timeOf({ id, token }, remove, watched) {
  const statusOf = async () => (await fetch(`${watched}/api/hello`, { headers: { 'x-apikey': token } })).status
  if ((await statusOf()) !== 200) throw new Error('a fresh token was refused')
  const began = performance.now()
  const removed = remove(id)
  while ((await statusOf()) !== 401) {
    if (performance.now() - began > 30_000) throw new Error('still served after 30 s')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const took = performance.now() - began
  await removed
  return took
}

function report(times) {
  const rows = [['a change by the', 'changes', 'median ms', 'p99 ms', 'longest ms']]
  const results = Object.entries(times).map(([way, values]) => {
    const figures = [median(values), percentile(values, 0.99), Math.max(...values)]
    rows.push([way, values.length, ...figures.map((value) => value.toFixed(0))])
    const inTime = values.filter((value) => value <= boundMs).length
    const name = `${way}: in force elsewhere within ${boundMs} ms`
    return { name, value: `${inTime} of ${values.length}`, target: 'all', pass: inTime === values.length }
  })
  return { table: table(rows), results }
}
