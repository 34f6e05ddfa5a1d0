import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestClient, testSettings } from '../src/testing.js'
import { hostCodehooks } from './support/codehooks-host.js'
import { codeInMailbox, mainJob } from './support/journey.js'
import { createPersistentDatastore } from './support/persistent-datastore.js'
import { freePort, startProgram } from './support/program.js'
import { startSmtpServer } from './support/smtp-server.js'

// Starting programs takes a busy machine its time.
vi.setConfig({ testTimeout: 180_000 })

const examples = fileURLToPath(new URL('../examples', import.meta.url))
const secrets = ['JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET']
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-examples-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('every example starts on one screen: at most 40 lines', async () => {
  const names = await readdir(examples)
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) {
    const lines = (await readFile(join(examples, name, 'index.js'), 'utf8')).trimEnd().split('\n')
    expect(lines.length, name).toBeLessThanOrEqual(40)
  }
})

describe('express', () => {
  test('serves the main job, and after a restart again with the same secrets', async () => {
    const first = await run()
    const second = await run()
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(2)
  })

  test('keeps the secrets that it made to its owner', async () => {
    for (const name of secrets) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  })

  async function run(): Promise<string[]> {
    const port = await freePort()
    const env = { PORT: String(port), DATA_FOLDER: folder }
    const program = startProgram('node', ['express/index.js'], { cwd: examples, env })
    try {
      await program.printed(/Open http/)
      await mainJob(program, `http://localhost:${port}`, '/api/notes')
    } finally {
      await program.stop()
    }
    return Promise.all(secrets.map((name) => readFile(join(folder, name), 'utf8')))
  }
})

test.each(['fastify', 'hono', 'node'])('%s: serves the main job', async (name) => {
  const port = await freePort()
  const { JWT_ACCESS_TOKEN_SECRET = '', JWT_REFRESH_TOKEN_SECRET = '' } = ownSecrets()
  const database = { DATABASE_URL: `sqlite:${folder}/${name}.db` }
  const env = { PORT: String(port), JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, ...database }
  const program = startProgram('node', [`${name}/index.js`], { cwd: examples, env })
  onTestFinished(() => program.stop())
  await program.printed(/Open http/)
  await mainJob(program, `http://localhost:${port}`, '/api/notes')
})

function ownSecrets(): Readonly<Record<string, string>> {
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
  return {
    JWT_ACCESS_TOKEN_SECRET: String(JWT_ACCESS_TOKEN_SECRET),
    JWT_REFRESH_TOKEN_SECRET: String(JWT_REFRESH_TOKEN_SECRET),
  }
}

test('templates: one page, one mail and one text are the owner’s, all else is ours', async () => {
  const port = await freePort()
  const program = startProgram('node', ['templates/index.js'], { cwd: examples, env: { PORT: String(port) } })
  try {
    const [mailbox] = await program.printed(/http:\S+\/dev\/mailbox\?key=[\w-]+/)
    await program.printed(/Open http/)
    await mainJob(program, `http://localhost:${port}`, '/api/hello')
    const forgot = await fetch(`http://localhost:${port}/auth/forgot`).then((answer) => answer.text())
    expect(forgot).toContain('<h1>Locked out of your notes?</h1>')
    const mails = await fetch(mailbox).then((answer) => answer.text())
    expect(mails).toContain('<h2>One more click for Notes</h2>')
    expect(mails).toContain('Open my notebook')
    expect(mails).toContain('Notes, the notebook that nobody else reads.')
    expect(mails).toContain('Confirm that this is your email address:')
  } finally {
    await program.stop()
  }
})

test('spa: a page of another site signs up and calls the API, and no other page does', async () => {
  const [pagePort, apiPort] = [await freePort(), await freePort()]
  const [page, api] = [`http://localhost:${pagePort}`, `http://127.0.0.1:${apiPort}`]
  const env = { PAGE_PORT: String(pagePort), API_PORT: String(apiPort), DATA_FOLDER: folder }
  const program = startProgram('node', ['spa/index.js'], { cwd: examples, env })
  onTestFinished(() => program.stop())
  await program.printed(/Open http/)
  for (const path of ['/', '/app.js', '/latchkey/client.js', '/settings.js']) {
    expect((await fetch(page + path)).status, path).toBe(200)
  }

  const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
  const client = createTestClient(api, { headers: { origin: page, 'sec-fetch-site': 'cross-site' } })
  expect((await client.post('/auth/register', account)).status).toBe(202)
  const code = await codeInMailbox(program, account.email)
  const confirmed = await client.post('/auth/verify-email', { ...account, code })
  expect(confirmed.status).toBe(200)
  const lines = confirmed.headers.getSetCookie()
  expect(lines.filter((line) => !/; Secure; Partitioned; SameSite=None$/i.test(line))).toEqual([])

  // The jar of the client takes no Secure cookie over http, as Chromium does on loopback.
  const cookie = lines.map((line) => line.split(';')[0]).join('; ')
  const answer = await client.get('/api/hello', { headers: { cookie } })
  expect(answer.body).toEqual({ hello: account.email })
  expect(answer.headers.get('access-control-allow-origin')).toBe(page)
  const elsewhere = await client.get('/api/hello', { headers: { cookie, origin: 'http://localhost:1' } })
  expect([elsewhere.status, elsewhere.headers.get('access-control-allow-origin')]).toEqual([403, null])
})

test('codehooks: a database API under /api that only signed-in users reach', async () => {
  const smtp = await startSmtpServer()
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
  const baseUrl = 'http://localhost:3000'
  Object.assign(process.env, {
    JWT_ACCESS_TOKEN_SECRET,
    JWT_REFRESH_TOKEN_SECRET,
    BASE_URL: baseUrl,
    MAIL_URL: smtp.url,
  })
  // The platform's own name for its database; it must be there before codehooks-js is loaded.
  const datastore = createPersistentDatastore({ file: join(folder, 'datastore.db') })
  Object.assign(globalThis, { DB: datastore })
  const { default: manifest } = await import('../examples/codehooks/index.js')
  const host = await hostCodehooks(manifest, { space: null })
  onTestFinished(() => Promise.all([host.close(), smtp.close()]).then(() => {}))

  const client = createTestClient(`http://127.0.0.1:${host.port}`, { headers: { origin: baseUrl } })
  const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
  expect((await client.get('/api/notes')).status).toBe(401)
  expect((await client.post('/auth/register', account)).status).toBe(202)
  await expect.poll(() => smtp.mails.length).toBe(1)
  const [, token] = smtp.mails[0]?.text?.match(/token=([\w.-]+)/) ?? []
  expect((await client.post('/auth/verify-email', { token })).status).toBe(200)

  expect((await client.post('/api/notes', { text: 'Feed the cat' })).status).toBe(201)
  expect((await client.get('/api/notes')).body).toMatchObject([{ text: 'Feed the cat' }])
  expect((await client.refresh()).status).toBe(200)
  expect((await client.signOut()).status).toBe(204)
  expect((await client.post('/api/notes', { text: 'Too late' })).status).toBe(401)
  expect(host.faults).toEqual([])
})
