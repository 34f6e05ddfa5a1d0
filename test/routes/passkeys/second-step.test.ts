import { describe, expect, it } from 'vitest'
import type { TestAnswer, TestClient } from '../../../src/testing.js'
import { ada } from '../../support/auth.js'
import { createAuthenticator, type HeldPasskey } from '../../support/authenticator.js'
import {
  addPasskey,
  origin,
  passkeyLogin,
  principalOf,
  requestOptions,
  withPasskey,
} from '../../support/passkey-browser.js'
import { enrol } from '../../support/totp.js'

type Halfway = TestAnswer<{ status: string; challenge: string; methods: string[]; code?: string }>
const optionsPath = '/auth/login/two-factor/options'

function password(client: TestClient): Promise<Halfway> {
  return client.post('/auth/login', ada)
}

describe('a passkey as the second step', () => {
  it('is one of the methods of an account with an authenticator app', async () => {
    const { client, browser, device, runtime } = await withPasskey()
    await enrol(browser, ada.password, runtime.clock)
    const phone = client()
    expect((await password(phone)).body.methods).toEqual(['passkey', 'totp', 'backup_code'])
    const options = await requestOptions(phone, optionsPath)
    expect(options).toMatchObject({ allowCredentials: [{ id: device.passkeys[0]?.id }], userVerification: 'preferred' })
    const response = device.sign(options, { userVerified: false, userHandle: null })
    expect((await phone.post('/auth/login/two-factor', { response })).status).toBe(200)
    expect((await principalOf(phone)).amr).toEqual(['pwd', 'pop', 'mfa'])
  })

  it('is asked where a second factor is required and the account has no other', async () => {
    const { client, device } = await withPasskey({ twoFactor: { required: true } })
    const phone = client()
    expect((await password(phone)).body).toMatchObject({ status: 'two_factor_required', methods: ['passkey'] })
    const response = device.sign(await requestOptions(phone, optionsPath))
    expect((await phone.post('/auth/login/two-factor', { response })).status).toBe(200)
    expect((await phone.get('/api/notes')).status).toBe(200)
  })

  it('satisfies that rule by itself, too', async () => {
    const { client, device } = await withPasskey({ twoFactor: { required: true } })
    const phone = client()
    await passkeyLogin(phone, device)
    expect((await phone.get('/api/notes')).status).toBe(200)
  })

  it('ATK-168 of twenty uses of one response, one gets a session', async () => {
    const { client, browser, device, runtime } = await withPasskey()
    await enrol(browser, ada.password, runtime.clock)
    const phone = client()
    await password(phone)
    const response = device.sign(await requestOptions(phone, optionsPath))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => phone.copy().post('/auth/login/two-factor', { response })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('is nothing without the first step, nor with the challenge of a sign-in', async () => {
    const { client, browser, device, runtime } = await withPasskey()
    await enrol(browser, ada.password, runtime.clock)
    expect(await client().post(optionsPath)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    const phone = client()
    const login = device.sign(await requestOptions(phone, '/auth/passkeys/login/options'))
    await password(phone)
    const answer = await phone.post('/auth/login/two-factor', { response: login })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  it('of another account is refused, though the first step was right', async () => {
    const { client, browser, device, runtime } = await withPasskey()
    await enrol(browser, ada.password, runtime.clock)
    const theirs = await passkeyOfEve(client())
    const phone = client()
    await password(phone)
    const forged = { credential: theirs, userHandle: device.passkeys[0]?.userHandle ?? null }
    const response = device.sign(await requestOptions(phone, optionsPath), forged)
    const answer = await phone.post('/auth/login/two-factor', { response })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_passkey' } })
  })

  it('whose counter goes back is suspended', async () => {
    const { client, browser, device, runtime } = await withPasskey({}, { synced: false })
    await enrol(browser, ada.password, runtime.clock)
    await passkeyLogin(client(), device)
    const phone = client()
    await password(phone)
    const response = device.sign(await requestOptions(phone, optionsPath), { counter: 1 })
    expect((await phone.post('/auth/login/two-factor', { response })).status).toBe(401)
    expect((await password(client())).body.methods).toEqual(['totp', 'backup_code'])
  })

  it('is needed to add a passkey where a second factor is required', async () => {
    const { browser, runtime } = await withPasskey({ twoFactor: { required: true } })
    await runtime.clock.advance('1m')
    const answer = await browser.post('/auth/passkeys/options', { password: ada.password })
    expect(answer).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
  })

  it('is needed for what would replace it: an authenticator app, its removal, and a newer sign-in', async () => {
    const { browser, client, device, passkey } = await withPasskey({ twoFactor: { required: true } })
    const proof = { password: ada.password }
    const refusal = { status: 403, body: { code: 'recent_login_required' } }
    expect(await browser.post('/auth/two-factor/totp', proof)).toMatchObject(refusal)
    expect(await browser.delete(`/auth/passkeys/${passkey.id}`, proof)).toMatchObject(refusal)
    expect(await browser.post('/auth/reauthenticate', proof)).toMatchObject(refusal)

    const phone = client()
    await passkeyLogin(phone, device)
    expect((await phone.post('/auth/two-factor/totp', proof)).status).toBe(200)
    expect(await phone.post('/auth/reauthenticate', proof)).toMatchObject(refusal)
  })
})

async function passkeyOfEve(browser: TestClient): Promise<HeldPasskey | undefined> {
  await browser.signUp({ ...ada, email: 'eve@example.test' })
  const theirs = createAuthenticator({ origin })
  await addPasskey(browser, theirs)
  return theirs.passkeys[0]
}

describe('proving oneself again', () => {
  it('needs a passkey of the account, and one that has checked its user', async () => {
    const { client, browser, device } = await withPasskey()
    const theirs = await passkeyOfEve(client())
    for (const forged of [{ userVerified: false }, { credential: theirs }, { credential: theirs, userHandle: null }]) {
      const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'), forged)
      const answer = await browser.post('/auth/reauthenticate', { response })
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_passkey' } })
    }
  })

  it('suspends a passkey whose counter goes back', async () => {
    const { client, browser, device } = await withPasskey({}, { synced: false })
    await passkeyLogin(client(), device)
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'), { counter: 1 })
    expect((await browser.post('/auth/reauthenticate', { response })).status).toBe(401)
    expect((await passkeyLogin(client(), device)).status).toBe(401)
  })

  it('that is refused after the right password is recorded', async () => {
    const { browser, auth } = await withPasskey({ twoFactor: { required: true } })
    expect((await browser.post('/auth/reauthenticate', { password: ada.password })).status).toBe(403)
    const { items } = await auth.audit.list({ event: 'reauthenticated' })
    expect(items).toMatchObject([{ outcome: 'failure', detail: { reason: 'recent_login_required' } }])
  })

  it('by passkey is no sign-in by password that could ask for one in passing', async () => {
    const { browser, device, runtime } = await withPasskey()
    await runtime.clock.advance('10m')
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
    expect((await browser.post('/auth/reauthenticate', { response })).status).toBe(200)
    const answer = await browser.post('/auth/passkeys/options', { upgrade: true })
    expect(answer).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
  })

  it('by passkey gives the session a new id and time, and leaves the others', async () => {
    const { client, browser, device, runtime } = await withPasskey()
    await client().signIn(ada)
    const before = await principalOf(browser)
    await runtime.clock.advance('10m')
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
    expect((await browser.post('/auth/reauthenticate', { response })).status).toBe(200)
    const after = await principalOf(browser)
    expect(after.authTime - before.authTime).toBe(600)
    expect(after.sessionId).not.toBe(before.sessionId)
    expect(after.amr).toEqual(['pwd', 'pop', 'user', 'mfa'])
    const { body } = await browser.get<{ sessions: unknown[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(2)
  })

  it('revokes the tokens that it replaces', async () => {
    const { browser } = await withPasskey()
    const thief = browser.copy()
    expect((await browser.post('/auth/reauthenticate', { password: ada.password })).status).toBe(200)
    expect((await thief.get('/api/notes')).status).toBe(401)
    expect((await thief.refresh()).status).toBe(401)
  })

  it('by password needs the code where two-factor authentication is on', async () => {
    const { browser, runtime } = await withPasskey()
    const factor = await enrol(browser, ada.password, runtime.clock)
    const wrong = await browser.post('/auth/reauthenticate', { password: 'wrong' })
    expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
    const without = await browser.post('/auth/reauthenticate', { password: ada.password })
    expect(without).toMatchObject({ status: 401, body: { code: 'invalid_code' } })
    const code = await factor.nextCode()
    expect((await browser.post('/auth/reauthenticate', { password: ada.password, code })).status).toBe(200)
  })

  it('is for the user of the session alone', async () => {
    const { client, browser, device } = await withPasskey()
    const other = client()
    await other.signUp({ ...ada, email: 'eve@example.test' })
    expect((await other.post('/auth/reauthenticate/options')).status).toBe(404)
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
    expect((await other.post('/auth/reauthenticate', { response })).status).toBe(400)
  })

  it('of twenty with one response, one gets a session', async () => {
    const { browser, device } = await withPasskey()
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => browser.copy().post('/auth/reauthenticate', { response })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
