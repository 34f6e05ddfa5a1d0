import { expect, test } from 'vitest'
import { ada, testAuth } from '../../support/auth.js'

const subject = 'Choose a new password'
const grace = { email: 'grace@example.test', password: 'compiler of compilers' }

test('a reset in a browser that was signed in leaves no dead session there, whose page would say otherwise', async () => {
  const { client, mailbox } = await testAuth()
  const browser = client()
  await browser.signUp(ada)
  await client().post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, subject))
  await browser.submit('/auth/password/reset', { token, password: 'analytical engine 1843' })
  expect(browser.cookies.all().map(({ name }) => name)).toEqual(['known-device'])
  const page = await browser.open('/auth/login')
  expect(page.text).not.toContain('still signed in')
  expect(page.text).toContain('name="password"')
})

test('a reset in a browser of somebody else, or refused, leaves their session alone', async () => {
  const { client, mailbox } = await testAuth()
  await client().signUp(ada)
  const browser = client()
  await browser.signUp(grace)
  await client().post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, subject))
  for (const [secret, status] of [
    ['x'.repeat(43), 400],
    [token, 200],
  ] as const) {
    const proof = { token: secret, password: 'analytical engine 1843' }
    expect(await browser.post('/auth/password/reset', proof)).toMatchObject({ status, cookies: [] })
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: grace.email } })
  }
})
