import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../support/auth.js'
import { diagnosed } from '../../support/doctor.js'
import { startRangeServer } from '../../support/range-server.js'

test('a range API that answers is fine; it is asked for one range of no password', async () => {
  const server = await startRangeServer()
  onTestFinished(() => server.close())
  const settings = { password: { checkBreached: server.url } }
  expect(await diagnosed('breach_check_down', { settings })).toMatchObject([{ ok: true, skipped: null }])
  expect(server.asked.map(({ path }) => path)).toEqual(['/range/00000'])
})

test('a range API that is down, or answers with another page, is found', async () => {
  const server = await startRangeServer()
  onTestFinished(() => server.close())
  const settings = { password: { checkBreached: server.url } }
  server.answer = (response) => void response.end('<html>Blocked by the proxy</html>')
  expect(await diagnosed('breach_check_down', { settings })).toMatchObject([
    { ok: false, level: 'warn', finding: expect.stringMatching(/gives no usable answer: malformed\.$/) },
  ])
  await server.close()
  expect(await diagnosed('breach_check_down', { settings })).toMatchObject([
    { ok: false, finding: expect.stringMatching(/: unreachable\.$/) },
  ])
})

test('a check of breaches that is off is skipped', async () => {
  const settings = { password: { checkBreached: false } }
  expect(await diagnosed('breach_check_down', { settings })).toMatchObject([
    { ok: true, skipped: 'password.checkBreached is off.' },
  ])
})

const permission = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

/** Hashes once, then prints what the check finds. */
const hashing = `
  const { createEarly } = await import(BUILD + 'wiring/early.js')
  const { passwordChecks } = await import(BUILD + 'wiring/doctor/passwords.js')
  const { testSettings } = await import(BUILD + 'testing.js')
  const warned = []
  const logger = { warn: (fields, text) => warned.push(text), error: () => {} }
  const early = createEarly(testSettings({ logger, limits: {}, password: { cost: 10 } }))
  await early.passwords.hash('correct horse battery')
  const check = passwordChecks(early).find(({ code }) => code === 'hash_fallback')
  console.log(JSON.stringify([await check.check(), ...warned]))
  await early.passwords.close()
`

test('a process that may start no worker threads is found', async () => {
  const build = new URL('../../../.build/', import.meta.url).href
  const script = join(temporaryFolder(), 'script.mjs')
  writeFileSync(script, `const BUILD = ${JSON.stringify(build)}\n${hashing}`)
  const run = async (flags: readonly string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, script])
    return JSON.parse(stdout)
  }
  expect(await run([])).toEqual([null])
  expect(await run([permission, '--allow-fs-read=*', '--no-warnings'])).toEqual([
    { finding: 'No worker thread started here (ERR_ACCESS_DENIED).' },
    expect.stringMatching(/permission model .* A space host starts its spaces so/),
  ])
})
