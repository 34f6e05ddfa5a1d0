import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuth, type LatchkeySettings } from '../../../src/index.js'
import { createTestClock, createTestRuntime, testSettings } from '../../../src/testing.js'
import { type TestAuth, temporaryFolder, testAuth } from '../../support/auth.js'
import { startPostgres } from '../../support/pglite.js'

const folder = fileURLToPath(new URL('../../fixtures/databases/', import.meta.url))
const dumps = readdirSync(folder).filter((name) => name.endsWith('.sql'))

/** What the owners of the accounts in such a database hold; `test/fixtures/make.js` writes it. */
interface Held {
  JWT_ACCESS_TOKEN_SECRET: string
  JWT_REFRESH_TOKEN_SECRET: string
  /** When it was left, Unix milliseconds. */
  at: number
  ada: Credentials
  grace: Credentials
  hedy: Credentials
  refreshToken: string
  /** Of grace's second factor. */
  backupCode: string
  /** Of hedy's forgotten password. */
  reset: string
  apiToken: string
}

interface Credentials {
  email: string
  password: string
}

async function load(name: string): Promise<NonNullable<LatchkeySettings['database']>> {
  const sql = readFileSync(join(folder, name), 'utf8')
  if (name.endsWith('.sqlite.sql')) {
    const file = join(temporaryFolder(), 'latchkey.db')
    const database = new Database(file)
    database.pragma('foreign_keys = off')
    database.exec(sql)
    database.close()
    return `sqlite:${file}`
  }
  const postgres = await startPostgres()
  onTestFinished(() => postgres.close())
  await postgres.query(sql)
  return postgres.dialect()
}

function heldIn(name: string): Held {
  return JSON.parse(readFileSync(join(folder, name.replace(/sql$/, 'json')), 'utf8'))
}

async function open(name: string): Promise<TestAuth & { held: Held }> {
  const held = heldIn(name)
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = held
  const runtime = createTestRuntime({ clock: createTestClock(held.at + 60_000) })
  const secrets = { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET }
  const opened = await testAuth({ database: await load(name), limits: {}, ...secrets }, runtime)
  return { ...opened, held }
}

describe.each(dumps)('the database %s', (name) => {
  test('is brought up to date, and whoever had an account, a session or a token there has it still', async () => {
    const { auth, client, mailbox, held } = await open(name)
    expect(await auth.migrations()).toMatchObject({ pending: [] })
    expect(await auth.audit.verify()).toEqual({ ok: true, brokenAt: null })

    const former = (await auth.audit.list({ limit: 200 })).items
    expect(former.length).toBeGreaterThan(10)
    expect(former.filter(({ actor }) => actor !== null)).toEqual([])

    const app = client({ as: 'server' })
    const body = { refreshToken: held.refreshToken }
    const refreshed = await app.post<{ accessToken: string }>('/auth/refresh', body, {
      headers: { 'x-auth-mode': 'token' },
    })
    expect(refreshed.status, refreshed.text).toBe(200)
    const bearer = { authorization: `Bearer ${refreshed.body.accessToken}` }
    expect((await app.get('/api/notes', { headers: bearer })).status).toBe(200)
    expect((await app.get('/api/notes', { headers: { 'x-apikey': held.apiToken } })).status).toBe(200)

    const { body: ada } = await client().signIn(held.ada)
    expect(ada.user).toMatchObject({ name: 'Ada', emailVerified: true })
    expect((await auth.sessions.list(ada.user.id)).items).toHaveLength(4)

    const grace = client()
    const asked = await grace.post<{ challenge: string }>('/auth/login', held.grace)
    expect(asked.body).toMatchObject({ status: 'two_factor_required' })
    const code = { challenge: asked.body.challenge, code: held.backupCode }
    expect((await grace.post('/auth/login/two-factor', code)).status).toBe(200)

    const password = 'another correct horse'
    expect((await client().post('/auth/password/reset', { token: held.reset, password })).status).toBe(200)
    await client().signIn({ ...held.hedy, password })

    const signIns = (await auth.audit.list({ actor: ada.user.id })).items
    expect(signIns).toMatchObject([{ event: 'login', actor: { kind: 'user', sessionId: ada.session.id } }])

    // What nobody took then goes out now, and can be opened.
    expect(mailbox.token(await mailbox.waitFor('waiting@example.test'))).not.toBe('')
    expect((await auth.access.get()).allowList.added).toEqual(['127.0.0.1'])
    expect(await auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })
})

test.each(dumps)('the dry run on %s names the columns that come, and changes nothing', async (name) => {
  const database = await load(name)
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = heldIn(name)
  const secrets = { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET }
  const plan = async () => {
    const auth = createAuth({ ...testSettings({ database }), ...secrets }, createTestRuntime())
    onTestFinished(() => auth.close())
    return auth.migrations()
  }
  const before = await plan()
  expect(before.applied).toMatchObject([{ name: '0001-first', known: true }])
  expect(before.pending).toEqual([
    {
      name: '0002-actor',
      sql: [
        'alter table "latchkey_audit" add column "actor" text',
        'alter table "latchkey_audit" add column "actor_id" varchar(64)',
        'create index if not exists "latchkey_audit_actor_id_seq" on "latchkey_audit" ("actor_id", "seq")',
      ],
    },
    { name: '0003-administration', sql: expect.arrayContaining([expect.stringContaining('"latchkey_key_ids"')]) },
    { name: '0004-scopes', sql: expect.arrayContaining([expect.stringContaining('"latchkey_key_sets"')]) },
    { name: '0005-passkeys', sql: expect.arrayContaining([expect.stringContaining('"latchkey_passkeys"')]) },
  ])
  expect(await plan()).toEqual(before)
})

test('there is a database of this release', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(dumps).toEqual(expect.arrayContaining([`${version}.postgres.sql`, `${version}.sqlite.sql`]))
})
