import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AttackServer, ada, attackServer } from '../support/attack-server.js'

let server: AttackServer

beforeEach(async () => {
  server = await attackServer({ file: true })
})

afterEach(() => server.close())

/** What the sign-ins so far have left in the audit log. */
function attempts(): object[] {
  return server.sql("select user_id, outcome, detail from latchkey_audit where event = 'login' order by seq")
}

test('ATK-112 a right password that does not sign in is written down, with the reason', async () => {
  const browser = server.client()
  await browser.post('/auth/register', ada)
  expect((await server.client().post('/auth/login', ada)).body).toMatchObject({ code: 'email_not_verified' })
  expect(attempts()).toEqual([{ user_id: null, outcome: 'failure', detail: '{"reason":"email_not_verified"}' }])

  const bob = { ...ada, email: 'bob@example.test' }
  const userId = (await browser.signUp(bob)).body.user.id
  server.sql('delete from latchkey_audit')
  server.sql('update latchkey_users set email_verified = 0')
  expect((await browser.post('/auth/login', bob)).body).toMatchObject({ code: 'email_not_verified' })
  server.sql('update latchkey_users set disabled_at = 1')
  expect((await browser.post('/auth/login', bob)).body).toMatchObject({ code: 'account_disabled' })
  expect(attempts()).toEqual([
    { user_id: userId, outcome: 'failure', detail: '{"reason":"email_not_verified"}' },
    { user_id: userId, outcome: 'failure', detail: '{"reason":"account_disabled"}' },
  ])
})

test('ATK-112 a wrong password is written down once, whether or not there is such an account', async () => {
  const { body } = await server.client().signUp(ada)
  server.sql('delete from latchkey_audit')
  for (const email of [ada.email, 'nobody@example.test']) {
    await server.client().post('/auth/login', { email, password: 'not the right one' })
  }
  expect(attempts()).toEqual([
    { user_id: body.user.id, outcome: 'failure', detail: '{}' },
    { user_id: null, outcome: 'failure', detail: '{}' },
  ])
})
