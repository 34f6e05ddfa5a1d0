import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { examineHere } from '../../src/cli/doctor/examine.js'
import { init, type LatchkeySettings } from '../../src/index.js'
import { createRandom } from '../../src/lib/random.js'
import { createTestClient } from '../../src/testing.js'
import { temporaryFolder } from '../support/auth.js'
import { findingsOf } from '../support/doctor.js'
import { freePort } from '../support/program.js'
import { openDesk } from '../support/tool.js'

const ann = { email: 'ann@acme.example', password: 'correct horse battery' }

/** A running application with a mail server that is not there, and its settings. */
async function startApplication() {
  const baseUrl = `http://localhost:${await freePort()}`
  const settings: LatchkeySettings = {
    JWT_ACCESS_TOKEN_SECRET: createRandom().token(),
    JWT_REFRESH_TOKEN_SECRET: createRandom().token(),
    baseUrl,
    database: `sqlite:${join(temporaryFolder(), 'latchkey.db')}`,
    mail: { from: 'Acme <hello@acme.example>', transport: 'smtp://127.0.0.1:1' },
    password: { checkBreached: false },
    admin: { emails: [ann.email] },
    logger: { warn: () => {}, error: () => {} },
  }
  const server = createServer((_request, response) => void response.writeHead(404).end())
  const auth = init(server, settings)
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await auth.close()
  })
  await auth.users.create({ ...ann, emailVerified: true })
  await new Promise<void>((resolve) => server.listen(Number(new URL(baseUrl).port), resolve))
  return { baseUrl, settings, auth }
}

/** A person at a machine who has signed in with the tool. */
async function signedIn(baseUrl: string) {
  const desk = await openDesk()
  const client = createTestClient(baseUrl, { as: 'server', headers: { 'x-auth-mode': 'token' } })
  const { body } = await client.post<Record<string, string>>('/auth/login', ann)
  const { accessToken = '', accessTokenExpiresAt = '', refreshToken = '' } = body
  await desk.signIn(`${baseUrl}/auth/admin/api`, { email: ann.email, accessToken, accessTokenExpiresAt, refreshToken })
  return (args: readonly string[]) => desk.run(['--url', baseUrl, ...args])
}

test('doctor prints each finding with cause and cure, the skipped checks with their reason, and is exit 6', async () => {
  const { baseUrl } = await startApplication()
  const { code, stdout, stderr } = await (await signedIn(baseUrl))(['doctor'])
  expect(stdout).toMatch(/^LEVEL +CHECK +FINDING\n/)
  expect(stdout).toMatch(/^error +smtp_refused +The mail server cannot be used: connection failed\.$/m)
  expect(stdout).toMatch(/^ +Cause: The mail server cannot be used: connection, EHLO, STARTTLS or AUTH fails\.$/m)
  expect(stdout).toMatch(/^ +Cure: Check host, port, user and password of `mail\.transport`\.$/m)
  expect(stdout).toMatch(/^skipped +mail_dkim +The mail transport names no DKIM selector\.$/m)
  expect(stderr).toMatch(/^\d+ checks, \d findings?, \d+ skipped\.\n.*doctor has \d findings?\.\n$/)
  expect(code).toBe(6)
}, 30_000)

test('doctor --json prints the whole report, of the server and of the network', async () => {
  const { baseUrl } = await startApplication()
  const { code, stdout, stderr } = await (await signedIn(baseUrl))(['doctor', '--json'])
  const { checkedAt, checks } = JSON.parse(stdout)
  expect(Date.parse(checkedAt)).toBeGreaterThan(0)
  expect(checks).toContainEqual(expect.objectContaining({ code: 'smtp_refused', ok: false, level: 'error' }))
  expect(checks).toContainEqual(expect.objectContaining({ code: 'cookie_altered', ok: true, skipped: null }))
  expect(JSON.parse(stderr)).toMatchObject({ code: 'findings', exitCode: 6 })
  expect(code).toBe(6)
}, 30_000)

test('doctor goes on where the allow-list excludes the tool, and says so', async () => {
  const { baseUrl, auth } = await startApplication()
  const latchkey = await signedIn(baseUrl)
  await auth.access.allow('203.0.113.7')
  const { code, stdout } = await latchkey(['doctor'])
  expect(stdout).toMatch(/^warn +allow_list_self +The application refuses requests from your address\.$/m)
  expect(code).toBe(6)
}, 30_000)

test('without a sign-in doctor is exit 3', async () => {
  const desk = await openDesk()
  const { code, stdout } = await desk.run(['--url', 'https://api.example.org', 'doctor'])
  expect([code, stdout]).toEqual([3, ''])
}, 30_000)

test('the examination on the machine of the application reaches it by a proof', async () => {
  const { settings } = await startApplication()
  const { checks } = await examineHere({ home: 'application', input: settings, topics: [] })
  expect(findingsOf(checks).map(({ code }) => code)).toContain('smtp_refused')
  expect(checks).toContainEqual(expect.objectContaining({ code: 'base_url_mismatch', ok: true, skipped: null }))
  expect(checks).toContainEqual(expect.objectContaining({ code: 'page_unreachable', ok: true, skipped: null }))
})

test('wrong settings are findings, and the network is not asked', async () => {
  const { checks } = await examineHere({ home: 'application', input: { baseUrl: 'http://127.0.0.1:1' }, topics: [] })
  expect(new Set(findingsOf(checks).map(({ code }) => code))).toEqual(new Set(['settings_fault']))
  expect(checks).toContainEqual(
    expect.objectContaining({ code: 'cookie_altered', ok: true, skipped: 'The settings are wrong.' }),
  )
})
