import { describe, expect, it } from 'vitest'
import type { TestAuth } from '../../support/auth.js'
import { ada, sharedSettings, testAuth } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { addPasskey, passkeyLogin } from '../../support/passkey-browser.js'
import { enrol } from '../../support/totp.js'

const baseUrl = 'https://app.example.test'
const former = { rpId: 'example.test' }
const current = { rpId: 'app.example.test' }

/** An account with a passkey of the former RP id, and the same application after the change. */
async function moved(overrides: Parameters<typeof testAuth>[0] = {}) {
  const shared = { ...sharedSettings(), ...overrides, baseUrl }
  const before = await testAuth({ ...shared, passkeys: former })
  const browser = before.client({ baseUrl })
  await browser.signUp(ada)
  const device = createAuthenticator({ origin: baseUrl })
  const { body } = await addPasskey(browser, device)
  const after = await testAuth({ ...shared, passkeys: current }, before.runtime)
  return { before, after, device, passkey: body.passkey, browser: await signedIn(after) }
}

async function signedIn({ client }: TestAuth) {
  const browser = client({ baseUrl })
  await browser.post('/auth/login', ada)
  return browser
}

describe('a passkey of a former RP id', () => {
  it('is listed as unusable, excluded from signals, and works again for its RP id', async () => {
    const { browser, passkey, before, device, after } = await moved()
    expect((await browser.get('/auth/passkeys')).body).toMatchObject({
      passkeys: [{ id: passkey.id, usable: false }],
      signals: { rpId: 'app.example.test', credentialIds: [] },
    })
    const user = await after.auth.users.findByEmail(ada.email)
    expect(await after.auth.passkeys.list(user?.id ?? '')).toMatchObject([{ usable: false }])
    const { text } = await browser.get('/auth/account', { headers: { accept: 'text/html' } })
    expect(text).toContain('made for a former address')
    expect(text).not.toContain('may have been copied')
    expect((await passkeyLogin(before.client({ baseUrl }), device)).status).toBe(200)
  })

  it('does not lock out an account that must prove a second factor', async () => {
    const { after } = await moved({ twoFactor: { required: true } })
    const browser = after.client({ baseUrl })
    const answer = await browser.post('/auth/login', ada)
    expect(answer).toMatchObject({ status: 200, body: { user: { email: ada.email } } })
    expect((await browser.post('/auth/two-factor/totp', { password: ada.password })).status).toBe(200)
    expect((await addPasskey(browser, createAuthenticator({ origin: baseUrl }))).status).toBe(201)
  })

  it('is no method of the second step that an authenticator app asks for', async () => {
    const { after, browser } = await moved()
    await enrol(browser, ada.password, after.runtime.clock)
    const next = after.client({ baseUrl })
    expect((await next.post('/auth/login', ada)).body).toMatchObject({ methods: ['totp', 'backup_code'] })
    const options = await next.post('/auth/login/two-factor/options')
    expect(options).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect((await next.get('/auth/two-factor', { headers: { accept: 'text/html' } })).text).not.toContain(
      'Use a passkey',
    )
  })

  it('is not named by the mail about a new password', async () => {
    const { after } = await moved()
    await after.client({ baseUrl }).post('/auth/password/forgot', { email: ada.email })
    const token = after.mailbox.token(await after.mailbox.waitFor(ada.email, /new password/i))
    const reset = await after
      .client({ baseUrl })
      .post('/auth/password/reset', { token, password: 'another horse battery' })
    expect(reset.status).toBe(200)
    expect((await after.mailbox.waitFor(ada.email, /password was changed/)).text).not.toContain('still sign in')
  })

  it('may be removed', async () => {
    const { browser, passkey } = await moved()
    expect((await browser.delete(`/auth/passkeys/${passkey.id}`, { password: ada.password })).status).toBe(204)
  })
})
