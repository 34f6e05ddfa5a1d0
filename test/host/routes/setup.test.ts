import { readFile, stat } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createFetch } from '../../../src/adapters/fetch.js'
import { AuthError } from '../../../src/errors.js'
import type { Setup } from '../../../src/host/flows/people/first-admin.js'
import { createSetupKey } from '../../../src/host/folder/secrets-file.js'
import { setupRoutes } from '../../../src/host/routes/setup.js'
import type { FirstAdmin } from '../../../src/host/store/people.js'
import { createRandom } from '../../../src/lib/random.js'
import { isLastByRole } from '../../../src/store/accounts/last-admin.js'
import { Refused } from '../../../src/store/refused.js'
import type { Steps } from '../../../src/store/sql/engine/steps.js'
import { toUserRow } from '../../../src/store/user-rows.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../../src/testing.js'
import { createHostAuth } from '../../../src/wiring/for-host.js'
import { hostFolder } from '../../support/host-folder.js'

const ada = { email: 'ada@example.com', password: 'a sound long passphrase 7' }
const origin = 'http://localhost:3000'

/** Every account of this host is an administrator. */
function firstAdminIn(steps: Steps): FirstAdmin {
  const count = () => steps.step(async (db) => (await db.selectFrom('latchkey_users').select('id').execute()).length)
  return {
    exists: async () => (await count()) > 0,
    create: (user, audit) =>
      steps.transaction<'created' | 'exists' | 'taken'>(async (unit) => {
        await unit.db
          .insertInto('latchkey_users')
          .values(toUserRow(user))
          .execute()
          .catch(() => {
            throw new Refused()
          })
        const all = await unit.db.selectFrom('latchkey_users').select('id').execute()
        if (all.length > 1) throw new Refused()
        unit.audit(audit)
        return 'created'
      }, 'exists'),
  }
}

async function newHost() {
  const runtime = createTestRuntime()
  const mailbox = createTestMailbox()
  const { setupUrl: path } = await hostFolder()
  const { monotonic } = runtime.clock
  const key = await createSetupKey(path, origin, { random: createRandom(), monotonic })
  const opened: { firstAdmin: FirstAdmin | null; events: (() => Promise<unknown[]>) | null } = {
    firstAdmin: null,
    events: null,
  }
  const firstAdmin = () => {
    if (opened.firstAdmin === null) throw new AuthError('store_unavailable')
    return opened.firstAdmin
  }
  const setup: Setup = {
    firstAdmin: { exists: () => firstAdmin().exists(), create: (user, audit) => firstAdmin().create(user, audit) },
    accepts: key.accepts,
    finished: key.remove,
  }
  const auth = createHostAuth<FirstAdmin>(
    testSettings({ mailbox, registration: { enabled: false }, logger: { warn: () => {}, error: () => {} } }),
    {
      extension: { migrations: {}, migrationsTable: 'none', isLastAdmin: isLastByRole, nouns: firstAdminIn },
      routes: setupRoutes(setup),
      findSpace: async () => {
        throw new AuthError('space_not_found')
      },
      createRights: async () => ({ rights: { of: () => 'ADMIN' }, adminTokens: null }),
      async start({ nouns, store }) {
        opened.firstAdmin = nouns
        opened.events = async () => [...(await store.audit.list({ limit: 50 }))]
      },
      topics: () => [],
      close: async () => {},
    },
    runtime,
  )
  onTestFinished(() => auth.close())
  await auth.ready()
  const fetch = createFetch(auth.handle, () => ({ status: 404, headers: {}, body: '' }))
  const client = () => createTestClient({ fetch }, { mailbox, clock: runtime.clock, next: () => Response.json({}) })
  const page = async (query: string) => {
    const answer = await fetch(new Request(`${origin}/auth/setup${query}`, { headers: { accept: 'text/html' } }))
    return { status: answer.status, text: await answer.text() }
  }
  return { runtime, key, path, client, page, fetch, secret: key.url.split('key=')[1] ?? '', events: opened.events }
}

test('the key is in a file with mode 0600, and the page with it makes the first administrator, who is signed in', async () => {
  const { path, key, secret, page, client, events } = await newHost()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(path, 'utf8')).toBe(`${key.url}\n`)
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect((await page(`?key=${secret}`)).text).toContain(`name="key" value="${secret}"`)

  const browser = client()
  const made = await browser.post('/auth/setup', { ...ada, key: secret, name: 'Ada' })
  expect(made).toMatchObject({ status: 201, body: { user: { email: ada.email, emailVerified: true, name: 'Ada' } } })
  expect((await browser.get('/auth/admin/api')).body).toMatchObject({ user: { right: 'ADMIN' } })
  expect(await events?.()).toContainEqual(
    expect.objectContaining({ event: 'account_created', detail: { admin: true, setup: true } }),
  )
  await expect(stat(path)).rejects.toThrow('ENOENT')
  expect((await page(`?key=${secret}`)).status).toBe(404)
  expect(await client().post('/auth/setup', { ...ada, key: secret })).toMatchObject({ status: 404 })
})

test('ATK-182 a wrong, an old and a dead key make nothing', async () => {
  const { runtime, key, secret, page, client } = await newHost()
  for (const wrong of ['x', secret.slice(1), `${secret}x`]) {
    expect((await page(`?key=${wrong}`)).text).not.toContain('<form')
    expect(await client().post('/auth/setup', { ...ada, key: wrong })).toMatchObject({
      status: 400,
      body: { code: 'invalid_token' },
    })
  }
  await runtime.clock.advance('1h')
  expect(key.accepts(secret)).toBe(false)
  expect(await client().post('/auth/setup', { ...ada, key: secret })).toMatchObject({ status: 400 })
})

test('ATK-182 of 20 parallel calls one makes an administrator', async () => {
  const { secret, client } = await newHost()
  const calls = Array.from({ length: 20 }, (_, index) =>
    client().post('/auth/setup', { ...ada, email: `ada${index}@example.com`, key: secret }),
  )
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(1)
  expect(statuses.filter((status) => status === 404 || status === 400)).toHaveLength(19)
})

test('a weak password is refused, keeps the key, and uses nothing up', async () => {
  const { secret, client, fetch } = await newHost()
  expect(await client().post('/auth/setup', { ...ada, password: 'short', key: secret })).toMatchObject({
    status: 422,
    body: { code: 'weak_password' },
  })
  const form = new URLSearchParams({ ...ada, password: 'short', key: secret })
  const sent = await fetch(
    new Request(`${origin}/auth/setup`, {
      method: 'POST',
      body: form,
      headers: { origin, 'sec-fetch-site': 'same-origin', accept: 'text/html' },
    }),
  )
  expect(sent.status).toBe(303)
  const back = sent.headers.get('location') ?? ''
  expect(back).toContain(`key=${secret}`)
  expect(await client().post('/auth/setup', { ...ada, key: secret })).toMatchObject({ status: 201 })
})
