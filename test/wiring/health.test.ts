import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { createHealth } from '../../src/wiring/health.js'
import { ada, temporaryFolder, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

const silent = { warn: () => {}, error: () => {} }

/** A transport that takes nothing until it is told to; a refusal for good is one of the recipient. */
function brokenTransport() {
  let fault: object | null = { code: 'ECONNECTION' }
  return {
    mend: (refusal: object | null) => {
      fault = refusal
    },
    transport: {
      name: 'broken',
      version: '1',
      send(_mail: unknown, callback: (error: Error | null, sent: object) => void) {
        callback(fault && Object.assign(new Error('never told'), fault), {})
      },
    },
  }
}

test('all is well while the store answers, the news is fresh and mails go out', async () => {
  const { auth, client, mailbox } = await testAuth()
  await client().post('/auth/register', ada)
  await mailbox.waitFor(ada.email)
  await expect
    .poll(() => auth.health())
    .toEqual({
      status: 'ok',
      store: { ok: true, latencyMs: expect.any(Number) },
      changeFeed: { fresh: true, ageMs: expect.any(Number) },
      outbox: { waiting: 0, oldestSeconds: null, setAside: 0 },
      hashing: { queued: 0 },
      redis: null,
    })
})

test('mails that wait for more than 15 minutes degrade it, mails set aside are counted only', async () => {
  const { mend, transport } = brokenTransport()
  const { auth, client, runtime } = await testAuth({ mail: { from: 'Acme <hello@acme.example>', transport } })
  await client().post('/auth/register', ada)
  const { clock } = runtime
  await clock.set(clock.now() + 900_000)
  expect(await auth.health()).toMatchObject({ status: 'ok', outbox: { waiting: 1, oldestSeconds: 900 } })
  await clock.set(clock.now() + 1_000)
  expect(await auth.health()).toMatchObject({ status: 'degraded', outbox: { waiting: 1, oldestSeconds: 901 } })

  mend({ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550, response: '550 5.1.1 no' })
  await clock.set(clock.now() + 3_600_000)
  await expect
    .poll(() => auth.health())
    .toMatchObject({
      status: 'ok',
      outbox: { waiting: 0, oldestSeconds: null, setAside: 1 },
    })
})

test('a store that does not answer degrades it, and takes it down once guarded requests get 503', async () => {
  const database = failingDatabase()
  const { auth, runtime } = await testAuth({ database: database.dialect })
  database.failAfter(0)
  const broken = { store: { ok: false, latencyMs: null }, outbox: null, hashing: { queued: 0 }, redis: null }
  expect(await auth.health()).toEqual({
    ...broken,
    status: 'degraded',
    changeFeed: { fresh: true, ageMs: expect.any(Number) },
  })
  await runtime.clock.set(runtime.clock.now() + 11_000)
  const down = await auth.health()
  expect(down).toMatchObject({ ...broken, status: 'down', changeFeed: { fresh: false } })
  expect(down.changeFeed.ageMs).toBeGreaterThan(10_000)

  database.failAfter(Number.POSITIVE_INFINITY)
  expect(await auth.health()).toMatchObject({ status: 'ok', changeFeed: { fresh: true } })
})

test('a store that never answers is waited for less than two seconds, and asked once for all who ask', async () => {
  const { auth, runtime } = await testAuth()
  await auth.ready()
  let asked = 0
  const operations = {
    depth() {
      asked += 1
      return new Promise<never>(() => {})
    },
    pingRedis: () => new Promise<never>(() => {}),
    feedAgeMs: () => 4_000,
    isDecisive: async () => true,
    migrations: async () => ({ applied: [], pending: [] }),
  }
  const [live, world] = [{ operations }, { now: runtime.clock.now, timer: runtime.clock.timer }]
  const opening = { live: () => live, ready: async () => live }
  const health = createHealth(opening, { world, passwords: { queued: () => 64 } })
  const asking = Promise.all([health(), health(), health()])
  await runtime.clock.advance(1_999)
  const [answer] = await asking
  expect(answer).toEqual({
    status: 'degraded',
    store: { ok: false, latencyMs: null },
    changeFeed: { fresh: true, ageMs: 4_000 },
    outbox: null,
    hashing: { queued: 64 },
    redis: { ok: false, latencyMs: null },
  })
  expect(asked).toBe(1)
})

test('one that cannot open its store is down and says so without a word about why; so is one that was closed', async () => {
  const nowhere = join(temporaryFolder(), 'no such folder', 'secret-name.db')
  const runtime = createTestRuntime()
  const auth = createAuth(testSettings({ database: `sqlite:${nowhere}`, logger: silent }), runtime)
  onTestFinished(() => auth.close())
  const unopened = {
    status: 'down',
    store: { ok: false, latencyMs: null },
    changeFeed: { fresh: false, ageMs: null },
    outbox: null,
    hashing: { queued: 0 },
    redis: null,
  }
  expect(await auth.health()).toEqual(unopened)
  const closed = await testAuth()
  await closed.auth.close()
  expect(await closed.auth.health()).toEqual(unopened)
})
