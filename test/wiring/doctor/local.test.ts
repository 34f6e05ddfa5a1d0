import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createAuth } from '../../../src/index.js'
import { doctorProofHeader } from '../../../src/model/doctor/proof.js'
import { createTestRuntime, testSettings } from '../../../src/testing.js'
import { examineLocally } from '../../../src/wiring/doctor/local.js'
import { temporaryFolder } from '../../support/auth.js'
import { findingsOf } from '../../support/doctor.js'

const file = () => join(temporaryFolder(), 'latchkey.db')

test('each wrong setting is a finding with the sentence of init, and every other check is skipped', async () => {
  const input = { ...testSettings(), sessionLifetme: '1h', baseUrl: 'ftp://app.example' }
  const runtime = createTestRuntime()
  const { report, target } = await examineLocally(input, { runtime })
  const findings = findingsOf(report.checks)
  expect(findings).toMatchObject([
    { code: 'settings_fault', level: 'error', finding: expect.stringMatching(/^baseUrl: /) },
    { code: 'settings_fault', finding: expect.stringMatching(/^sessionLifetme: /) },
  ])
  let told = ''
  try {
    createAuth(input, runtime)
  } catch (error) {
    told = String(error)
  }
  for (const { finding } of findings) expect(told).toContain(finding)
  expect(report.checks.filter(({ ok, skipped }) => ok && skipped === null)).toEqual([])
  expect(target).toEqual({ skipped: 'The settings are wrong.' })
})

test('a database file that does not exist is found, and is not made', async () => {
  const path = file()
  const settings = testSettings({ database: `sqlite:${path}` })
  const { report } = await examineLocally(settings, { runtime: createTestRuntime() })
  expect(findingsOf(report.checks)).toMatchObject([
    { code: 'schema_behind', finding: expect.stringMatching(/^The tables do not exist yet\. To run: 0001/) },
  ])
  expect(existsSync(path)).toBe(false)
})

test('tables that are older are found, and are not migrated', async () => {
  const path = file()
  const settings = testSettings({ database: `sqlite:${path}` })
  const auth = createAuth(settings, createTestRuntime())
  await auth.ready()
  await auth.close()
  const database = new Database(path)
  database.prepare('delete from latchkey_migrations where name = (select max(name) from latchkey_migrations)').run()
  const before = database.prepare('select count(*) as n from latchkey_migrations').get()

  const { report } = await examineLocally(settings, { runtime: createTestRuntime() })
  expect(findingsOf(report.checks)).toMatchObject([{ code: 'schema_behind', cure: 'Run `latchkey migrate`.' }])
  expect(report.checks.find(({ code }) => code === 'mail_backlog')?.skipped).toContain('cannot be opened')
  expect(database.prepare('select count(*) as n from latchkey_migrations').get()).toEqual(before)
  database.close()
})

test('a tool that can ask the application makes a fresh proof for each request', async () => {
  const runtime = createTestRuntime()
  const settings = testSettings({
    baseUrl: 'https://app.example/base',
    mail: { from: 'a@app.example', transport: 'smtp://127.0.0.1:9' },
    admin: { emails: ['ann@app.example'] },
    database: `sqlite:${file()}`,
  })
  const { target } = await examineLocally(settings, { runtime })
  if (!('auth' in target)) throw new Error(target.skipped)
  expect(target).toMatchObject({ auth: 'https://app.example/base/auth', installationId: null })
  const first = target.credential()[doctorProofHeader]
  expect(first).toMatch(/^1767225600\.[\w-]{8}\.[\w-]{43}$/)
  await runtime.clock.advance('1s')
  expect(target.credential()[doctorProofHeader]).not.toBe(first)
})

test('without a control API the network is not examined', async () => {
  const { target } = await examineLocally(testSettings(), { runtime: createTestRuntime() })
  expect(target).toEqual({ skipped: 'The control API is off: admin.emails is empty.' })
})
