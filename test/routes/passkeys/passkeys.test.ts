import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { addPasskey, creationOptions, origin, passkeyLogin, withPasskey } from '../../support/passkey-browser.js'
import { enrol } from '../../support/totp.js'

const eve = { ...ada, email: 'eve@example.test' }

async function signedUp(overrides: Parameters<typeof testAuth>[0] = {}) {
  const world = await testAuth(overrides)
  const browser = world.client()
  await browser.signUp(ada)
  return { ...world, browser, device: createAuthenticator({ origin }) }
}

describe('adding a passkey', () => {
  it('asks for one that knows its user and is found without an address', async () => {
    const { browser } = await signedUp()
    const { body } = await creationOptions(browser)
    expect(body.options).toEqual({
      rp: { id: 'localhost', name: 'localhost' },
      user: { id: expect.stringMatching(/^[\w-]{43}$/), name: ada.email, displayName: ada.email },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout: 300_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    })
    expect((await creationOptions(browser)).body.options.user).toEqual(body.options.user)
  })

  it('keeps it, mails that, and does not offer it again', async () => {
    const { browser, device, mailbox, auth } = await signedUp()
    const { status, body } = await addPasskey(browser, device, { name: 'Phone' })
    expect(status).toBe(201)
    expect(body.passkey).toMatchObject({ name: 'Phone', provider: null, synced: true, usable: true, lastUsedAt: null })
    expect((await mailbox.waitFor(ada.email, /passkey was added/)).text).toContain('Phone')
    expect((await auth.audit.list({ event: 'passkey_added' })).items).toHaveLength(1)
    const { options } = (await creationOptions(browser)).body
    expect(options.excludeCredentials).toMatchObject([
      { id: device.passkeys[0]?.id, transports: ['internal', 'hybrid'] },
    ])
  })

  it('does not ask for a second step at the next sign-in by password', async () => {
    const { client } = await withPasskey()
    expect((await client().signIn(ada)).body).toMatchObject({ user: { twoFactor: false } })
  })

  it.each([
    ['a certificate', { attestation: 'x5c' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['another RP id', { rpId: 'evil.test' }],
    ['another type', { type: 'webauthn.get' }],
    ['a frame', { crossOrigin: true }],
    ['no presence', { userPresent: false }],
    ['no check of the user', { userVerified: false }],
    ['an algorithm that was not asked for', { saysAlgorithm: -35 }],
    ['a backup that cannot be', { synced: false, backedUp: true }],
  ] as const)('is refused with %s', async (_, forged) => {
    const { browser, device } = await signedUp()
    const answer = await addPasskey(browser, device, { forged })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_passkey' } })
    expect((await browser.get<{ passkeys: unknown[] }>('/auth/passkeys')).body.passkeys).toEqual([])
  })

  it('takes a statement that the new key signs itself, and believes nothing of it', async () => {
    const { browser, device } = await signedUp()
    expect((await addPasskey(browser, device, { forged: { attestation: 'self' } })).status).toBe(201)
  })

  it('uses a challenge once, in the session that asked', async () => {
    const { browser, device, client } = await signedUp()
    const { options } = (await creationOptions(browser)).body
    const response = device.register(options)
    const other = client()
    await other.signIn(ada)
    expect(await other.post('/auth/passkeys', { response })).toMatchObject({
      status: 400,
      body: { code: 'invalid_token' },
    })
    expect((await browser.post('/auth/passkeys', { response })).status).toBe(201)
    expect((await browser.post('/auth/passkeys', { response })).status).toBe(400)
  })

  it('of a credential that an account has is refused', async () => {
    const { device, client } = await withPasskey()
    const other = client()
    await other.signUp(eve)
    const credentialId = Buffer.from(device.passkeys[0]?.id ?? '', 'base64url')
    const answer = await addPasskey(other, createAuthenticator({ origin }), { forged: { credentialId } })
    expect(answer).toMatchObject({ status: 409, body: { code: 'passkey_taken' } })
  })

  it('ends at the limit of the settings', async () => {
    const { browser } = await withPasskey({ passkeys: { max: 1 } })
    expect(await creationOptions(browser)).toMatchObject({ status: 409, body: { code: 'passkey_limit' } })
  })

  it('needs the password or a recent sign-in', async () => {
    const { browser, runtime } = await signedUp()
    await runtime.clock.advance('6m')
    expect(await creationOptions(browser)).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
    expect(await creationOptions(browser, { password: 'wrong' })).toMatchObject({ status: 401 })
    expect((await creationOptions(browser, { password: ada.password })).status).toBe(200)
  })

  it('is refused to a session by password alone once the account has a second factor', async () => {
    const { browser, client, device, runtime } = await signedUp()
    const thief = client()
    await thief.signIn(ada)
    const begun = device.register((await creationOptions(thief)).body.options)
    await enrol(browser, ada.password, runtime.clock)
    const answers = [
      await creationOptions(thief),
      await creationOptions(thief, { password: ada.password }),
      await creationOptions(thief, { upgrade: true }),
      await thief.post('/auth/passkeys', { response: begun }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect((await browser.get('/auth/passkeys')).body).toMatchObject({ passkeys: [] })
    expect((await creationOptions(browser)).status).toBe(200)
  })
})

describe('a passkey made in passing', () => {
  it('may have asked nothing of the user, right after a sign-in by password', async () => {
    const { browser, device } = await signedUp()
    const { options } = (await creationOptions(browser, { upgrade: true })).body
    expect(options.authenticatorSelection?.userVerification).toBe('preferred')
    const response = device.register(options, { userPresent: false, userVerified: false })
    expect((await browser.post('/auth/passkeys', { response })).status).toBe(201)
  })

  it('is not made later, nor after another way of signing in', async () => {
    const { browser, client, device, runtime } = await withPasskey()
    const phone = client()
    await passkeyLogin(phone, device)
    expect((await creationOptions(phone, { upgrade: true })).status).toBe(403)
    await runtime.clock.advance('6m')
    expect((await creationOptions(browser, { upgrade: true, password: ada.password })).status).toBe(403)
  })

  it('is off by setting', async () => {
    const { browser } = await signedUp({ passkeys: { upgrade: false } })
    expect(await creationOptions(browser, { upgrade: true })).toMatchObject({ body: { code: 'passkeys_disabled' } })
  })
})

describe('the passkeys of a user', () => {
  it('are listed with what a page signals', async () => {
    const { browser, device, passkey } = await withPasskey()
    expect((await browser.get('/auth/passkeys')).body).toEqual({
      passkeys: [passkey],
      signals: {
        rpId: 'localhost',
        userId: device.passkeys[0]?.userHandle,
        credentialIds: [device.passkeys[0]?.id],
        name: ada.email,
        displayName: ada.email,
      },
    })
  })

  it('are none before the first: reading them stores nothing, and there is nothing to signal', async () => {
    const { browser } = await signedUp()
    expect((await browser.get('/auth/passkeys')).body).toEqual({ passkeys: [], signals: null })
    expect((await browser.get('/auth/passkeys')).body).toEqual({ passkeys: [], signals: null })
  })

  it('get another name', async () => {
    const { browser, passkey } = await withPasskey()
    const renamed = await browser.patch(`/auth/passkeys/${passkey.id}`, { name: 'Laptop' })
    expect(renamed).toMatchObject({ status: 200, body: { passkey: { name: 'Laptop' } } })
    expect((await browser.patch(`/auth/passkeys/${passkey.id}`, { name: ' ' })).status).toBe(400)
  })

  it('are removed, which ends every other session and mails that', async () => {
    const { browser, client, device, passkey, mailbox } = await withPasskey()
    const phone = client()
    await passkeyLogin(phone, device)
    expect((await browser.delete(`/auth/passkeys/${passkey.id}`, { password: ada.password })).status).toBe(204)
    expect((await phone.get('/auth/me')).status).toBe(401)
    expect((await browser.get('/auth/me')).status).toBe(200)
    await mailbox.waitFor(ada.email, /passkey was removed/)
    expect((await passkeyLogin(client(), device)).status).toBe(401)
  })

  it('are removed once: a second request at the same time finds none, and its session goes on', async () => {
    const { browser, passkey } = await withPasskey()
    const path = `/auth/passkeys/${passkey.id}`
    const answers = await Promise.all(
      [1, 2].map(() => browser.copy().delete<{ code?: string }>(path, { password: ada.password })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404])
    expect(answers.map(({ body }) => body?.code)).toContain('not_found')
  })

  it('are not those of another user: neither name nor removal', async () => {
    const { client, passkey, browser } = await withPasskey()
    const other = client()
    await other.signUp(eve)
    expect((await other.patch(`/auth/passkeys/${passkey.id}`, { name: 'Mine' })).status).toBe(404)
    expect((await other.delete(`/auth/passkeys/${passkey.id}`, { password: eve.password })).status).toBe(404)
    expect((await browser.get('/auth/passkeys')).body).toMatchObject({ passkeys: [passkey] })
  })

  it('stay when the password is reset, and the mail names them', async () => {
    const { client, device, mailbox } = await withPasskey()
    await client().post('/auth/password/forgot', { email: ada.email })
    const token = /token=([\w-]+)/.exec((await mailbox.waitFor(ada.email, /password/i)).text)?.[1]
    await client().post('/auth/password/reset', { token, password: 'another horse battery' })
    const { text } = await mailbox.waitFor(ada.email, /password was changed/)
    expect(text).toContain('still sign in to your account: Unknown device.')
    expect(text).toContain('http://localhost:3000/auth/account#passkeys')
    expect((await passkeyLogin(client(), device)).status).toBe(200)
  })

  it('are read and removed by the application, also the last way in', async () => {
    const { auth, browser, passkey, client, device } = await withPasskey()
    const { id } = (await browser.get<{ user: { id: string } }>('/auth/me')).body.user
    expect(await auth.passkeys.list(id)).toEqual([passkey])
    await auth.passkeys.remove(id, passkey.id)
    expect(await auth.passkeys.list(id)).toEqual([])
    await expect(auth.passkeys.remove(id, passkey.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await passkeyLogin(client(), device)).status).toBe(401)
  })
})

describe('passkeys that are off', () => {
  it.each([
    ['by setting', { baseUrl: origin, passkeys: { enabled: false } }],
    ['at an IP address', { baseUrl: 'http://127.0.0.1:3000' }],
  ])('%s are answered with that', async (_, settings) => {
    const { client } = await testAuth(settings)
    const { status, body } = await client({ baseUrl: settings.baseUrl }).post('/auth/passkeys/login/options')
    expect({ status, body }).toMatchObject({ status: 403, body: { code: 'passkeys_disabled' } })
  })
})

describe('whatever is sent', () => {
  it('is never a failure of ours', async () => {
    const { browser, device, client } = await withPasskey()
    const { options } = (await creationOptions(browser)).body
    const sound = device.register(options)
    for (const response of [
      null,
      [],
      'text',
      {},
      { ...sound, type: 'password' },
      { ...sound, rawId: 'AAAA' },
      { ...sound, response: { ...sound.response, attestationObject: randomBytes(64).toString('base64url') } },
      { ...sound, response: { ...sound.response, attestationObject: 'oA' } },
      { ...sound, response: { ...sound.response, clientDataJSON: Buffer.from('[]').toString('base64url') } },
      { ...sound, response: { ...sound.response, clientDataJSON: Buffer.from([0xff]).toString('base64url') } },
    ]) {
      expect((await browser.post('/auth/passkeys', { response })).status).toBeLessThan(500)
      expect((await client().post('/auth/passkeys/login', { response })).status).toBeLessThan(500)
    }
  })
})
