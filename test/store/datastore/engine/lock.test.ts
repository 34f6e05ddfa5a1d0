import { expect, onTestFinished, test } from 'vitest'
import { realMonotonic, sleep } from '../../../../src/lib/runtime.js'
import { createConnection } from '../../../../src/store/datastore/engine/connection.js'
import { createLock } from '../../../../src/store/datastore/engine/lock.js'
import { createQueue } from '../../../../src/store/datastore/engine/queue.js'
import { anEvent, createdUser, now, openedSession, until } from '../../../contracts/store/rows.js'
import { createDatastoreBed, type DatastoreBed } from '../../../support/datastores.js'
import { createPersistentDatastore } from '../../../support/persistent-datastore.js'

const long = { holdMs: 15_000, leaseMs: 20_000, patienceMs: 30_000, callMs: 10_000 }
/** A turn that nobody ends is over in a moment. */
const short = { ...long, holdMs: 200, leaseMs: 300 }

async function bed(): Promise<DatastoreBed> {
  const opened = await createDatastoreBed()
  onTestFinished(opened.close)
  return opened
}

/** The lock of one process in a lane. */
function lockOn(file: string, timing = long) {
  const datastore = createPersistentDatastore({ file })
  onTestFinished(() => datastore.close())
  const connection = createConnection({ datastore, callMs: timing.callMs, queryForm: 'query' })
  const lock = createLock('test', { connection, timing, monotonic: realMonotonic, sleep, random: () => 0.5 })
  return { lock, connection, datastore }
}

test('one process at a time has the turn, and the next one has it as soon as that says so', async () => {
  const { file } = await bed()
  const [first, second] = [lockOn(file).lock, lockOn(file).lock]
  const turn = await first.take()
  let got = false
  const waiting = second.take().finally(() => {
    got = true
  })
  const startMs = realMonotonic()
  await sleep(100)
  expect(got).toBe(false)
  await first.write(turn, { held: false })
  expect((await waiting).number).toBe(turn.number + 1)
  expect(realMonotonic() - startMs).toBeLessThan(long.leaseMs)
})

test('a dead process has its turn for the length of its lease', async () => {
  const { file } = await bed()
  const startMs = realMonotonic()
  const turn = await lockOn(file, short).lock.take()
  expect((await lockOn(file, short).lock.take()).number).toBe(turn.number + 1)
  expect(realMonotonic() - startMs).toBeGreaterThanOrEqual(short.leaseMs)
})

test('whoever waits for too long is told', async () => {
  const { file } = await bed()
  await lockOn(file).lock.take()
  const { connection } = lockOn(file)
  const options = { connection, monotonic: realMonotonic, sleep, random: () => 0.5 }
  const impatient = createLock('test', { ...options, timing: { ...long, patienceMs: 50 } })
  await expect(impatient.take()).rejects.toThrow('busy for too long')
})

test('a turn that nobody got, because sums were read too late, is passed over', async () => {
  const { file } = await bed()
  const { lock, connection } = lockOn(file, short)
  await connection.increment('lane:test:1')
  expect((await lock.take()).number).toBe(2)
})

test('a record that was there and cannot be read now gives nobody a turn', async () => {
  const { file } = await bed()
  const { connection } = lockOn(file)
  // Some hosts reject a read that fails as they reject one of a key that was never set.
  let failing = false
  const unsure = { ...connection, getText: async (key: string) => (failing ? null : connection.getText(key)) }
  const options = { connection: unsure, timing: long, monotonic: realMonotonic, sleep, random: () => 0.5 }
  const lock = createLock('test', options)
  await lock.write(await lock.take(), { held: false })
  await lock.write(await lock.take(), { held: false })
  failing = true
  await expect(lock.take()).rejects.toThrow('cannot be read')
  await expect(lock.read()).rejects.toThrow('cannot be read')
  failing = false
  expect((await lock.take()).number).toBe(3)
})

test('whoever comes again at once after the Datastore has failed is served', async () => {
  const { file } = await bed()
  const { connection } = lockOn(file)
  let away = true
  const failing = {
    ...connection,
    getText: (key: string) => (away ? Promise.reject(new Error('away')) : connection.getText(key)),
  }
  const options = { connection: failing, timing: long, monotonic: realMonotonic, sleep, random: () => 0.5 }
  const lane = createQueue('test', { ...options, randomId: () => 'a journal' })
  const made = () => lane.step(async () => ({ answer: 'made', writes: [] }))
  const again = made().catch(() => {
    away = false
    return made()
  })
  expect(await again).toBe('made')
})

test('the keys of old lock do not pile up', async () => {
  const { file } = await bed()
  const { lock, datastore } = lockOn(file)
  for (let index = 0; index < 1_250; index += 1) await lock.write(await lock.take(), { held: false })
  await sleep(100)
  const connection = await datastore.open()
  const kept = await Promise.all(
    [1, 100, 200, 250, 1_250].map((number) => connection.get(`lane:test:${number}`, { keyspace: 'latchkey' })),
  )
  expect(kept.map((value) => value !== null)).toEqual([false, false, false, true, true])
})

test('a process that was paused in a step for longer than its turn writes nothing of what it had decided', async () => {
  const { open } = await bed()
  let readsUntilPause = Number.POSITIVE_INFINITY
  const paused = await open(
    {
      async before(name) {
        readsUntilPause -= name === 'getMany' ? 1 : 0
        if (readsUntilPause !== 0) return
        readsUntilPause = Number.POSITIVE_INFINITY
        await sleep(800)
      },
    },
    { timing: short, sleep },
  )
  const other = await open({}, { timing: short, sleep })
  const user = await createdUser(paused)
  // Once it has read the user.
  readsUntilPause = 2
  const late = paused.users.updateAccount(user.id, { roles: ['LATE'] }, { until, audit: anEvent() })
  await sleep(50)
  const swift = await other.users.disable(user.id, { at: now, until: null, reason: null }, { until, audit: anEvent() })
  expect(swift).toMatchObject({ version: 2 })
  // It begins again, upon what the other one has written.
  expect(await late).toMatchObject({ version: 3, disabledAt: now, roles: ['LATE'] })
  expect(await other.audit.verify()).toEqual({ ok: true, brokenAt: null })
})

test('a reader sees no step in its middle, however long that lasts', async () => {
  const { open } = await bed()
  // The user is written at once, the session goes later.
  const slow = await open({
    before: async (name) => {
      if (name === 'removeOne') await sleep(80)
    },
  })
  const reader = await open()
  const user = await createdUser(slow)
  for (let version = 1; version <= 4; version += 1) {
    const session = await openedSession(slow, { ...user, version })
    const ending = slow.users.setPassword(user.id, `$hash$${version}`, { until, audit: anEvent() })
    const seen = new Set<number | null>()
    while (!seen.has(null)) {
      const state = await reader.sessions.find(session.id)
      seen.add(state === null ? null : state.user.version)
    }
    await ending
    // Never the session that ends beside the version that ended it.
    expect([...seen].filter((each) => each !== null && each > version)).toEqual([])
  }
})

test('a change that is written while the feed is read is told, however far behind the clock of its writer is', async () => {
  const { open, clock } = await bed()
  const writer = await open({}, { now: () => clock.nowMs - 300_000 })
  let meanwhile: (() => Promise<unknown>) | null = null
  const reader = await open({
    async before(name) {
      if (name !== 'getMany' || meanwhile === null) return
      const write = meanwhile
      meanwhile = null
      await write()
    },
  })
  const user = await createdUser(writer)
  const [first, second] = [await openedSession(writer, user), await openedSession(writer, user)]
  await writer.sessions.end(first.id, user.id, { until, audit: anEvent() })
  await reader.changes.current(0)

  meanwhile = () => writer.sessions.end(second.id, user.id, { until, audit: anEvent() })
  const { changes } = await reader.changes.recent(60_000)
  expect(changes.map(({ subject }) => subject)).toContain(second.id)
})
