import { describe, expect, it } from 'vitest'
import { ada, sharedSettings, testAuth } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { addPasskey, creationOptions, origin, passkeyLogin, principalOf } from '../../support/passkey-browser.js'

const { email } = ada
const settings = { passkeys: { signUp: true } }

describe('a registration without a password', () => {
  it('is refused unless the settings allow it', async () => {
    const { client } = await testAuth()
    const answer = await client().post('/auth/register', { email })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'password', message: 'is required' }] } })
  })

  it.each(['required', 'optional'] as const)(
    'confirms the address first, where that is %s',
    async (emailVerification) => {
      const { client, mailbox } = await testAuth({ ...settings, registration: { emailVerification } })
      const browser = client()
      expect(await browser.post('/auth/register', { email })).toMatchObject({ status: 202 })
      const token = mailbox.token(await mailbox.waitFor(email, 'Confirm'))
      expect(await browser.post('/auth/verify-email', { token })).toMatchObject({
        status: 200,
        body: { user: { email } },
      })
      expect((await principalOf(browser)).amr).toEqual(['otp'])

      const device = createAuthenticator({ origin })
      const { body } = await addPasskey(browser, device)
      expect((await passkeyLogin(client(), device)).status).toBe(200)
      const removed = await browser.delete(`/auth/passkeys/${body.passkey.id}`)
      expect(removed).toMatchObject({ status: 409, body: { code: 'last_credential' } })
    },
  )

  it.each([
    ['link', ''],
    ['code', ''],
    ['link', '/inbox'],
  ] as const)('leads from the mailed %s to the page that adds a passkey, and then to %j', async (way, inbox) => {
    const { client, mailbox } = await testAuth({ ...settings, redirectSuccessUrl: '/home' })
    const browser = client()
    await browser.submit('/auth/register', { email })
    const mail = await mailbox.waitFor(email, 'Confirm')
    const proof = way === 'link' ? { token: mailbox.token(mail) } : { code: mailbox.code(mail) }
    const returnTo = inbox === '' ? {} : { _redirect: inbox }
    const page = await browser.submit('/auth/verify-email', { ...proof, ...returnTo })
    expect(page.url.pathname).toBe('/auth/passkeys/new')
    expect(page.url.searchParams.get('redirect')).toBe(inbox || '/home')
    expect(page.text).toContain(`data-next="${inbox || '/home'}"`)

    const device = createAuthenticator({ origin })
    expect((await addPasskey(browser, device)).status).toBe(201)
    expect((await passkeyLogin(client(), device)).status).toBe(200)
  })

  it('does not lead there twice, nor a user who has a password, nor where the settings do not allow it', async () => {
    const { client, mailbox } = await testAuth({ ...settings, redirectSuccessUrl: '/home' })
    const browser = client()
    await browser.submit('/auth/register', { email })
    const code = mailbox.code(await mailbox.waitFor(email, 'Confirm'))
    const _redirect = '/auth/passkeys/new?redirect=%2Finbox'
    const page = await browser.submit('/auth/verify-email', { code, _redirect })
    expect(page.url.pathname + page.url.search).toBe(_redirect)

    const grace = { email: 'grace@example.test', password: ada.password }
    for (const world of [{ client, mailbox }, await testAuth({ redirectSuccessUrl: '/home' })]) {
      const other = world.client()
      await other.submit('/auth/register', grace)
      const token = world.mailbox.token(await world.mailbox.waitFor(grace.email, 'Confirm'))
      expect((await other.submit('/auth/verify-email', { token })).url.pathname).toBe('/home')
    }
  })

  it('is confirmed in the browser that asked, and in no other', async () => {
    const { client, mailbox } = await testAuth(settings)
    await client().post('/auth/register', { email })
    const token = mailbox.token(await mailbox.waitFor(email, 'Confirm'))
    const answer = await client().post('/auth/verify-email', { token, password: ada.password })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  it('answers the same for an address that has an account', async () => {
    const { client, mailbox } = await testAuth(settings)
    await client().signUp(ada)
    const answer = await client().post('/auth/register', { email })
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 202, body: { status: 'verification_sent' } })
    await mailbox.waitFor(email, /account/)
  })
})

describe('a passkey from before the first proof of the mailbox', () => {
  it('signs in while the address need not be confirmed, and is thrown away by that proof', async () => {
    const { client, mailbox } = await testAuth({ registration: { emailVerification: 'optional' } })
    const stranger = client()
    await stranger.post('/auth/register', ada)
    const device = createAuthenticator({ origin })
    expect((await addPasskey(stranger, device)).status).toBe(201)
    expect((await passkeyLogin(client(), device)).status).toBe(200)

    const owner = client()
    await owner.post('/auth/otp', { email })
    const code = mailbox.code(await mailbox.waitFor(email, 'code'))
    expect((await owner.post('/auth/otp/verify', { code })).status).toBe(200)
    expect(await passkeyLogin(client(), device)).toMatchObject({ status: 401, body: { unknown: true } })
  })
})

describe('an address that must be proved and is not', () => {
  /** A user who registered while the address need not be proved, after that setting has changed. */
  async function unproved() {
    const shared = sharedSettings()
    const lax = await testAuth({ ...shared, registration: { emailVerification: 'optional' } })
    const browser = lax.client()
    await browser.post('/auth/register', ada)
    const begun = await creationOptions(browser)
    const strict = await testAuth(shared, lax.runtime)
    const same = strict.client()
    for (const cookie of browser.cookies.all()) same.cookies.put(cookie)
    return { browser: same, options: begun.body.options }
  }

  it('gets no options for a passkey, whatever the browser proves, and no passkey by options from before', async () => {
    const { browser, options } = await unproved()
    const refusal = { status: 403, body: { code: 'email_not_verified' } }
    expect(await creationOptions(browser)).toMatchObject(refusal)
    expect(await creationOptions(browser, { password: ada.password })).toMatchObject(refusal)
    expect(await creationOptions(browser, { upgrade: true })).toMatchObject(refusal)
    const response = createAuthenticator({ origin }).register(options)
    expect(await browser.post('/auth/passkeys', { response })).toMatchObject(refusal)
    expect((await browser.get('/auth/passkeys')).body).toMatchObject({ passkeys: [] })
  })

  it('is told so on the account page', async () => {
    const { browser } = await unproved()
    const page = '/auth/account?error=email_not_verified&at=passkeys'
    const { text } = await browser.get(page, { headers: { accept: 'text/html' } })
    expect(text).toContain('Confirm your email address first.')
  })
})

describe('addresses of the whole host', () => {
  it('lead managers of passwords to the account page', async () => {
    const { client } = await testAuth()
    const page = 'http://localhost:3000/auth/account#passkeys'
    const endpoints = await client().get('/.well-known/passkey-endpoints')
    expect(endpoints).toMatchObject({ status: 200, body: { enroll: page, manage: page } })
    const change = await client().get('/.well-known/change-password')
    expect(change.status).toBe(302)
    expect(change.headers.get('location')).toBe('http://localhost:3000/auth/account#password')
  })

  it('name other sites that use the passkeys, only where there are some', async () => {
    const alone = await testAuth()
    expect(await alone.client().get('/.well-known/webauthn')).toMatchObject({ body: { principal: null } })
    const origins = ['http://localhost:3000', 'https://example.test', 'android:apk-key-hash:'.padEnd(64, 'A')]
    const { client } = await testAuth({ passkeys: { origins } })
    expect(await client().get('/.well-known/webauthn')).toMatchObject({ body: { origins: ['https://example.test'] } })
  })
})
