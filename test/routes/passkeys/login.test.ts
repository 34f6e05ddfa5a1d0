import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ada } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import {
  addPasskey,
  loginOptions,
  origin,
  passkeyLogin,
  principalOf,
  withPasskey,
} from '../../support/passkey-browser.js'

const path = '/auth/passkeys/login'

describe('options of a sign-in', () => {
  it('are the same for every visitor, and name no passkey', async () => {
    const { client } = await withPasskey()
    const { status, body, cookies } = await client().post<{ options: object; expiresAt: string }>(`${path}/options`)
    expect(status).toBe(200)
    expect(body.options).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      rpId: 'localhost',
      allowCredentials: [],
      userVerification: 'required',
    })
    expect(cookies.map(({ name }) => name)).toEqual(['passkey'])
  })
})

describe('a sign-in by passkey', () => {
  it('opens a session that has proved two factors', async () => {
    const { client, device, browser } = await withPasskey()
    const phone = client()
    const { status, body } = await passkeyLogin(phone, device)
    expect(status).toBe(200)
    expect(body.user.email).toBe(ada.email)
    expect((await principalOf(phone)).amr).toEqual(['pop', 'user', 'mfa'])
    const { body: listed } = await browser.get('/auth/passkeys')
    expect(listed).toMatchObject({ passkeys: [{ lastUsedAt: expect.any(String) }] })
  })

  it.each(['ES256', 'EdDSA', 'RS256'] as const)('works with a key of %s', async (algorithm) => {
    const { client, device } = await withPasskey({}, { algorithm })
    expect((await passkeyLogin(client(), device)).status).toBe(200)
  })

  it('works for an app without cookies, which sends its transaction', async () => {
    const { client, device } = await withPasskey()
    const app = client({ as: 'token' })
    const { body } = await app.post<{ options: never; transaction: string }>(`${path}/options`)
    const response = device.sign(body.options)
    expect(await app.post(path, { response })).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    const again = await app.post<{ options: never; transaction: string }>(`${path}/options`)
    const signed = { response: device.sign(again.body.options), transaction: again.body.transaction }
    expect(await app.post(path, signed)).toMatchObject({ status: 200, body: { accessToken: expect.any(String) } })
  })

  it('ATK-168 of twenty uses of one challenge, one gets a session', async () => {
    const { client, device, browser } = await withPasskey()
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    const answers = await Promise.all(Array.from({ length: 20 }, () => phone.copy().post(path, { response })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19)
    const { body } = await browser.get<{ sessions: unknown[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(2)
  })

  it('works in each of two tabs, whichever asked last', async () => {
    const { client, device } = await withPasskey()
    const tab = client()
    const first = await loginOptions(tab)
    const second = await loginOptions(tab)
    expect((await tab.post(path, { response: device.sign(first) })).status).toBe(200)
    // The other tab asks anew, as autofill does by itself.
    expect((await tab.post(path, { response: device.sign(second) })).status).toBe(400)
    expect((await passkeyLogin(tab, device)).status).toBe(200)
  })

  it('needs the browser that asked', async () => {
    const { client, device } = await withPasskey()
    const response = device.sign(await loginOptions(client()))
    const other = client()
    await loginOptions(other)
    expect(await other.post(path, { response })).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  it.each([
    [4 * 60 + 59, 200],
    [5 * 60 + 1, 400],
  ] as const)('answers a challenge of %i seconds ago with %i', async (age, status) => {
    const { client, device, runtime } = await withPasskey()
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    await runtime.clock.advance(age * 1_000)
    expect((await phone.post(path, { response })).status).toBe(status)
  })

  it('is refused for a disabled account, whose sessions have ended, until it is enabled', async () => {
    const { client, device, auth } = await withPasskey()
    const phone = client()
    await passkeyLogin(phone, device)
    const { id = '' } = (await auth.users.findByEmail(ada.email)) ?? {}
    await auth.users.disable(id)
    expect(await passkeyLogin(client(), device)).toMatchObject({ status: 403, body: { code: 'account_disabled' } })
    expect((await phone.get('/api/notes')).status).toBe(401)
    expect((await phone.refresh()).status).toBe(401)
    await auth.users.enable(id)
    expect((await phone.refresh()).status).toBe(401)
    expect((await passkeyLogin(client(), device)).status).toBe(200)
  })

  it('is refused while the account is disabled after the options were sent', async () => {
    const { client, device, auth } = await withPasskey()
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    await auth.users.disable((await auth.users.findByEmail(ada.email))?.id ?? '')
    expect(await phone.post(path, { response })).toMatchObject({ status: 403, body: { code: 'account_disabled' } })
  })

  it('runs the hooks of a sign-in, with the method passkey', async () => {
    const methods: string[] = []
    const hooks = { beforeLogin: ({ method }: { method: string }) => void methods.push(method) }
    const { client, device } = await withPasskey({ hooks })
    await passkeyLogin(client(), device)
    expect(methods.at(-1)).toBe('passkey')
  })
})

describe('a forged response', () => {
  it.each([
    ['another origin', { origin: 'https://evil.test' }],
    ['another RP id', { rpId: 'evil.test' }],
    ['another type', { type: 'webauthn.create' }],
    ['a frame of another origin', { crossOrigin: true }],
    ['a top origin', { topOrigin: 'https://evil.test' }],
    ['no presence of a user', { userPresent: false }],
    ['no check of the user', { userVerified: false }],
    ['another kind of passkey', { synced: false, backedUp: false }],
    ['a backup that cannot be', { synced: false, backedUp: true }],
    ['no user', { userHandle: null }],
    ['another user', { userHandle: randomBytes(32).toString('base64url') }],
    ['a wrong signature', { signature: randomBytes(70) }],
  ] as const)('with %s is refused', async (_, forged) => {
    const { client, device } = await withPasskey()
    const answer = await passkeyLogin(client(), device, forged)
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_passkey' } })
    expect(answer.body.unknown).toBeUndefined()
    expect((await passkeyLogin(client(), device)).status).toBe(200)
  })

  it('with another challenge is refused', async () => {
    const { client, device } = await withPasskey()
    const answer = await passkeyLogin(client(), device, { challenge: randomBytes(32).toString('base64url') })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  it('of a passkey that no account has says so, and only then', async () => {
    const { client, device, browser, passkey } = await withPasskey()
    const before = device.passkeys[0]
    await addPasskey(browser, device)
    expect((await browser.delete(`/auth/passkeys/${passkey.id}`, { password: ada.password })).status).toBe(204)
    const answer = await passkeyLogin(client(), device, { credential: before })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_passkey', unknown: true } })
  })

  it('with the handle of another user is refused, though both have passkeys', async () => {
    const { client, device } = await withPasskey()
    const other = client()
    await other.signUp({ ...ada, email: 'eve@example.test' })
    const theirs = createAuthenticator({ origin })
    await addPasskey(other, theirs)
    const userHandle = theirs.passkeys[0]?.userHandle ?? null
    expect((await passkeyLogin(client(), device, { userHandle })).status).toBe(401)
  })

  it.each([
    [
      'padding',
      (bytes: Buffer) => bytes.toString('base64url').padEnd(Math.ceil((bytes.length * 4) / 3 / 4) * 4 + 4, '='),
    ],
    ['hexadecimal', (bytes: Buffer) => `${bytes.toString('hex')}!`],
    ['nothing', () => ''],
  ])('in %s is no request', async (_, encode) => {
    const { client, device } = await withPasskey()
    const answer = await passkeyLogin(client(), device, { encode })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  it('that is too large is no request', async () => {
    const { client, device } = await withPasskey()
    const large = await passkeyLogin(client(), device, { signature: randomBytes(3_000) })
    expect(large).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const huge = await passkeyLogin(client(), device, { signature: randomBytes(1 << 20) })
    expect(huge).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  it('with a key twice counts by the last one', async () => {
    const { client, device } = await withPasskey()
    const clientData = (text: string) =>
      text
        .replace('{', '{"origin":"http://localhost:3000",')
        .replace(/"origin":"[^"]*",(?="crossOrigin)/, '"origin":"https://evil.test",')
    expect((await passkeyLogin(client(), device, { clientData })).status).toBe(401)
  })
})

describe('a counter that goes back', () => {
  it('suspends a passkey of one device, mails that, and records it', async () => {
    const { client, device, mailbox, auth, browser } = await withPasskey({}, { synced: false })
    expect((await passkeyLogin(client(), device)).status).toBe(200)
    expect(await passkeyLogin(client(), device, { counter: 1 })).toMatchObject({
      status: 401,
      body: { code: 'invalid_passkey' },
    })
    const again = await passkeyLogin(client(), device)
    expect([again.status, again.body.unknown]).toEqual([401, undefined])
    const refused = (await auth.audit.list({ event: 'login' })).items.filter(({ outcome }) => outcome === 'failure')
    const { id } = (await auth.users.findByEmail(ada.email)) ?? {}
    expect(refused.map(({ userId }) => userId)).toEqual([id, id])
    const { text } = await mailbox.waitFor(ada.email, /blocked/)
    expect(text).toContain('its counter had gone back')
    expect(text).toContain('every session was ended')
    await browser.signIn(ada)
    expect(await browser.get('/auth/passkeys')).toMatchObject({
      body: { passkeys: [{ usable: false }], signals: { credentialIds: [] } },
    })
    const { items } = await auth.audit.list({ event: 'passkey_counter' })
    expect(items).toMatchObject([{ outcome: 'failure', detail: { synced: false, suspended: true } }])
  })

  it('ends every session, because a copy may have opened it', async () => {
    const { client, device, browser } = await withPasskey({}, { synced: false })
    const copy = client()
    expect((await passkeyLogin(copy, device)).status).toBe(200)
    expect((await passkeyLogin(client(), device, { counter: 1 })).status).toBe(401)
    for (const session of [browser, copy]) {
      expect((await session.get('/api/notes')).status).toBe(401)
      expect((await session.refresh()).status).toBe(401)
    }
  })

  it('is recorded, and no more, for a synced one', async () => {
    const { client, device, auth } = await withPasskey()
    expect((await passkeyLogin(client(), device, { counter: 5 })).status).toBe(200)
    expect((await passkeyLogin(client(), device, { counter: 3 })).status).toBe(200)
    expect((await auth.audit.list({ event: 'passkey_counter' })).items).toHaveLength(1)
  })

  it('lets all of twenty through at once that a synced one signs', async () => {
    const { client, device, auth } = await withPasskey()
    expect((await passkeyLogin(client(), device, { counter: 30 })).status).toBe(200)
    const browsers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const phone = client()
        return { phone, options: await loginOptions(phone) }
      }),
    )
    const answers = await Promise.all(
      browsers.map(({ phone, options }, at) =>
        phone.post(path, { response: device.sign(options, { counter: 20 - at }) }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await auth.audit.list({ event: 'passkey_counter' })).items).not.toEqual([])
  })

  it('lets one of twenty through that saw the same one', async () => {
    const { client, device } = await withPasskey({}, { synced: false })
    const browsers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const phone = client()
        return { phone, options: await loginOptions(phone) }
      }),
    )
    const answers = await Promise.all(
      browsers.map(({ phone, options }) => phone.post(path, { response: device.sign(options, { counter: 7 }) })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
  })
})
