import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { createTestRuntime, type TestClient } from '../../src/testing.js'
import { ada, type TestAuth, temporaryFolder, testAuth } from '../support/auth.js'
import { type RangeServer, sha1, startRangeServer } from '../support/range-server.js'

const breached = 'analytical engine 1843'
const refusal = { status: 422, body: { code: 'weak_password', reasons: ['breached'] } }
const thrown = { code: 'weak_password', details: { reasons: ['breached'] } }

interface Scene extends TestAuth {
  range: RangeServer
  browser: TestClient
  /** What `prepare` has left. */
  token?: string
}

async function setScene(overrides: Partial<LatchkeySettings> = {}): Promise<Scene> {
  const range = await startRangeServer({ [breached]: 7 })
  onTestFinished(() => range.close())
  const settings = { password: { checkBreached: range.url }, ...overrides }
  const world = await testAuth(settings, createTestRuntime({ fetch }))
  return { ...world, range, browser: world.client() }
}

const signedIn = (scene: Scene) => scene.browser.signUp(ada)

const ways: readonly {
  name: string
  prepare(scene: Scene): Promise<unknown>
  choose(scene: Scene, password: string): Promise<unknown>
  refused: object
}[] = [
  {
    name: 'registering',
    prepare: async () => {},
    choose: ({ browser }, password) => browser.post('/auth/register', { ...ada, password }),
    refused: refusal,
  },
  {
    name: 'resetting',
    async prepare(scene) {
      await signedIn(scene)
      await scene.browser.post('/auth/password/forgot', { email: ada.email })
      scene.token = scene.mailbox.token(await scene.mailbox.waitFor(ada.email, 'Choose a new password'))
    },
    choose: ({ browser, token }, password) => browser.post('/auth/password/reset', { token, password }),
    refused: refusal,
  },
  {
    name: 'changing',
    prepare: signedIn,
    choose: ({ browser }, newPassword) =>
      browser.post('/auth/password/change', { currentPassword: ada.password, newPassword }),
    refused: refusal,
  },
  {
    name: 'users.create',
    prepare: async () => {},
    choose: ({ auth }, password) => auth.users.create({ ...ada, password }).catch((error: unknown) => error),
    refused: thrown,
  },
  {
    name: 'users.setPassword',
    prepare: signedIn,
    async choose({ auth }, password) {
      const id = (await auth.users.findByEmail(ada.email))?.id ?? ''
      return auth.users.setPassword(id, password).catch((error: unknown) => error)
    },
    refused: thrown,
  },
]

describe.each(ways)('a new password by $name', ({ prepare, choose, refused }) => {
  it('is refused when a breach has made it known', async () => {
    const scene = await setScene()
    await prepare(scene)
    expect(await choose(scene, breached)).toMatchObject(refused)
    expect(scene.range.asked.at(-1)?.path).toBe(`/range/${sha1(breached).slice(0, 5)}`)
  })

  it('is not asked about when it breaks a rule of ours, or when the check is off', async () => {
    const scene = await setScene()
    await prepare(scene)
    scene.range.asked.length = 0
    for (const weak of ['short', 'password2024', 'x'.repeat(257), 'ada@example.test 1']) await choose(scene, weak)
    expect(scene.range.asked).toEqual([])

    const off = await setScene({ password: { checkBreached: false } })
    await prepare(off)
    expect(await choose(off, breached)).not.toMatchObject(refused)
    expect(off.range.asked).toEqual([])
  })
})

it('true asks the public API, and the settings of the test kit ask nobody', async () => {
  const asked: string[] = []
  const answering: typeof fetch = async (input) => {
    asked.push(String(input))
    return new Response(`${sha1(breached).slice(5)}:7`)
  }
  const kit = await testAuth({}, createTestRuntime({ fetch: answering }))
  expect(await kit.auth.users.create({ ...ada, password: breached })).toMatchObject({ email: ada.email })
  expect(asked).toEqual([])
  const { auth } = await testAuth({ password: { checkBreached: true } }, createTestRuntime({ fetch: answering }))
  await expect(auth.users.create({ ...ada, password: breached })).rejects.toMatchObject(thrown)
  expect(asked).toEqual([`https://api.pwnedpasswords.com/range/${sha1(breached).slice(0, 5)}`])
})

it('an outage is written down once and named in the log, without anything of the password, and slows nobody', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const logged: unknown[] = []
  const logger = { warn: (fields: object) => logged.push(fields), error: (fields: object) => logged.push(fields) }
  const { browser, range } = await setScene({ database: `sqlite:${file}`, logger })
  range.answer = (response) => response.writeHead(500).end()
  for (const name of ['ada', 'grace', 'edsger']) {
    const account = { email: `${name}@example.test`, password: breached }
    expect((await browser.post('/auth/register', account)).status).toBe(202)
  }
  expect(range.asked).toHaveLength(1)

  const database = new Database(file, { readonly: true })
  onTestFinished(() => void database.close())
  const rows = database.prepare("select * from latchkey_audit where event = 'breach_check_unavailable'").all()
  const facts = { outcome: 'failure', user_id: null, ip: null, detail: '{"reason":"bad_status"}' }
  expect(rows).toMatchObject([{ ...facts, actor: '{"kind":"system"}', actor_id: null }])
  expect(logged).toContainEqual({ event: 'breach_check_unavailable', reason: 'bad_status' })
  for (const secret of [breached, sha1(breached).slice(0, 5), range.url]) {
    expect(JSON.stringify([rows, logged])).not.toContain(secret)
  }
})
