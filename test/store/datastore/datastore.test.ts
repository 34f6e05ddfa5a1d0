import { describe, expect, onTestFinished, test } from 'vitest'
import { sleep } from '../../../src/lib/runtime.js'
import type { CodehooksDatastore } from '../../../src/settings/database.js'
import { type DatastoreLimits, openDatastoreStore } from '../../../src/store/datastore/store.js'
import { keptApiToken } from '../../contracts/store/api-tokens.js'
import { anEvent, atOnce, createdUser, now, openedSession, until } from '../../contracts/store/rows.js'
import { storeContract } from '../../contracts/store.js'
import { randomId } from '../../support/databases.js'
import { createDatastoreBed, datastoreOptions, openDatastore, type Platform } from '../../support/datastores.js'

/** As adapters for version 1.1 are: other signatures, objects for ids, no life times, and sums that are read afterwards. */
const oldAdapter: Platform = { signatures: 'old', incr: 'read-back' }

storeContract('codehooks Datastore', openDatastore)
storeContract('codehooks Datastore, old adapter, one process', async () => {
  return { ...(await openDatastore(oldAdapter)), openSecond: null }
})

async function bed() {
  const opened = await createDatastoreBed()
  onTestFinished(opened.close)
  return opened
}

describe('what a Datastore can do is found out at opening', () => {
  test.each<[string, Platform, DatastoreLimits]>([
    ['each adds to a sum of its own', {}, { manyProcesses: true }],
    ['a sum is read afterwards', oldAdapter, { manyProcesses: false }],
  ])('where %s, that is said', async (_what, platform, limits) => {
    const said: DatastoreLimits[] = []
    await (await bed()).open(platform, { onLimits: (found) => said.push(found) })
    expect(said).toEqual([limits])
  })

  test.each<[string, object, RegExp]>([
    ['has no documents', {}, /has no insertOne/],
    [
      'finds everything whatever is asked',
      { insertOne: async () => ({}), getMany: () => ({ toArray: async () => [{ _id: 1, key: 'x' }] }) },
      /does not find documents by their fields/,
    ],
    [
      'refuses with a bare text',
      { insertOne: () => Promise.reject('mongodb://user:secret@host: refused') },
      /^Error: The Datastore refused\.$/,
    ],
  ])('one that %s does not open', async (_what, connection, sentence) => {
    const datastore: CodehooksDatastore = { open: async () => connection }
    const opening = openDatastoreStore({ ...datastoreOptions(), datastore })
    const error = await opening.catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(sentence)
    expect(String(error)).not.toContain('secret')
  })

  test('nothing of the trial stays', async () => {
    const { open, file } = await bed()
    await open()
    const { default: Database } = await import('better-sqlite3')
    const db = new Database(file)
    onTestFinished(() => void db.close())
    expect(db.prepare("select * from documents where collection = 'latchkey_probe'").all()).toEqual([])
    expect(db.prepare("select * from keys where key like 'probe:%'").all()).toEqual([])
  })

  test('many processes that open an empty one at once agree on its id', async () => {
    const { open } = await bed()
    const stores = await atOnce(() => open(), 5)
    expect(new Set(stores.map(({ installationId }) => installationId)).size).toBe(1)
    expect(await stores[0]?.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })
})

test('a step costs few calls, and a read fewer', async () => {
  const calls: string[] = []
  const { open } = await bed()
  const store = await open({ before: async (name) => void calls.push(name) })
  const user = await createdUser(store)
  const session = await openedSession(store, user)
  async function cost(run: () => Promise<unknown>): Promise<number> {
    // Until what ends the turn before is written.
    await sleep(30)
    calls.length = 0
    await run()
    await sleep(30)
    return calls.length
  }
  const { id: sessionId, userId, mode } = session
  const rotation = { sessionId, userId, mode, counter: 0, issuedAt: now, expiresAt: now + 1, provenForMs: 0, now }
  expect({
    user: await cost(() => store.users.findById(user.id)),
    session: await cost(() => store.sessions.find(session.id)),
    apiToken: await cost(() => store.apiTokens.findByHash(['key1.x'])),
    changes: await cost(() => store.changes.recent(60_000)),
    hit: await cost(() => store.counters.hit('c', { limit: 9, windowSeconds: 60 }, now)),
    refresh: await cost(() => store.sessions.rotate(rotation)),
    signIn: await cost(() => openedSession(store, user)),
  }).toEqual({ user: 3, session: 4, apiToken: 1, changes: 4, hit: 8, refresh: 7, signIn: 15 })
})

describe('clocks of processes differ', () => {
  test('a reader misses no row, however far its clock is ahead, or that of a writer', async () => {
    const { open } = await bed()
    const atMs = now * 1_000
    const stores = await Promise.all([
      open({}, { now: () => atMs }),
      open({}, { now: () => atMs + 3_600_000 }),
      open({}, { now: () => atMs - 300_000 }),
    ])
    const [inTime, ahead, behind] = stores
    if (!inTime || !ahead || !behind) throw new Error('three were opened')
    const readers = stores.map((store) => ({ store, seen: new Set<string>() }))
    for (const { store } of readers) await store.changes.current(0)
    const ended: string[] = []
    for (const writer of [inTime, behind, ahead, behind, inTime, behind]) {
      for (const store of [inTime, writer]) {
        const session = await openedSession(store, await createdUser(store))
        await writer.sessions.end(session.id, null, { until, audit: anEvent() })
        ended.push(session.id)
      }
      for (const { store, seen } of readers) {
        for (const { subject } of (await store.changes.recent(60_000)).changes) seen.add(subject)
      }
    }
    for (const { seen } of readers) expect([...seen].sort()).toEqual([...ended].sort())
  })
})

describe('documents of the release before the scopes, which have none', () => {
  test('are the application’s: found, listed, changed and removed as before', async () => {
    const { open, file } = await bed()
    const store = await open()
    const [kept, removed] = [await keptApiToken(store), await keptApiToken(store)]
    await store.accessSettings.addNetwork('10.0.0.1', anEvent(), () => true)
    await store.accessSettings.addNetwork('10.0.0.2', anEvent(), () => true)
    const { default: Database } = await import('better-sqlite3')
    const db = new Database(file)
    onTestFinished(() => void db.close())
    db.prepare("update documents set body = json_remove(body, '$.scope')").run()

    const space = store.at(randomId())
    expect(await space.apiTokens.list({ after: null, limit: 10 })).toEqual([])
    expect(await space.apiTokens.findByHash([kept.tokenHash])).toBeNull()
    expect((await space.accessSettings.read()).networks).toEqual([])
    expect(await space.apiTokens.remove(kept.id, { until, audit: anEvent() })).toBe(false)

    await store.apiTokens.touch([{ id: kept.id, at: now + 9 }])
    expect(await store.apiTokens.findByHash([kept.tokenHash])).toEqual({ ...kept, lastUsedAt: now + 9 })
    expect(await store.apiTokens.remove(removed.id, { until, audit: anEvent() })).toBe(true)
    expect(await store.apiTokens.list({ after: null, limit: 10 })).toHaveLength(1)
    expect(await store.accessSettings.addNetwork('10.0.0.1', anEvent(), () => true)).toBe('unchanged')
    expect(await store.accessSettings.removeNetwork('10.0.0.2', anEvent(), () => true)).toBe('changed')
    expect((await store.accessSettings.read()).networks).toEqual(['10.0.0.1'])
  })
})
