import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { TestAnswer } from '../../src/testing.js'
import { temporaryFolder } from '../support/auth.js'
import {
  codeOf,
  createFleet,
  type Fleet,
  password,
  type ServerOptions,
  type ServerProcess,
  signUp,
} from '../support/process-server.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

const ada = 'ada@example.test'

interface Scene {
  server: ServerProcess
  fleet: Fleet
  smtp: TestSmtpServer
  file: string
}

async function startServer(options: Partial<ServerOptions> = {}): Promise<Scene> {
  const smtp = await startSmtpServer()
  onTestFinished(() => smtp.close())
  const fleet = createFleet()
  const file = options.file ?? join(temporaryFolder(), 'latchkey.db')
  return { server: await fleet.start({ smtp: smtp.url, ...options, file }), fleet, smtp, file }
}

/** Another program that has locked the file and does not let go. */
function lock(file: string): () => void {
  const database = new Database(file)
  database.exec('begin exclusive')
  return () => database.close()
}

function expectUnavailable(answer: TestAnswer): void {
  expect([answer.status, codeOf(answer)]).toEqual([503, 'store_unavailable'])
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

test('ATK-076 a file that another program has locked costs whoever writes a 503, and nobody else anything', async () => {
  const { server, smtp, file } = await startServer()
  const browser = await signUp(server, smtp, ada)
  const visitor = server.client()
  const unlock = lock(file)

  let pings = 0
  let waiting = true
  const writing = Promise.all([
    visitor.post('/auth/login', { email: ada, password }),
    visitor.post('/auth/register', { email: 'grace@example.test', password }),
    browser.refresh(),
    ...Array.from({ length: 20 }, () => server.client(browser).post('/auth/logout')),
  ]).finally(() => {
    waiting = false
  })
  while (waiting) {
    expect((await server.client().get('/ping')).text).toBe('pong')
    expect((await browser.get('/api/me')).status).toBe(200)
    pings += 1
  }
  for (const answer of await writing) expectUnavailable(answer)
  // They waited for two seconds; each ping that had to wait for one of them would make this one or two for each of them.
  expect(pings).toBeGreaterThan(30)

  unlock()
  expect((await visitor.post('/auth/login', { email: ada, password })).status).toBe(200)
  expect((await browser.refresh()).status).toBe(200)
  expect((await browser.signOut()).status).toBe(204)
  expect((await browser.get('/api/me')).status).toBe(401)
})

test('a process that starts while another program has locked its file waits for it, and its visitors with it', async () => {
  const { server: first, fleet, smtp, file } = await startServer()
  const browser = await signUp(first, smtp, ada)
  await first.kill()

  const unlock = lock(file)
  const server = await fleet.start({ file })
  const visitor = server.client(browser)
  let answered = 0
  const asked = ['/api/me', '/auth/me'].map((path) =>
    visitor.get(path).finally(() => {
      answered += 1
    }),
  )
  for (let ping = 0; ping < 20; ping += 1) expect((await server.client().get('/ping')).status).toBe(200)
  expect(answered).toBe(0)

  unlock()
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200)
})

test('ATK-076 a store that is gone is felt by guarded requests once the news is too old, and by nobody when it is back', async () => {
  const { server, smtp } = await startServer({ breakable: true, settings: { revocation: { staleness: '6s' } } })
  const browser = await signUp(server, smtp, ada)
  expect((await browser.get('/api/me')).status).toBe(200)

  await server.client().post('/control/store?down=true')
  expect((await browser.get('/api/me')).status).toBe(200)
  expectUnavailable(await server.client().post('/auth/login', { email: ada, password }))
  await expect.poll(() => browser.get('/api/me').then(({ status }) => status), { timeout: 20_000 }).toBe(503)
  expectUnavailable(await browser.get('/api/me'))
  expectUnavailable(await browser.refresh())
  expect((await server.client().get('/ping')).status).toBe(200)
  expect(server.logged('change_feed')).toHaveLength(1)

  await server.client().post('/control/store?down=false')
  expect((await browser.get('/api/me')).status).toBe(200)
  expect((await browser.refresh()).status).toBe(200)
  expect(server.logged('change_feed')).toHaveLength(2)
})

test('a store that cannot be opened says why, is 503 to visitors, and is opened when its folder appears', async () => {
  const file = join(temporaryFolder(), 'not-yet', 'latchkey.db')
  const { server, smtp } = await startServer({ file })
  const ready = await server.client().get('/control/ready')
  expect([ready.status, ready.text]).toEqual([500, `database: the folder ${dirname(file)} does not exist. Create it.`])

  expectUnavailable(await server.client().post('/auth/login', { email: ada, password }))
  expectUnavailable(await server.client().get('/api/me'))
  expectUnavailable(await server.client().get('/auth/me'))
  expect((await server.client().get('/ping')).status).toBe(200)
  expect(server.logged('store_unavailable')[0]).toMatchObject({ error: ready.text })

  mkdirSync(dirname(file))
  await expect
    .poll(
      () =>
        server
          .client()
          .get('/api/me')
          .then(({ status }) => status),
      { timeout: 10_000 },
    )
    .toBe(401)
  const browser = await signUp(server, smtp, ada)
  expect((await browser.get('/api/me')).body).toMatchObject({ kind: 'session', email: ada })
  expect((await server.client().get('/control/ready')).status).toBe(204)
})
