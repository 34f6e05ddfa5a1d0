import { expect, test } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { longestAccessTokenSeconds } from '../../src/settings/lifetimes.js'
import { createTestRuntime } from '../../src/testing.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'

/** An application whose tokens live for an hour, and a script beside it that nobody has told so. */
async function appAndScript() {
  const shared = sharedSettings()
  const runtime = createTestRuntime()
  const start = (settings: Partial<LatchkeySettings>) => testAuth({ ...shared, ...settings }, runtime)
  const app = await start({ accessTokenLifetime: '1h' })
  const first = app.client({ as: 'token' })
  await first.signUp(ada)
  const second = app.client({ as: 'token' })
  await second.signIn(ada)
  const { id } = (await app.auth.users.findByEmail(ada.email)) ?? { id: '' }
  const script = await start({ accessTokenLifetime: '15m' })
  return { app, script, runtime, start, first, second, userId: id }
}

test('ATK-063 a session that a process with a shorter lifetime ends stays ended as long as its tokens live', async () => {
  const { script, runtime, start, first, second, userId } = await appAndScript()
  expect(await script.auth.sessions.revokeAll(userId)).toBe(2)
  for (const wait of ['2s', '18m', '30m'] as const) {
    await runtime.clock.advance(wait)
    expect(await first.get('/api/x'), wait).toMatchObject({ body: { code: 'token_revoked' } })
  }

  // Housekeeping of both has come several times; a process that starts finds what still matters to it.
  const restarted = await start({ accessTokenLifetime: '1h' })
  const authorization = `Bearer ${second.tokens()?.accessToken}`
  const asked = await restarted.client({ as: 'server' }).get('/api/x', { headers: { authorization } })
  expect(asked).toMatchObject({ body: { code: 'token_revoked' } })
})

test('ATK-063 a user whom such a process disables stays out as long', async () => {
  const { script, runtime, first, userId } = await appAndScript()
  await script.auth.users.disable(userId)
  for (const wait of ['2s', '18m', '30m'] as const) {
    await runtime.clock.advance(wait)
    expect(await first.get('/api/x'), wait).toMatchObject({ status: 401 })
  }
})

test('no setting lets a token live longer than what ends it is kept', async () => {
  const runtime = createTestRuntime()
  const lasting = (seconds: number) => testAuth({ accessTokenLifetime: `${seconds}s` }, runtime)
  await expect(lasting(longestAccessTokenSeconds + 1)).rejects.toThrow('accessTokenLifetime')
  await expect(lasting(longestAccessTokenSeconds)).resolves.toBeDefined()
})
