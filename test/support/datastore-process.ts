// A process of its own on a Datastore that others use, too: it reads what to do from its standard input, and tells what
// it has achieved. Built by `datastore-processes.ts` before it is started.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openDatastoreStore } from '../../src/store/datastore/store.js'
import { aMail, anEvent, aUser, now, until } from '../contracts/store/rows.js'
import { datastoreOptions } from './datastores.js'
import { createPersistentDatastore } from './persistent-datastore.js'

/** What all processes fight for. */
export interface Fight {
  file: string
  /** Addresses, each of which can be had once. */
  emails: string[]
  /** Tokens, each of which can be used once. */
  tokens: string[]
  /** Sessions that have never been refreshed, each of which is rotated once. */
  sessions: string[]
  /** The user of each session. */
  owners: Record<string, string>
  /** A counter with room for so many. */
  counter: { id: string; room: number; hits: number }
  /** Kill -9 at that call, counted from the start of the fight. */
  dieAt?: number
}

/** What one process was told that it got. */
export interface Spoils {
  emails: string[]
  tokens: string[]
  sessions: string[]
  counted: number
  unavailable: number
}

const lines = createInterface({ input: process.stdin })
const fight: Fight = JSON.parse((await once(lines, 'line'))[0])
let calls = 0
let armed = false
const datastore = createPersistentDatastore({
  file: fight.file,
  async before() {
    calls += armed ? 1 : 0
    if (calls === fight.dieAt) process.kill(process.pid, 'SIGKILL')
  },
})
const store = await openDatastoreStore({
  ...datastoreOptions({ timing: { holdMs: 1_000, leaseMs: 1_500, patienceMs: 30_000, callMs: 10_000 } }),
  datastore,
})
process.stdout.write('open\n')
await once(lines, 'line')
armed = true

const spoils: Spoils = { emails: [], tokens: [], sessions: [], counted: 0, unavailable: 0 }

async function attempt(run: () => Promise<void>): Promise<void> {
  await run().catch(() => {
    spoils.unavailable += 1
  })
}

/** In an order of its own, so that the processes meet on different things. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

await Promise.all([
  ...shuffled(fight.emails).map((email) =>
    attempt(async () => {
      const audit = anEvent({ event: 'account_created' })
      if (await store.users.create(aUser({ emailCanonical: email }), audit)) spoils.emails.push(email)
    }),
  ),
  ...shuffled(fight.tokens).map((id) =>
    attempt(async () => {
      const step = { until, audit: anEvent({ event: 'password_reset' }), mail: aMail() }
      if (await store.users.resetPassword(id, 'password_reset', '$hash$new', now, step)) spoils.tokens.push(id)
    }),
  ),
  ...shuffled(fight.sessions).map((sessionId) =>
    attempt(async () => {
      const of = { sessionId, userId: fight.owners[sessionId] ?? '', mode: 'cookie' } as const
      const rotation = { ...of, counter: 0, issuedAt: now, expiresAt: now + 1_000, provenForMs: 30_000, now }
      if (await store.sessions.rotate(rotation)) spoils.sessions.push(sessionId)
    }),
  ),
  ...Array.from({ length: fight.counter.hits }, () =>
    attempt(async () => {
      const rule = { limit: fight.counter.room, windowSeconds: 60 }
      if ((await store.counters.hit(fight.counter.id, rule, now)).counted) spoils.counted += 1
    }),
  ),
])
process.stdout.write(`${JSON.stringify(spoils)}\n`)
await store.close()
process.exit(0)
