import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { secretsForEnvironment } from '../support/application-folder.js'
import { admin, openLocalDesk } from '../support/local-desk.js'
import { startRedis, until } from '../support/redis-server.js'
import { createDatabase } from '../support/servers.js'
import { manyOf } from '../support/two-processes.js'

describe.each(['postgres', 'mysql'] as const)('the local tool on %s', { timeout: 120_000 }, (kind) => {
  test('ATK-179 migrates, adds a token that a running application accepts, and prints no password', async () => {
    const database = await createDatabase(kind)
    onTestFinished(() => database.close())
    const desk = await openLocalDesk({ database: database.url })
    expect(await desk.run(['tokens'])).toMatchObject({ code: 2, stdout: '' })
    expect(await desk.run(['migrate'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The schema is current.'),
    })

    const { call } = await desk.start()
    const created = await desk.run(['add-token'])
    const { host } = new URL(database.url)
    expect(created.stderr).toContain(host)
    const token = /token (\S+) with/.exec(created.stdout)?.[1] ?? ''
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(200), { timeout: 20_000, interval: 50 })
    expect(await desk.run(['whitelist', '203.0.113.7', '--yes'])).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(403), { timeout: 20_000, interval: 50 })
    expect(await desk.run(['audit', 'verify'])).toMatchObject({ code: 0 })
  })
})

test('a server that cannot be reached is exit 5, and its password is not printed', async () => {
  const desk = await openLocalDesk({ database: 'postgres://app:s3cret-word@127.0.0.1:1/app' })
  const refused = await desk.run(['tokens'])
  expect(refused).toMatchObject({ code: 5, stdout: '' })
  expect(refused.stderr).toContain('127.0.0.1:1')
  expect(refused.stderr).not.toContain('s3cret-word')
}, 60_000)

describe('without a single poll of the feed, a change by the local tool is in force in a running application', {
  timeout: 120_000,
}, () => {
  async function postgres(): Promise<string> {
    const database = await createDatabase('postgres')
    onTestFinished(() => database.close())
    return database.url
  }

  /** `redis`: its URL. Without `database`, an SQLite file. */
  async function changeTravels({ database, redis }: { database?: string; redis?: string }): Promise<void> {
    const secrets = secretsForEnvironment()
    const more = redis === undefined ? '' : `redis: '${redis}',`
    const desk = await openLocalDesk({ ...(database && { database }), more, secrets })
    const settings: Partial<LatchkeySettings> = {
      JWT_ACCESS_TOKEN_SECRET: secrets.JWT_ACCESS_TOKEN_SECRET ?? '',
      JWT_REFRESH_TOKEN_SECRET: secrets.JWT_REFRESH_TOKEN_SECRET ?? '',
      database: database ?? `sqlite:${desk.folder}/latchkey.db`,
      ...(redis && { redis }),
      // News may be so old that no request reads the feed either.
      revocation: { staleness: '1m' },
    }
    const { auth, client } = manyOf(settings, { polls: false }).start()
    await auth.ready()
    const browser = client()
    await browser.signUp(admin)
    const status = async () => (await browser.get('/api/notes')).status
    expect(await status()).toBe(200)
    expect(await desk.run(['users', 'end-sessions', admin.email, '--yes'])).toMatchObject({ code: 0 })
    await until('the session is refused', async () => (await status()) === 401)
    expect(await desk.run(['whitelist', '203.0.113.7', '--yes'])).toMatchObject({ code: 0 })
    await until('every other address is refused', async () => (await status()) === 403)
  }

  test('on PostgreSQL by NOTIFY', async () => changeTravels({ database: await postgres() }))

  test('on PostgreSQL by Redis', async () =>
    changeTravels({ database: await postgres(), redis: (await startRedis()).url }))

  test('on SQLite by Redis', async () => changeTravels({ redis: (await startRedis()).url }))
})
