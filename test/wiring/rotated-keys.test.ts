import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { createTestRuntime } from '../../src/testing.js'
import { ada, sharedSettings, type TestAuth, testAuth } from '../support/auth.js'

const secret = () => randomBytes(32).toString('base64')
const names = ['encryptionKey', 'JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET'] as const

/** What one process has made counts at the other: a session, its refresh, an API token, the audit log. */
async function understand(maker: TestAuth, reader: TestAuth): Promise<unknown> {
  const made = maker.client()
  await made.signIn(ada)
  const moved = reader.client()
  for (const cookie of made.cookies.all()) moved.cookies.put(cookie)
  const { token } = await maker.auth.apiTokens.create({ name: 'reports' })
  const program = reader.client({ as: 'server', headers: { 'x-apikey': token } })
  const answers = [await moved.get('/api/x'), await moved.refresh(), await program.get('/api/x')]
  return [...answers.map(({ status }) => status), (await reader.auth.audit.verify()).ok]
}

test('three roll-outs replace every secret, and at no moment does a process not know what another has made', async () => {
  const { database } = sharedSettings()
  const runtime = createTestRuntime()
  const [old, next] = [0, 1].map(() => Object.fromEntries(names.map((name) => [name, secret()])))
  const lists = (...of: (typeof old)[]) =>
    Object.fromEntries(names.map((name) => [name, of.map((secrets) => secrets?.[name])]))
  const start = (settings: Partial<LatchkeySettings>) => testAuth({ database, ...settings }, runtime)
  const steps = [lists(old), lists(old, next), lists(next, old), lists(next)]

  let before = await start(steps[0] ?? {})
  await before.auth.users.create({ ...ada, emailVerified: true })
  for (const settings of steps.slice(1)) {
    // The last one waits until what was made under the old key has ended.
    for (const { id } of (await before.auth.apiTokens.list()).items) await before.auth.apiTokens.remove(id)
    await runtime.clock.advance('31d')
    const after = await start(settings)
    for (const [maker, reader] of [
      [before, after],
      [after, before],
    ] as const) {
      expect(await understand(maker, reader)).toEqual([200, 200, 200, true])
    }
    await before.auth.close()
    before = after
  }
})
