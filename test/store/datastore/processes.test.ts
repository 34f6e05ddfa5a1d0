import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/store/store.js'
import { aReset, createdUser, now, openedSession } from '../../contracts/store/rows.js'
import type { Fight, Spoils } from '../../support/datastore-process.js'
import { createFighters } from '../../support/datastore-processes.js'
import { createDatastoreBed } from '../../support/datastores.js'

const processes = 3
const room = 25

/** Things to fight for, and the store in which they are. */
async function prepare(): Promise<{ store: Store; fight: Fight }> {
  const bed = await createDatastoreBed()
  onTestFinished(bed.close)
  const store = await bed.open({}, { timing: { holdMs: 1_000, leaseMs: 1_500, patienceMs: 30_000, callMs: 10_000 } })
  const tokens: string[] = []
  const sessions: string[] = []
  const owners: Record<string, string> = {}
  for (let index = 0; index < 12; index += 1) {
    const user = await createdUser(store)
    const token = aReset(user)
    await store.oneTimeTokens.put(token, null, { keep: 1, now })
    tokens.push(token.id)
    const session = await openedSession(store, await createdUser(store))
    sessions.push(session.id)
    owners[session.id] = session.userId
  }
  const emails = Array.from({ length: 12 }, (_, index) => `fighter${index}@example.com`)
  return { store, fight: { file: bed.file, emails, tokens, sessions, owners, counter: { id: 'c', room, hits: 20 } } }
}

function all(spoils: readonly (Spoils | null)[], what: 'emails' | 'tokens' | 'sessions'): string[] {
  return spoils.flatMap((each) => each?.[what] ?? []).sort()
}

test('processes that fight for the same addresses, tokens and sessions get each of them once', {
  timeout: 120_000,
}, async () => {
  const { store, fight } = await prepare()
  const start = await createFighters()
  const fighters = await Promise.all(Array.from({ length: processes }, () => start(fight)))
  const spoils = await Promise.all(fighters.map((fighter) => fighter.fight()))

  expect(spoils.map((each) => each?.unavailable)).toEqual(spoils.map(() => 0))
  for (const what of ['emails', 'tokens', 'sessions'] as const) {
    expect(all(spoils, what)).toEqual([...fight[what]].sort())
  }
  expect(spoils.reduce((sum, each) => sum + (each?.counted ?? 0), 0)).toBe(room)
  expect(await store.users.list({ query: 'fighter', after: null, limit: 100 })).toHaveLength(fight.emails.length)
  expect(await store.audit.verify()).toEqual({ ok: true, brokenAt: null })
})

test('a process that is killed at any moment takes nothing with it and leaves no half step', {
  timeout: 240_000,
}, async () => {
  const start = await createFighters()
  const lastOfEveryFight = 100
  // Chosen over the length of a fight: before the first turn, within steps, between them. Who gets little may be done sooner.
  for (const dieAt of [1, 9, 14, 17, 20, 23, 60, 151]) {
    const { store, fight } = await prepare()
    const [doomed, ...others] = await Promise.all([start({ ...fight, dieAt }), start(fight), start(fight)])
    const spoils = await Promise.all([doomed, ...others].map((fighter) => fighter?.fight()))
    if (dieAt < lastOfEveryFight) expect({ dieAt, died: spoils[0] }).toEqual({ dieAt, died: null })

    // What the dead one got, it could tell nobody: nothing was got twice, and all of it is gone.
    for (const what of ['emails', 'tokens', 'sessions'] as const) {
      const got = all(
        spoils.map((each) => each ?? null),
        what,
      )
      expect({ dieAt, what, got: new Set(got).size }).toEqual({ dieAt, what, got: got.length })
    }
    const users = await store.users.list({ query: 'fighter', after: null, limit: 100 })
    expect({ dieAt, users: users.length }).toEqual({ dieAt, users: fight.emails.length })
    const rotated = await Promise.all(fight.sessions.map((id) => store.sessions.find(id)))
    expect(rotated.map((state) => state?.session.counter)).toEqual(fight.sessions.map(() => 1))
    const audited = await store.audit.list({ event: 'password_reset', limit: 100 })
    expect({ dieAt, resets: audited.length }).toEqual({ dieAt, resets: fight.tokens.length })
    const { changes } = await store.changes.current(0)
    expect({ dieAt, told: changes.length }).toEqual({ dieAt, told: fight.tokens.length })
    expect(await store.audit.verify()).toEqual({ ok: true, brokenAt: null })
  }
})
