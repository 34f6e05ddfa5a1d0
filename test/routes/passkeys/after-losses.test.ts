import { describe, expect, it } from 'vitest'
import { ada } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { addPasskey, loginOptions, origin, passkeyLogin, withPasskey } from '../../support/passkey-browser.js'

const next = 'ada@elsewhere.test'

describe('after the undo of an address', () => {
  it('a passkey that was added since signs in no more, and one from before does', async () => {
    const { client, browser, device, mailbox, runtime } = await withPasskey()
    await runtime.clock.advance('1m')
    await browser.post('/auth/email/change', { newEmail: next, password: ada.password })
    const token = mailbox.token(await mailbox.waitFor(next, /new email address/))
    expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
    await browser.refresh()
    const planted = createAuthenticator({ origin })
    expect((await addPasskey(browser, planted)).status).toBe(201)
    const thief = client()
    expect((await passkeyLogin(thief, planted)).status).toBe(200)

    const undo = mailbox.token(await mailbox.waitFor(ada.email, /was changed/))
    expect((await client().post('/auth/email/undo', { token: undo })).status).toBe(200)
    expect((await thief.get('/api/notes')).status).toBe(401)
    expect(await passkeyLogin(client(), planted)).toMatchObject({ status: 401, body: { unknown: true } })
    const owner = client()
    expect(await passkeyLogin(owner, device)).toMatchObject({ status: 200, body: { user: { email: ada.email } } })
    expect((await owner.get('/auth/passkeys')).body).toMatchObject({ passkeys: [{ usable: true }] })
  })
})

describe('after the deletion of the account', () => {
  it('its passkey signs in no more, also with options from before', async () => {
    const { client, browser, device } = await withPasskey()
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    expect((await browser.delete('/auth/me', { password: ada.password })).status).toBe(204)
    expect(await phone.post('/auth/passkeys/login', { response })).toMatchObject({ status: 401 })
    expect(await passkeyLogin(client(), device)).toMatchObject({ status: 401, body: { unknown: true } })
  })

  it('a new account with the address has no passkey, and may get the same credential', async () => {
    const { client, browser, device, auth } = await withPasskey()
    expect((await browser.delete('/auth/me', { password: ada.password })).status).toBe(204)
    await auth.users.create({ ...ada, emailVerified: true })
    const anew = client()
    await anew.signIn(ada)
    expect((await anew.get('/auth/passkeys')).body).toMatchObject({ passkeys: [], signals: null })
    expect((await passkeyLogin(client(), device)).status).toBe(401)
    const credentialId = Buffer.from(device.passkeys[0]?.id ?? '', 'base64url')
    const again = createAuthenticator({ origin })
    expect((await addPasskey(anew, again, { forged: { credentialId } })).status).toBe(201)
    expect((await passkeyLogin(client(), again)).status).toBe(200)
  })
})
