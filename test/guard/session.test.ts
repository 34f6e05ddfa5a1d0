import { expect, test } from 'vitest'
import { ada, sharedSettings, testAuth } from '../support/auth.js'

test('ATK-063 a session that was ended stays ended, also for tokens from before the owner shortened their life', async () => {
  const settings = sharedSettings()
  const before = await testAuth({ ...settings, accessTokenLifetime: '1d' })
  const app = before.client({ as: 'token' })
  const { body } = await app.signUp(ada)
  await before.auth.close()

  const after = await testAuth({ ...settings, accessTokenLifetime: '15m' }, before.runtime)
  const headers = { authorization: `Bearer ${app.tokens()?.accessToken}` }
  const ask = () => after.client({ as: 'server' }).get('/api/notes', { headers })
  expect((await ask()).status).toBe(200)
  await after.auth.sessions.revokeAll(body.user.id)
  expect((await ask()).body).toMatchObject({ code: 'token_revoked' })

  await after.runtime.clock.advance('25m')
  expect((await ask()).body).toMatchObject({ code: 'token_expired' })
})
