import { expect, test } from 'vitest'
import type { SignedIn } from '../../../src/testing.js'
import { ada } from '../../support/auth.js'
import { meddledDatabase } from '../../support/meddled-database.js'
import { adaAtGoogle, comeBack, enterAs, landedAt, oauthWorld } from '../../support/oauth.js'

test('an account that gets another address just before it is joined is not joined: who comes gets one of their own', async () => {
  const database = meddledDatabase()
  const world = await oauthWorld({ database: database.dialect })
  const { users } = world.auth
  const { id } = await users.create({ ...ada, email: adaAtGoogle.email, emailVerified: true })
  const browser = world.client()
  database.after(
    /from "latchkey_users" where "email_canonical" = /,
    "update latchkey_users set email = 'moved@example.test', email_canonical = 'moved@example.test'",
  )
  expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toBe('/')
  const { user } = (await browser.get<SignedIn>('/auth/me')).body
  expect(user).toMatchObject({ email: adaAtGoogle.email, identities: [{ provider: 'google' }] })
  expect(user.id).not.toBe(id)
  expect(await users.get(id)).toMatchObject({ email: 'moved@example.test', identities: [] })
})

test.each([
  ['a session that has just ended', 'delete from latchkey_sessions', 401, 'token_revoked', ['google']],
  [
    'a session that another one was quicker than',
    "delete from latchkey_identities; update latchkey_users set identities = '[]'",
    404,
    'not_found',
    [],
  ],
])('a login is not taken away by %s, and the answer says so', async (_, statements, status, code, left) => {
  const database = meddledDatabase()
  const world = await oauthWorld({ database: database.dialect })
  const { auth, client, peer } = world
  const browser = client()
  await browser.signUp(ada)
  peer.signInAs(adaAtGoogle)
  const { body } = await browser.post<{ url: string }>('/auth/oauth/google/link', {})
  await comeBack(browser, peer.answer(body.url))

  database.after(/from "latchkey_sessions"/, statements)
  expect((await browser.delete('/auth/identities/google')).body).toMatchObject({ status, code })
  const user = await auth.users.findByEmail(ada.email)
  expect(user?.identities.map(({ provider }) => provider)).toEqual(left)
  expect((await auth.audit.list({ event: 'identity_unlinked' })).items).toEqual([])
})
