import { expect, test } from 'vitest'
import { ada, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

test('while the news cannot be read, nothing is signed or written by what may be a wrong clock; what only tells goes on', async () => {
  const database = failingDatabase()
  const { client, runtime } = await testAuth({ database: database.dialect, revocation: { staleness: '5s' } })
  const browser = client()
  await browser.signUp(ada)
  database.failOn(/from "latchkey_changes"/)
  await runtime.clock.advance('4s')
  expect((await client().post('/auth/login', ada)).status).toBe(200)
  await runtime.clock.advance('2s')

  const refused = [await client().post('/auth/login', ada), await browser.refresh(), await browser.signOut()]
  for (const answer of refused) expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  expect((await client().get('/auth/openapi.json')).status).toBe(200)

  database.failOn(null)
  expect((await client().post('/auth/login', ada)).status).toBe(200)
  expect((await browser.refresh()).status).toBe(200)
})
