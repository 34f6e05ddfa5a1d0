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

test('a cookie of the text of a header is no token, in whatever order they come, and all end with the session', async () => {
  const { auth, client } = await testAuth()
  const app = client({ as: 'token' })
  const { body } = await app.signUp(ada)
  const token = app.tokens()?.accessToken ?? ''
  const ask = async (headers: Record<string, string>) =>
    (await client({ as: 'server' }).get('/api/notes', { headers })).status

  expect(await ask({ authorization: `bearer ${token}` })).toBe(200)
  expect(await ask({ cookie: `access-token=Bearer ${token}` })).toBe(401)
  expect(await ask({ cookie: `access-token=bearer ${token}` })).toBe(401)
  expect(await ask({ authorization: `Bearer ${token}` })).toBe(200)
  expect(await ask({ cookie: `access-token=Bearer ${token}` })).toBe(401)
  expect(await ask({ cookie: `access-token=${token}` })).toBe(200)
  expect(await ask({ authorization: `bearer ${token}` })).toBe(200)
  expect(await ask({ authorization: token })).toBe(401)
  expect(await ask({ authorization: `Bearer Bearer ${token}` })).toBe(401)

  await auth.sessions.revokeAll(body.user.id)
  expect(await ask({ authorization: `Bearer ${token}` })).toBe(401)
  expect(await ask({ authorization: `bearer ${token}` })).toBe(401)
  expect(await ask({ cookie: `access-token=${token}` })).toBe(401)
})

test('a token is checked once however its scheme is spelled, so nobody pays us with spelling it in turns', async () => {
  const { client, passed } = await testAuth()
  const app = client({ as: 'token' })
  await app.signUp(ada)
  const token = app.tokens()?.accessToken
  const server = client({ as: 'server' })
  for (const scheme of ['bearer', 'BEARER', 'Bearer', 'bEARER', 'bearer', 'BEARER'])
    expect((await server.get('/api/notes', { headers: { authorization: `${scheme} ${token}` } })).status).toBe(200)
  // What is remembered is the same, to the object.
  expect(new Set(passed.map(({ principal }) => principal)).size).toBe(1)
})
