import { expect, onTestFinished, test, vi } from 'vitest'
import { createAuth, init } from '../../../src/index.js'
import {
  createTestClient,
  createTestMailbox,
  createTestRuntime,
  type TestClient,
  type TestMailbox,
  testSettings,
} from '../../../src/testing.js'
import { hostCodehooks, loadCodehooks, type Manifest } from '../../support/codehooks-host.js'
import { createDatastoreBed } from '../../support/datastores.js'
import { createPersistentDatastore } from '../../support/persistent-datastore.js'

const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
const secrets = { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET }

/** A codehooks app whose accounts and collections are in one Datastore. */
async function startApp(
  file: string,
  { walls = {}, settings = {} }: { walls?: Partial<Manifest>; settings?: Parameters<typeof testSettings>[0] } = {},
) {
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const datastore = createPersistentDatastore({ file })
  const { app } = await loadCodehooks(await datastore.open())
  await app.crudlify({}, { prefix: '/api' })
  const said: unknown[] = []
  const mailbox = createTestMailbox()
  const logger = { warn: (fields: unknown) => said.push(fields), error: (fields: unknown) => said.push(fields) }
  const auth = init(
    app,
    testSettings({ ...secrets, database: datastore, mailbox, logger, ...settings }),
    createTestRuntime(),
  )
  await auth.ready()
  const host = await hostCodehooks({ ...app.init(), ...walls }, { space: null })
  async function close(): Promise<void> {
    await host.close()
    await auth.close()
    datastore.close()
  }
  onTestFinished(close)
  const client = () =>
    createTestClient(`http://127.0.0.1:${host.port}`, { headers: { origin: 'http://localhost:3000' }, mailbox })
  return { said, faults: host.faults, mailbox, client, close }
}

async function bedFile(): Promise<string> {
  const bed = await createDatastoreBed()
  onTestFinished(bed.close)
  return bed.file
}

async function register(client: TestClient, mailbox: TestMailbox): Promise<void> {
  expect((await client.post('/auth/register', account)).status).toBe(202)
  const token = mailbox.token(await mailbox.waitFor(account.email))
  expect((await client.post('/auth/verify-email', { token })).status).toBe(200)
}

test('an app on its Datastore: register, confirm, sign in, refresh, sign out, and start again', {
  timeout: 60_000,
}, async () => {
  const file = await bedFile()
  const first = await startApp(file)
  const client = first.client()
  expect((await client.get('/api/notes')).status).toBe(401)
  await register(client, first.mailbox)
  expect((await client.post('/api/notes', { text: 'Feed the cat' })).status).toBe(201)
  expect((await client.refresh()).status).toBe(200)
  expect((await client.get('/api/notes')).body).toMatchObject([{ text: 'Feed the cat' }])
  expect((await client.signOut()).status).toBe(204)
  expect((await client.get('/api/notes')).status).toBe(401)
  expect((await client.post('/auth/login', { ...account, password: 'wrong password' })).status).toBe(401)
  expect((await client.post('/auth/login', account)).status).toBe(200)
  expect(first.said).toContainEqual({ event: 'datastore_limits', manyProcesses: true })
  expect(first.faults).toEqual([])
  await first.close()

  const second = await startApp(file)
  const again = second.client()
  expect((await again.post('/auth/login', account)).status).toBe(200)
  expect((await again.get('/api/notes')).body).toMatchObject([{ text: 'Feed the cat' }])
  const { sessions } = (await again.get<{ sessions: { current: boolean }[] }>('/auth/sessions')).body
  expect(sessions.map(({ current }) => current).sort()).toEqual([false, true])
})

test('what ends in one process ends in another within a second', { timeout: 60_000 }, async () => {
  const file = await bedFile()
  const { client, mailbox } = await startApp(file)
  const datastore = createPersistentDatastore({ file })
  const runtime = createTestRuntime()
  const other = createAuth(
    testSettings({ ...secrets, database: datastore, logger: { warn() {}, error() {} } }),
    runtime,
  )
  await other.ready()
  onTestFinished(async () => {
    await other.close()
    datastore.close()
  })
  const here = client()
  await register(here, mailbox)
  const cookie = here.cookies.header(new URL('http://127.0.0.1/api')) ?? ''
  const ask = async () => {
    const request = new Request('http://localhost:3000/api/x', { headers: { cookie } })
    return (await other.fetch(request, { ip: '127.0.0.1', next: () => new Response('in') })).status
  }
  expect(await ask()).toBe(200)
  expect((await here.signOut()).status).toBe(204)
  await runtime.clock.advance(500)
  await expect.poll(ask).toBe(401)
})

test('crudlify with an empty schema offers every collection but those of accounts', {
  timeout: 60_000,
}, async () => {
  // Without the gate, which refuses some of these addresses by itself.
  const open = { authhooks: { '/*': [(_req: unknown, _res: unknown, next: () => void) => next()] } }
  const { client, mailbox, faults } = await startApp(await bedFile(), { walls: open })
  const visitor = client()
  await register(visitor, mailbox)
  const ours = 'latchkey_users'
  for (const path of [
    `/api/${ours}`,
    '/api/LATCHKEY_users',
    '/api/%6catchkey_users',
    '/api/%256Catchkey_users',
    '/api/latchkey%5Fusers',
    '/api/%2flatchkey_users',
    `/api/${ours}/x`,
    `/api/${ours}?email=x`,
    `/api/${ours}/_byquery`,
    '/api/latchkey_sessions/',
  ]) {
    for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
      const { status, text } = method === 'get' ? await visitor.get(path) : await visitor[method](path, { roles: '[]' })
      expect({ method, path, status }).toEqual({ method, path, status: 404 })
      expect(text).not.toContain(account.email)
    }
  }
  expect((await visitor.post('/api/notes', { text: 'latchkey_users' })).status).toBe(201)
  expect(faults).toEqual([])
})

test('other sites find out at the app that they may use its passkeys', async () => {
  const origins = ['http://localhost:3000', 'https://example.test']
  const { client, faults } = await startApp(await bedFile(), { settings: { passkeys: { origins } } })
  const answer = await client().get('/.well-known/webauthn')
  expect(answer).toMatchObject({ status: 200, body: { origins: ['https://example.test'] } })
  expect((await client().get('/.well-known/passkey-endpoints')).status).toBe(200)
  expect(faults).toEqual([])
})
