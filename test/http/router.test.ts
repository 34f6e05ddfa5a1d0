import { expect, test } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

test.each([
  ['POST', 303],
  ['PUT', 405],
  ['OPTIONS', 405],
  ['GET', 200],
])('a form that asks for _method=DELETE by %s gets %i: only a POST may', async (method, status) => {
  const { auth, client } = await testAuth()
  const browser = client()
  await browser.signUp(ada)
  const phone = client()
  await phone.signIn(ada)

  const headers = {
    cookie: `access-token=${browser.cookies.get('access-token')}`,
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  }
  const body = method === 'GET' ? null : '_method=DELETE'
  const answer = await auth.fetch(new Request('http://localhost:3000/auth/sessions', { method, headers, body }))
  expect(answer.status).toBe(status)
  expect((await phone.get('/auth/me')).status).toBe(method === 'POST' ? 401 : 200)
})
