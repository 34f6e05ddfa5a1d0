import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import type { TestClient } from '../../src/testing.js'
import { ada, sharedSettings } from '../support/auth.js'
import { guess, inTurn, ipOf, times } from '../support/limits.js'
import { freePort } from '../support/program.js'
import { dropKeys, redisUrl, startRedis, until } from '../support/redis-server.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'
import { manyOf, type OneOfMany } from '../support/two-processes.js'

/** A database of its own, and the keys of its installation dropped afterwards. */
async function postgres(): Promise<TestDatabase> {
  const database = await createDatabase('postgres')
  onTestFinished(async () => {
    const [row] = await database.query('select id from latchkey_installation').catch(() => [])
    if (row) await dropKeys(String(row.id))
    await database.close()
  })
  return database
}

/** Two instances that are up, and a browser that is signed in at the first. */
async function pair(settings: Partial<LatchkeySettings>, polls: boolean): Promise<[OneOfMany, OneOfMany, TestClient]> {
  // News may be so old that no request reads it either.
  const many = manyOf(polls ? settings : { ...settings, revocation: { staleness: '1m' } }, { polls })
  const [here, there] = [many.start(), many.start()]
  await Promise.all([here.auth.ready(), there.auth.ready()])
  const browser = here.client()
  await browser.signUp(ada)
  return [here, there, browser]
}

/** The same browser at another instance. */
function at(instance: OneOfMany, browser: TestClient): TestClient {
  const pairs = browser.cookies.all().map(({ name, value }) => `${name}=${value}`)
  return instance.client({ headers: { cookie: pairs.join('; ') } })
}

/** A sign-out at one instance, and the other refuses. */
async function newsTravels(there: OneOfMany, browser: TestClient): Promise<void> {
  const elsewhere = at(there, browser)
  expect((await elsewhere.get('/api/notes')).status).toBe(200)
  expect((await browser.signOut()).status).toBe(204)
  let answer = await elsewhere.get('/api/notes')
  await until('the other refuses', async () => {
    answer = await elsewhere.get('/api/notes')
    return answer.status !== 200
  })
  expect(answer).toMatchObject({ status: 401, body: { code: 'token_revoked' } })
}

describe('without a single poll of the feed, so that only a wake-up can bring it', () => {
  test('a sign-out is in force in another instance on PostgreSQL with Redis', async () => {
    const { url } = await postgres()
    const [, there, browser] = await pair({ database: url, redis: redisUrl }, false)
    await newsTravels(there, browser)
  })

  test('a sign-out is in force in another instance on PostgreSQL alone', async () => {
    const { url } = await postgres()
    const [, there, browser] = await pair({ database: url }, false)
    await newsTravels(there, browser)
  })

  test('a sign-out is in force in another instance on SQLite with Redis', async () => {
    const { url } = await startRedis()
    const [, there, browser] = await pair({ ...sharedSettings(), redis: url }, false)
    await newsTravels(there, browser)
  })

  test('a listener that PostgreSQL has ended is back, and hears again', async () => {
    const database = await postgres()
    const [here, there, browser] = await pair({ database: database.url }, false)
    const listeners = `from pg_stat_activity where datname = current_database() and application_name = 'latchkey wake-ups'`
    expect(await database.query(`select pg_terminate_backend(pid) ${listeners}`)).toHaveLength(2)
    for (const { lines } of [here, there]) {
      await until('both are back', () => lines.some(({ message }) => /again/.test(message)))
    }
    await newsTravels(there, browser)
  })
})

test('one application in two instances: limits are counted together, to the last one', async () => {
  const { url } = await postgres()
  const [here, there] = await pair({ database: url, redis: redisUrl }, true)
  const clients = [here.client({ ip: ipOf(1) }), there.client({ ip: ipOf(2) })]
  const guesses = await Promise.all(
    Array.from({ length: 24 }, (_, index) => guess(clients[index % 2] ?? here.client(), ada.email)),
  )
  const statuses = guesses.map(({ status }) => status).sort()
  expect(statuses).toEqual([...times(10, 401), ...times(14, 429)])
  expect((await there.client({ ip: ipOf(3) }).post('/auth/login', ada)).status).toBe(429)
})

describe('Redis that goes away', () => {
  test('what is counted is 503 and comes back by itself; known sessions go on, and revocation is as quick as without it', async () => {
    const server = await startRedis()
    const database = await postgres()
    const settings = { database: database.url, redis: server.url, revocation: { staleness: '4s' as const } }
    const [here, there, browser] = await pair(settings, true)
    const elsewhere = at(there, browser)
    expect((await elsewhere.get('/api/notes')).status).toBe(200)

    await server.kill()
    const beganAt = performance.now()
    for (let round = 0; round < 40; round += 1) {
      // Longer than `staleness`: the feed is the store's, and does not age with Redis.
      expect((await elsewhere.get('/api/notes')).status).toBe(200)
      expect((await browser.get('/api/notes')).status).toBe(200)
      await sleep(125)
    }
    expect(performance.now() - beganAt).toBeGreaterThan(4_800)
    for (const refused of [
      await here.client().post('/auth/login', ada),
      await guess(there.client(), ada.email),
      await browser.refresh(),
      await there.client().post('/auth/otp', { email: ada.email }),
    ]) {
      expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    expect(await here.auth.health()).toMatchObject({ status: 'degraded', redis: { ok: false, latencyMs: null } })
    // The application's own code needs no counter.
    const { items } = await here.auth.users.list({ query: ada.email })
    await here.auth.sessions.revokeAll(items[0]?.id ?? '')
    await until('the other refuses', async () => (await elsewhere.get('/api/notes')).status === 401)

    await server.start()
    await until('sign-in works', async () => (await there.client().post('/auth/login', ada)).status === 200)
    await until('sign-in works', async () => (await here.client().post('/auth/login', ada)).status === 200)
    expect(await here.auth.health()).toMatchObject({ status: 'ok', redis: { ok: true } })
    expect(JSON.stringify([here.lines, there.lines])).not.toContain(ada.email)
    const told = here.lines.filter(({ fields }) => fields.event === 'redis')
    expect(told.map(({ level, fields }) => [level, fields.error])).toEqual([
      ['error', 'ECONNREFUSED'],
      ['warn', null],
    ])
    // The feed was never in danger.
    expect([...here.lines, ...there.lines].filter(({ fields }) => fields.event === 'change_feed')).toEqual([])
  })

  test('nobody gets in, or gets more tries, while it is away', async () => {
    const server = await startRedis()
    const database = await postgres()
    const [here] = await pair({ database: database.url, redis: server.url }, true)
    expect(await inTurn(9, () => guess(here.client({ ip: ipOf(4) }), ada.email))).toEqual(times(9, 401))
    await server.kill()
    const away = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0 ? guess(here.client(), ada.email) : here.client().post('/auth/login', ada),
      ),
    )
    expect(new Set(away.map(({ status }) => status))).toEqual(new Set([503]))
  })

  test('unreachable at the start: it says so by its name and without the password, and opens once it is there', async () => {
    const port = await freePort()
    const database = await postgres()
    const secret = 'not-for-any-log'
    const many = manyOf({ database: database.url, redis: `redis://:${secret}@127.0.0.1:${port}` })
    const { auth, lines, client } = many.start()
    const error: unknown = await auth.ready().catch((reason: unknown) => reason)
    expect(String(error)).toBe(`Error: redis: 127.0.0.1:${port} cannot be used: ECONNREFUSED.`)
    expect((await client().get('/api/notes')).status).toBe(503)

    await startRedis(['--requirepass', secret], port)
    await until('it opens', () =>
      auth.ready().then(
        () => true,
        () => false,
      ),
    )
    await client().signUp(ada)
    expect(JSON.stringify(lines)).toContain(`127.0.0.1:${port}`)
    expect(JSON.stringify(lines)).not.toContain(secret)
  })
})

test('closing leaves no connection behind, neither at PostgreSQL nor at Redis', async () => {
  const server = await startRedis()
  const database = await postgres()
  const [here, there] = await pair({ database: database.url, redis: server.url }, true)
  await Promise.all([here.auth.close(), there.auth.close()])
  const others = 'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await until('PostgreSQL is alone', async () => (await database.query(others)).length === 0)
  await until('Redis is alone', async () => (await server.clients()) === 0)
})
