// What a sign-in and a registration cost beside the hash of the password, on PostgreSQL and with the default cost: the CPU
// time of the process's threads, of which those that hash are known by how much they take. Linux only (/proc).
import { readdirSync, readFileSync } from 'node:fs'
import { startPostgres } from '../scale/postgres.js'
import { table } from './numbers.js'
import { serve } from './process.js'

const lanes = 4
const seconds = 8
/** A thread that takes this share of all that the process takes does nothing but hash. */
const hashingShare = 0.15

export async function benchHashing() {
  const postgres = await startPostgres()
  try {
    process.env.LATCHKEY_BENCH_DATABASE = postgres.createDatabase('hashing')
    const server = await serve('latchkey-postgres')
    const { account } = server.credentials
    const deeds = {
      'sign-in': () => post(server.baseUrl, '/auth/login', account, 200),
      registration: (number) =>
        post(server.baseUrl, '/auth/register', { ...account, email: `new${number}@example.com` }, 201),
    }
    const samples = []
    for (const [name, deed] of Object.entries(deeds)) samples.push({ name, ...(await during(server.pid, deed)) })
    await server.stop()
    return report(samples)
  } finally {
    postgres.remove()
  }
}

async function during(pid, deed) {
  let count = 0
  const until = async (end) => {
    while (performance.now() < end) await deed(++count)
  }
  const all = (forSeconds) => {
    const end = performance.now() + forSeconds * 1000
    return Promise.all(Array.from({ length: lanes }, () => until(end)))
  }
  await all(2)
  count += 1_000_000
  const [before, first] = [threadsOf(pid), count]
  await all(seconds)
  const spent = [...threadsOf(pid)].map(([thread, ticks]) => ({ thread, ticks: ticks - (before.get(thread) ?? 0) }))
  const total = spent.reduce((sum, { ticks }) => sum + ticks, 0)
  const hashing = spent.filter(({ thread, ticks }) => thread !== pid && ticks >= hashingShare * total)
  const hashed = hashing.reduce((sum, { ticks }) => sum + ticks, 0)
  return { count: count - first, outside: (total - hashed) / total, totalMs: (10 * total) / (count - first) }
}

/** Thread id → hundredths of a second in user and system mode (proc(5), fields 14 and 15). */
function threadsOf(pid) {
  return new Map(
    readdirSync(`/proc/${pid}/task`).map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [Number(thread), Number(fields[11]) + Number(fields[12])]
    }),
  )
}

async function post(baseUrl, path, body, wanted) {
  const headers = { 'content-type': 'application/json', origin: baseUrl }
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== wanted) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

function report(samples) {
  const percent = (share) => `${(100 * share).toFixed(1)} %`
  const rows = [['on PostgreSQL, bcrypt 12', 'done', 'CPU ms each', 'of it not hashing']]
  for (const { name, count, totalMs, outside } of samples)
    rows.push([name, count, totalMs.toFixed(0), percent(outside)])
  return {
    table: table(rows),
    results: samples.map(({ name, outside }) => {
      return { name: `CPU outside hashing, ${name}`, value: percent(outside), target: '≤ 10 %', pass: outside <= 0.1 }
    }),
  }
}
