import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseHostSettings } from '../src/host/settings/host-settings.js'
import { createTestClient, type TestClient, testSettings } from '../src/testing.js'
import { applicationFolder, projectFaults, withoutTypes, writeFiles } from './support/application-folder.js'
import { hostCodehooks } from './support/codehooks-host.js'
import { codeAt, codeInMailbox, mainJob, mainJobAt } from './support/journey.js'
import { createPersistentDatastore } from './support/persistent-datastore.js'
import { freePort, startProgram } from './support/program.js'
import { codesBelow } from './support/readme.js'
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

const starts: Readonly<Record<string, string>> = { typescript: 'index.ts', nextjs: 'app/page.tsx' }
const startOf = (name: string) => starts[name] ?? 'index.js'
const names = readdirSync(examples).filter((name) => name !== 'README.md')

test('every example starts on one screen: at most 40 lines', async () => {
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) {
    const lines = (await readFile(join(examples, name, startOf(name)), 'utf8')).trimEnd().split('\n')
    expect(lines.length, name).toBeLessThanOrEqual(40)
  }
})

test('the index names every example', async () => {
  const index = await readFile(join(examples, 'README.md'), 'utf8')
  expect(names.filter((name) => !index.includes(`(${name}/${startOf(name)})`))).toEqual([])
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

  test('shows tokens and audit log to their own user only, and to no API token', async () => {
    const port = await freePort()
    const env = { PORT: String(port), DATA_FOLDER: folder }
    const program = startProgram('node', ['express/index.js'], { cwd: examples, env })
    onTestFinished(() => program.stop())
    await program.printed(/Open http/)
    const baseUrl = `http://localhost:${port}`
    const signUp = async (email: string) => {
      const client = createTestClient(baseUrl)
      await client.post('/auth/register', { email, password: 'a difference engine of brass' })
      const code = await codeAt(`${baseUrl}/mailbox`, email)
      expect((await client.post('/auth/verify-email', { email, code })).status).toBe(200)
      return client
    }
    const [ada, grace] = [await signUp('ada@example.com'), await signUp('grace@example.com')]
    const created = await ada.post<{ id: string; token: string }>('/api/tour/tokens', {
      name: 'report',
      access: 'READ',
    })
    const { id, token } = created.body
    const events = async (client: TestClient) =>
      (await client.get<{ event: string }[]>('/api/tour/audit')).body.map(({ event }) => event)
    expect(await events(ada)).toContain('api_token_created')
    expect(await events(grace)).toEqual(['login', 'account_created'])
    expect((await grace.get('/api/tour/tokens')).body).toEqual([])
    expect((await grace.delete(`/api/tour/tokens/${id}`)).status).toBe(404)

    const script = (path: string, method = 'GET') =>
      fetch(baseUrl + path, { method, headers: { 'x-apikey': token } }).then(({ status }) => status)
    expect([await script('/api/notes'), await script('/api/notes', 'POST')]).toEqual([200, 403])
    for (const path of ['/api/tour/tokens', '/api/tour/audit']) expect(await script(path), path).toBe(403)
    expect((await ada.delete(`/api/tour/tokens/${id}`)).status).toBe(204)
    expect(await script('/api/notes')).toBe(401)
    expect((await createTestClient(baseUrl).get('/api/tour/audit')).status).toBe(401)
  })

  async function run(): Promise<string[]> {
    const port = await freePort()
    const env = { PORT: String(port), DATA_FOLDER: folder }
    const program = startProgram('node', ['express/index.js'], { cwd: examples, env })
    try {
      await program.printed(/Open http/)
      const baseUrl = `http://localhost:${port}`
      await mainJobAt({ baseUrl, guarded: '/api/notes', mailboxUrl: `${baseUrl}/mailbox` })
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

test('roles: the first admin gives roles, editors write, and everyone else reads', async () => {
  const port = await freePort()
  const env = { PORT: String(port), FIRST_ADMIN: 'ada@example.com' }
  const program = startProgram('node', ['roles/index.js'], { cwd: examples, env })
  onTestFinished(() => program.stop())
  await program.printed(/Open http/)
  const signUp = async (email: string) => {
    const client = createTestClient(`http://localhost:${port}`)
    await client.post('/auth/register', { email, password: 'a difference engine of brass' })
    const confirmed = await client.post('/auth/verify-email', { email, code: await codeInMailbox(program, email) })
    expect(confirmed.status).toBe(200)
    return client
  }

  const grace = await signUp('grace@example.com')
  expect((await grace.get('/api/notices')).body).toEqual([])
  expect((await grace.post('/api/notices', { text: 'Too early' })).status).toBe(403)
  expect((await grace.get('/api/users')).status).toBe(403)

  const ada = await signUp('ada@example.com')
  const { items } = (await ada.get<{ items: { id: string; email: string }[] }>('/api/users')).body
  const { id } = items.find(({ email }) => email === 'grace@example.com') ?? { id: '' }
  const updated = await ada.put(`/api/users/${id}/roles`, ['EDITOR'])
  expect(updated).toMatchObject({ status: 200, body: { email: 'grace@example.com', roles: ['EDITOR'] } })

  expect((await grace.get('/api/notices')).body).toMatchObject({ code: 'token_expired' })
  await grace.refresh()
  const notice = { text: 'The compiler works', by: 'grace@example.com' }
  expect(await grace.post('/api/notices', notice)).toMatchObject({ status: 201, body: notice })
  expect((await grace.get('/api/users')).status).toBe(403)
})

test('typescript: compiles under its own strict settings, and serves the main job', async () => {
  expect(projectFaults(join(examples, 'typescript'))).toEqual([])

  const application = await applicationFolder('express', 'zod')
  const code = await readFile(join(examples, 'typescript/index.ts'), 'utf8')
  await writeFiles(application, { 'index.js': withoutTypes(code) })
  const port = await freePort()
  const program = startProgram('node', ['index.js'], { cwd: application, env: { PORT: String(port) } })
  onTestFinished(() => program.stop())
  await program.printed(/Open http/)
  await mainJob(program, `http://localhost:${port}`, '/api/team')
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

test('host: the page on operation quotes nginx.conf, and the settings are sound', async () => {
  const page = fileURLToPath(new URL('../docs/host/operation.md', import.meta.url))
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => line.trim())
  const conf = lines(await readFile(join(examples, 'host/nginx.conf'), 'utf8'))
  expect(
    codesBelow(page, 'Behind nginx', 'nginx')
      .flatMap(lines)
      .filter((line) => !conf.includes(line)),
  ).toEqual([])
  const settings = parseHostSettings(JSON.parse(await readFile(join(examples, 'host/latchkey.host.json'), 'utf8')))
  expect(settings.trustedProxies).toEqual({ kind: 'cidrs', cidrs: ['unix'] })
})

describe('behind-nginx', () => {
  const account = { email: 'ada@example.com', password: 'a difference engine of brass' }
  const baseUrl = 'https://notes.example'
  const chain = '198.51.100.1, 192.0.2.9' // the client's own text, then what nginx saw

  test('serves a client that a trusted proxy names, with secure cookies and mails over SMTP', async () => {
    const smtp = await startSmtpServer()
    onTestFinished(() => smtp.close())
    const client = await start({ MAIL_URL: smtp.url, TRUSTED_PROXIES: '127.0.0.1' })
    expect((await client.get('/health')).body).toMatchObject({ status: 'ok' })
    expect((await client.get('/api/notes')).status).toBe(401)

    expect((await client.post('/auth/register', account)).status).toBe(202)
    await expect.poll(() => smtp.mails.length).toBe(1)
    const [, token] = smtp.mails[0]?.text?.match(/https:\/\/notes\.example\/auth\/verify-email\?token=([\w.-]+)/) ?? []
    const confirmed = await client.post('/auth/verify-email', { token, password: account.password })
    expect(confirmed.status).toBe(200)
    expect(confirmed.headers.get('strict-transport-security')).toBe('max-age=31536000')
    const lines = confirmed.headers.getSetCookie()
    expect(lines.filter((line) => !/^__(?:Host|Secure)-.*; Secure/.test(line))).toEqual([])
    expect(await addressesOf(client, cookiesOf(lines))).toEqual(['192.0.2.9', '192.0.2.9'])
  })

  test('takes every client for the proxy where no proxy is trusted', async () => {
    const client = await start({ MAIL_URL: 'smtp://127.0.0.1:9' })
    const signedIn = await client.post('/auth/login', account)
    expect(signedIn.status).toBe(200)
    expect(await addressesOf(client, cookiesOf(signedIn.headers.getSetCookie()))).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  test('the page on nginx quotes nginx.conf', async () => {
    const page = fileURLToPath(new URL('../docs/deploy/nginx.md', import.meta.url))
    const conf = (await readFile(join(examples, 'behind-nginx/nginx.conf'), 'utf8'))
      .split('\n')
      .map((line) => line.trim())
    const quoted = ['nginx', 'Access log', 'WebSockets'].flatMap((heading) => codesBelow(page, heading, 'nginx'))
    expect(quoted).toHaveLength(3)
    const said = quoted.flatMap((code) => code.trim().split('\n')).map((line) => line.trim())
    expect(said.filter((line) => !conf.includes(line))).toEqual([])
  })

  async function start(settings: Readonly<Record<string, string>>): Promise<TestClient> {
    const port = await freePort()
    const place = { BASE_URL: baseUrl, PORT: String(port), DATABASE_URL: `sqlite:${folder}/behind-nginx.db` }
    const env = { ...ownSecrets(), ...place, ...settings }
    const noNetwork = new URL('support/no-network.js', import.meta.url).href
    const program = startProgram('node', ['--import', noNetwork, 'behind-nginx/index.js'], { cwd: examples, env })
    onTestFinished(() => program.stop())
    await program.printed(/Listening on/)
    return createTestClient(`http://127.0.0.1:${port}`, { headers: { origin: baseUrl, 'x-forwarded-for': chain } })
  }

  /** The jar of the client takes no Secure cookie over http; nginx would have passed it on. */
  function cookiesOf(lines: readonly string[]): string {
    return lines.map((line) => line.split(';')[0]).join('; ')
  }

  /** The client's address as the application sees it, and as the list of sessions shows it. */
  async function addressesOf(client: TestClient, cookie: string): Promise<unknown[]> {
    const note = await client.post<{ from: string }>('/api/notes', { text: 'Feed the cat' }, { headers: { cookie } })
    const { body } = await client.get<{ sessions: { ip: string; current: boolean }[] }>('/auth/sessions', {
      headers: { cookie },
    })
    return [note.body.from, body.sessions.find(({ current }) => current)?.ip]
  }
})
