// How long a session that one process ends may still pass in another one, which meanwhile serves 5,000 requests a second.
// Two processes on one SQLite file, or on the database whose URL is in LATCHKEY_BENCH_DATABASE. The time runs from before
// the call that ends the session to the first refusal; the longest of all rounds counts.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, table } from './numbers.js'
import { ask, launch, message } from './process.js'

const perSecond = 5_000

export async function benchRevoke({ rounds = 10 } = {}) {
  const file = join(tmpdir(), `latchkey-bench-${randomUUID()}.db`)
  const database = process.env.LATCHKEY_BENCH_DATABASE ?? `sqlite:${file}`
  const instances = [launch('instance.js', [], 0), launch('instance.js', [], 0)]
  const client = launch('load.js', [], 1)
  await Promise.all([...instances, client].map(message))
  const secrets = [randomUUID() + randomUUID(), randomUUID() + randomUUID()]
  // One after the other: the first makes the tables.
  const [first, second] = instances
  await ask(first, { open: { database, secrets } })
  const { baseUrl } = await ask(second, { open: { database, secrets } })
  const steady = await ask(first, { signIn: true })

  const load = { url: `${baseUrl}/api/hello`, headers: bearer(steady), seconds: rounds + 3, rate: perSecond }
  const loading = ask(client, load)
  await wait(1_500)
  const times = []
  for (let round = 0; round < rounds; round += 1) {
    times.push(await timeOf(await ask(first, { signIn: true }), first, baseUrl))
    await wait(Math.random() * 400)
  }
  const served = await loading
  for (const child of [...instances, client]) child.disconnect()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  return report(times, served)
}

/** Milliseconds until the second process refuses what the first has ended. */
async function timeOf(session, first, baseUrl) {
  const statusOf = async () => (await fetch(`${baseUrl}/api/hello`, { headers: bearer(session) })).status
  if ((await statusOf()) !== 200) throw new Error('a fresh session was refused')
  const began = performance.now()
  const revoked = ask(first, { revoke: session.sessionId })
  while ((await statusOf()) !== 401) {
    if (performance.now() - began > 30_000) throw new Error('still served after 30 s')
    await wait(2)
  }
  const took = performance.now() - began
  await revoked
  return took
}

function report(times, served) {
  const longest = Math.max(...times)
  const rows = [
    ['requests/s meanwhile', 'sessions ended', 'median ms', 'longest ms'],
    [served.perSecond.toFixed(0), times.length, median(times).toFixed(0), longest.toFixed(0)],
  ]
  const steady = served.perSecond / perSecond
  return {
    table: table(rows),
    results: [
      { name: 'longest until refused, ms', value: longest.toFixed(0), target: '< 1000', pass: longest < 1000 },
      { name: 'load / 5,000 requests/s', value: steady.toFixed(2), target: '≥ 0.95', pass: steady >= 0.95 },
    ],
  }
}

function bearer({ accessToken }) {
  return { authorization: `Bearer ${accessToken}` }
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
