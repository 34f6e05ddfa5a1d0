// The lists of the control API among 100,000 accounts and a million audit events, beside 1,000 accounts and 10,000 events: a
// page by cursor, an exact address, the events of a user, the newest sessions. In one process, without HTTP, on SQLite; the two
// in turn. Also reports the search for part of an address, which reads every account.
import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createAuth } from '../../dist/index.js'
import { shuffled, table } from './numbers.js'
import { configuration } from './peers/latchkey-settings.js'

const origin = 'http://localhost:3000'
const administrator = 'root@example.com'
const sizes = { small: { accounts: 1_000, events: 10_000 }, large: { accounts: 100_000, events: 1_000_000 } }
const bound = 2

/** Next requests of each list. A list by cursor goes on where it was, and begins again behind its last page. */
const lists = {
  'accounts by cursor': { next: ({ cursor }) => `/users?limit=50${follow(cursor)}` },
  'accounts, exact address': { next: ({ draw }) => `/users?query=user${draw()}@example.com`, finds: 1 },
  'audit by cursor': { next: ({ cursor }) => `/audit?limit=50${follow(cursor)}` },
  'audit of a user': { next: ({ draw }) => `/audit?userId=${idOf('u', draw())}`, finds: 1 },
  'sessions by cursor': { next: ({ cursor }) => `/sessions?limit=50${follow(cursor)}` },
  'accounts, part of an address': { next: ({ draw }) => `/users?query=ser${draw()}`, reported: true },
}

export async function benchLists({ rounds = 3, requests = 400 } = {}) {
  const homes = { small: await open(sizes.small), large: await open(sizes.large) }
  try {
    const rows = [['list', 'p50 small', 'p50 large', 'p99 small', 'p99 large', 'p99 ratio']]
    const results = []
    for (const [name, list] of Object.entries(lists)) {
      const samples = await sample(homes, list, rounds, list.reported ? 60 : requests)
      const ratio = percentile(samples.large, 0.99) / percentile(samples.small, 0.99)
      rows.push([name, ...figures(samples, 0.5), ...figures(samples, 0.99), ratio.toFixed(2)])
      if (!list.reported) {
        const value = ratio.toFixed(2)
        results.push({
          name: `${name}, 100,000 / 1,000 accounts, p99`,
          value,
          target: `≤ ${bound}`,
          pass: ratio <= bound,
        })
      }
    }
    return { table: table(rows), results }
  } finally {
    for (const home of Object.values(homes)) await home.close()
  }
}

async function sample(homes, list, rounds, requests) {
  const samples = { small: [], large: [] }
  const cursors = { small: null, large: null }
  const ask = async (size) => {
    const { call, draw } = homes[size]
    const path = list.next({ cursor: cursors[size], draw })
    const began = performance.now()
    const { items, nextCursor } = await call(path)
    const took = performance.now() - began
    if (items.length < (list.finds ?? 1)) throw new Error(`${path} found ${items.length}`)
    cursors[size] = nextCursor
    return took
  }
  for (const size of ['small', 'large']) for (let turn = 0; turn < 30; turn += 1) await ask(size)
  for (let turn = 0; turn < rounds * requests; turn += 1) {
    for (const size of shuffled(['small', 'large'])) samples[size].push(await ask(size))
  }
  return samples
}

async function open({ accounts, events }) {
  const file = join(tmpdir(), `latchkey-bench-${randomUUID()}.db`)
  const auth = createAuth({
    ...configuration(origin, file),
    admin: { emails: [administrator], twoFactor: false },
    limits: { admin: { ip: '1000000/1m', account: '1000000/1m' } },
  })
  await auth.ready()
  const account = { email: administrator, password: `difference-engine-${randomUUID()}` }
  await auth.users.create({ ...account, emailVerified: true })
  fill(file, accounts, events)
  const send = (path, init) => auth.fetch(new Request(`${origin}/auth${path}`, init), { ip: '127.0.0.1' })
  const signedIn = await send('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
    body: JSON.stringify(account),
  })
  const { accessToken } = await signedIn.json()
  return {
    draw: () => Math.floor(Math.random() * accounts),
    async call(path) {
      const response = await send(`/admin/api${path}`, { headers: { authorization: `Bearer ${accessToken}` } })
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
    async close() {
      await auth.close()
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
    },
  }
}

/** Rows as the package would have written them, but for the hashes of the audit log, which no list reads. */
function fill(file, accounts, events) {
  const database = new Database(file)
  const now = Math.floor(Date.now() / 1000)
  const user = database.prepare(
    `insert into latchkey_users (id, email, email_canonical, email_verified, roles, fields, version, identities, created_at)
     values (?, ?, ?, 1, '[]', '{}', 1, '[]', ?)`,
  )
  const session = database.prepare(
    `insert into latchkey_sessions (id, ordinal, user_id, mode, counter, refresh_issued_at, refresh_expires_at, amr,
       auth_time, created_at, expires_at, last_seen_at, ip, user_agent)
     values (?, ?, ?, 'cookie', 0, ?, ?, '["pwd"]', ?, ?, ?, ?, '192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0')`,
  )
  const event = database.prepare(
    `insert into latchkey_audit (id, seq, at_ms, event, outcome, user_id, ip, user_agent, detail, hash, mac)
     values (?, ?, ?, 'login', 'success', ?, '192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', '{}', 'x', 'x')`,
  )
  const { last } = database.prepare('select coalesce(max(seq), 0) last from latchkey_audit').get()
  database.transaction(() => {
    for (let number = 0; number < accounts; number += 1) {
      const at = now - accounts + number
      const address = `user${number}@example.com`
      user.run(idOf('u', number), address, address, at)
      session.run(idOf('s', number), number, idOf('u', number), at, now + 2_592_000, at, at, now + 7_776_000, at)
    }
    for (let number = 1; number <= events; number += 1) {
      event.run(idOf('e', number), last + number, (now - events + number) * 1000, idOf('u', number % accounts))
    }
    database.prepare('update latchkey_audit_head set seq = seq + ?').run(events)
  })()
  database.exec('analyze')
  database.close()
}

const idOf = (kind, number) => createHash('md5').update(`${kind}${number}`).digest('hex').slice(0, 22)
const follow = (cursor) => (cursor ? `&cursor=${encodeURIComponent(cursor)}` : '')
const figures = (samples, share) =>
  ['small', 'large'].map((size) => `${percentile(samples[size], share).toFixed(2)} ms`)

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
