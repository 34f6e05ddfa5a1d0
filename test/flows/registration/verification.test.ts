import { describe, expect, test } from 'vitest'
import { AuthError } from '../../../src/index.js'
import type { SignedIn, TestClient } from '../../../src/testing.js'
import { ada, type TestAuth, testAuth } from '../../support/auth.js'

const optional = { registration: { emailVerification: 'optional' } } as const
const bob = { ...ada, email: 'bob@example.test' }

async function isVerified(client: TestClient): Promise<boolean> {
  return (await client.get<SignedIn>('/auth/me')).body.user.emailVerified
}

/** Signed in to an account that is a day old, whose first confirmation has expired. */
async function unconfirmed(as: 'browser' | 'token' = 'browser') {
  const world = await testAuth(optional)
  const client = world.client({ as })
  await client.post('/auth/register', ada)
  await world.mailbox.waitFor(ada.email)
  await world.runtime.clock.advance('25h')
  await client.signIn(ada)
  return { ...world, browser: client }
}

function mailsTo({ mailbox }: Pick<TestAuth, 'mailbox'>, email: string): number {
  return mailbox.mails.filter(({ to, subject }) => to === email && subject.startsWith('Confirm')).length
}

describe('an address that nobody confirmed in time', () => {
  test('is confirmed by a new mail that whoever is signed in asks for, in the same browser without a password', async () => {
    const { browser, mailbox } = await unconfirmed()
    expect((await browser.post('/auth/verify-email/resend')).status).toBe(202)
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Confirm'))
    expect((await browser.post('/auth/verify-email', { code })).status).toBe(200)
    expect(await isVerified(browser)).toBe(true)
  })

  test('is confirmed from the account page', async () => {
    const { browser, mailbox } = await unconfirmed()
    expect((await browser.open('/auth/account')).text).toContain('action="/auth/verify-email/resend"')
    const asked = await browser.submit('/auth/verify-email/resend', {})
    expect(asked.url.pathname).toBe('/auth/verify-email')
    const token = mailbox.token(await mailbox.waitFor(ada.email, 'Confirm'))
    await browser.submit('/auth/verify-email', { token })
    expect((await browser.open('/auth/account')).text).not.toContain('action="/auth/verify-email/resend"')
  })

  test('is confirmed by an app that sends back what it was given', async () => {
    const { browser: app, mailbox } = await unconfirmed('token')
    const { body } = await app.post<{ transaction: string }>('/auth/verify-email/resend', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Confirm'))
    const { transaction } = body
    expect((await app.post('/auth/verify-email', { email: ada.email, code, transaction })).status).toBe(200)
  })

  test('ATK-007 is mailed to for nobody but its user, and not once it is confirmed', async () => {
    const world = await unconfirmed()
    const { browser, mailbox } = world
    const before = mailsTo(world, ada.email)
    const stranger = world.client()
    await stranger.post('/auth/register', bob)
    await mailbox.waitFor(bob.email)
    expect((await stranger.post('/auth/verify-email/resend', { email: ada.email })).status).toBe(202)
    expect((await world.client().post('/auth/verify-email/resend', { email: ada.email })).status).toBe(202)
    expect((await browser.post('/auth/verify-email/resend', { email: bob.email })).status).toBe(202)
    expect([mailsTo(world, ada.email), mailsTo(world, bob.email)]).toEqual([before, 1])

    await browser.post('/auth/verify-email/resend')
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Confirm'))
    await browser.post('/auth/verify-email', { code })
    await browser.post('/auth/verify-email/resend')
    await stranger.post('/auth/verify-email/resend')
    await mailbox.waitFor(bob.email)
    expect(mailsTo(world, ada.email)).toBe(before + 1)
  })
})

describe('a hook after the registration', () => {
  test.each([
    ['has failed', () => new Error('down'), 503, 200],
    ['needed what could not be had', () => new AuthError('busy', { retryAfterSeconds: 1 }), 503, 200],
    ['refuses', () => new AuthError('forbidden'), 403, 400],
  ])('that %s leaves no account; only a refusal uses the link up', async (_how, fault, status, again) => {
    let fails = true
    const { auth, client, mailbox } = await testAuth({
      hooks: {
        afterRegister() {
          if (fails) throw fault()
        },
      },
    })
    const browser = client()
    await browser.post('/auth/register', ada)
    const token = mailbox.token(await mailbox.waitFor(ada.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(status)
    expect(await auth.users.findByEmail(ada.email)).toBeNull()
    fails = false
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(again)
  })
})
