import { describe, expect, it } from 'vitest'
import type { SignedIn, TestClient } from '../../../src/testing.js'
import { ada, testAuth } from '../../support/auth.js'
import { type Confirmed, enrol, factorOf, firstStep, totpCode } from '../../support/totp.js'

const path = '/auth/login/two-factor'

/** An account with a second factor, half a minute after that was set up, and the browser that did it. */
async function secured(overrides: Parameters<typeof testAuth>[0] = {}) {
  const world = await testAuth(overrides)
  const browser = world.client()
  await browser.signUp(ada)
  const factor = await enrol(browser, ada.password, world.runtime.clock)
  await world.runtime.clock.advance('30s')
  return { ...world, browser, factor }
}

async function amrOf(client: TestClient): Promise<unknown> {
  return (await client.get<{ principal: { amr: string[] } }>('/api/notes')).body.principal.amr
}

describe('setting up', () => {
  it('shows the secret in three forms, and turns nothing on', async () => {
    const { client } = await testAuth({ twoFactor: { issuer: 'Acme Co' } })
    const browser = client()
    await browser.signUp(ada)
    const { status, body } = await browser.post<Record<string, string>>('/auth/two-factor/totp', {
      password: ada.password,
    })
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['qrCode', 'secret', 'uri'])
    const uri = new URL(body.uri ?? '')
    expect(uri.href).toMatch(/^otpauth:\/\/totp\/Acme%20Co:ada%40example\.test\?/)
    expect(uri.searchParams.get('secret')).toBe(body.secret)
    expect(uri.searchParams.get('issuer')).toBe('Acme Co')
    expect(body.qrCode).toMatch(/^data:image\/svg\+xml;base64,/)
    expect((await client().signIn(ada)).body.user.twoFactor).toBe(false)
  })

  it('is finished by the first code, which gives backup codes and a new session', async () => {
    const { client, runtime } = await testAuth()
    const browser = client()
    const before = await browser.signUp(ada)
    const { body } = await browser.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
    const code = totpCode(body.secret, runtime.clock.now())
    const spaced = ` ${code.slice(0, 3)}-${code.slice(3)}\n`
    const confirmed = await browser.post<Confirmed>('/auth/two-factor/totp/confirm', { code: spaced })
    expect(confirmed).toMatchObject({ status: 200, body: { user: { email: ada.email, twoFactor: true } } })
    expect(confirmed.body.backupCodes).toHaveLength(10)
    expect(confirmed.body.session.id).not.toBe(before.body.session.id)
    expect(confirmed.cookies.map(({ name }) => name).sort()).toEqual(['access-token', 'refresh-token'])
    expect(await amrOf(browser)).toEqual(['pwd', 'otp', 'mfa'])
    expect((await browser.get<{ sessions: unknown[] }>('/auth/sessions')).body.sessions).toHaveLength(1)
  })

  it('gives an app new tokens in place of those that end', async () => {
    const { client, runtime } = await testAuth()
    const app = client({ as: 'token' })
    await app.signUp(ada)
    const former = app.tokens()
    const { body } = await app.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
    const code = totpCode(body.secret, runtime.clock.now())
    // A page that got hold of the token would get cookies for it.
    const bearer = { authorization: `Bearer ${app.tokens()?.accessToken}` }
    const otherMode = await client({ as: 'server' }).post(
      '/auth/two-factor/totp/confirm',
      { code },
      { headers: bearer },
    )
    expect(otherMode).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const confirmed = await app.post('/auth/two-factor/totp/confirm', { code })
    expect(confirmed.body).toMatchObject({
      backupCodes: expect.any(Array),
      accessToken: expect.any(String),
      accessTokenExpiresAt: expect.any(String),
      refreshToken: expect.any(String),
    })
    expect(confirmed.headers.getSetCookie()).toEqual([])
    expect(app.tokens()).not.toEqual(former)
    expect((await app.get('/auth/me')).status).toBe(200)
  })
})

describe('signing in with two steps', () => {
  it('asks for the second step and ends in a session that has proved both', async () => {
    const { client, factor } = await secured()
    const browser = client()
    const asked = await browser.post<{ challenge: string }>('/auth/login', ada)
    expect(asked).toMatchObject({
      status: 200,
      body: { status: 'two_factor_required', methods: ['totp', 'backup_code'] },
    })
    expect(asked.cookies).toMatchObject([{ name: 'two-factor', httpOnly: true, path: '/' }])
    expect((await browser.get('/api/notes')).status).toBe(401)

    const { challenge } = asked.body
    const code = `${factor.code().slice(0, 3)}-${factor.code().slice(3)}\u00a0`
    const passed = await browser.post<SignedIn>(path, { challenge, code })
    expect(passed).toMatchObject({ status: 200, body: { user: { twoFactor: true } } })
    expect(await amrOf(browser)).toEqual(['pwd', 'otp', 'mfa'])
    expect(
      browser.cookies
        .all()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['access-token', 'known-device', 'refresh-token'])
  })

  it('by a backup code tells so in the principal and in the log', async () => {
    const { client, factor } = await secured()
    const browser = client()
    const challenge = await firstStep(browser, ada)
    expect((await browser.post(path, { challenge, code: factor.backupCodes[3] })).status).toBe(200)
    expect(await amrOf(browser)).toEqual(['pwd', 'mfa'])
  })

  it('ends what the browser held before only when the second step is done', async () => {
    const { browser, factor } = await secured()
    const former = browser.copy()
    const challenge = await firstStep(browser, ada)
    expect((await former.get('/api/notes')).status).toBe(200)
    expect((await browser.post(path, { challenge, code: factor.code() })).status).toBe(200)
    expect((await former.get('/api/notes')).status).toBe(401)
  })

  it('gives an app challenge and tokens in the body and no cookie', async () => {
    const { client, factor } = await secured()
    const app = client({ as: 'token' })
    const asked = await app.post<{ challenge: string }>('/auth/login', ada)
    expect(asked.headers.getSetCookie()).toEqual([])
    const passed = await app.post(path, { challenge: asked.body.challenge, code: factor.code() })
    expect(passed.headers.getSetCookie()).toEqual([])
    expect((await app.get('/api/notes')).status).toBe(200)
    expect((await app.post(path, { code: factor.code() })).body).toMatchObject({ code: 'invalid_token' })
  })

  it('leads a form without script from page to page, the challenge in a cookie and never in an address', async () => {
    const { client, factor } = await secured()
    const browser = client()
    const page = await browser.submit('/auth/login', ada)
    expect(page.status).toBe(200)
    expect(page.url.pathname + page.url.search).toBe('/auth/two-factor')
    expect(page.text).toContain('action="/auth/login/two-factor"')
    expect(page.text).toContain('autocomplete="one-time-code"')
    expect(page.text).not.toContain(browser.cookies.get('two-factor'))
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")

    const again = await browser.submit(path, { code: factor.wrongCode() })
    expect(again.url.pathname + again.url.search).toBe('/auth/two-factor?error=invalid_code')
    expect(again.text).toContain('The code is wrong.')
    expect(again.text).toContain('action="/auth/login/two-factor"')

    const home = await browser.submit(path, { code: factor.code() })
    expect(home.url.pathname).toBe('/')
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect(browser.cookies.get('two-factor')).toBeNull()
  })

  it('leads a form back to the sign-in page when the sign-in has ended', async () => {
    const { client, factor, runtime } = await secured()
    const browser = client()
    expect((await browser.open('/auth/two-factor')).text).not.toContain('<form')
    await browser.submit('/auth/login', ada)
    await runtime.clock.advance('5m')
    const late = await browser.submit(path, { code: factor.code() })
    expect(late.url.search).toBe('?error=invalid_token')
    expect(late.text).not.toContain('<form')
    expect(late.text).toContain('href="/auth/login"')
  })
})

describe('backup codes', () => {
  it('are given anew, and only where a factor is on', async () => {
    const { browser, factor, client } = await secured()
    const renewed = await browser.post<{ backupCodes: string[] }>('/auth/two-factor/backup-codes', {
      password: ada.password,
      code: factor.code(),
    })
    expect(renewed.status).toBe(200)
    expect(Object.keys(renewed.body)).toEqual(['backupCodes'])
    expect(renewed.body.backupCodes).toHaveLength(10)

    const plain = client()
    await plain.signUp({ ...ada, email: 'grace@example.test' })
    const body = { password: ada.password, code: '123456' }
    expect((await plain.post('/auth/two-factor/backup-codes', body)).body).toMatchObject({ code: 'not_found' })
    expect((await plain.delete('/auth/two-factor', body)).body).toMatchObject({ code: 'not_found' })
  })
})

describe('turning off', () => {
  it('leaves the browser signed in under a new session that has proved the password alone', async () => {
    const { browser, factor, client } = await secured()
    const before = await browser.get<SignedIn>('/auth/me')
    const off = await browser.delete('/auth/two-factor', { password: ada.password, code: factor.code() })
    expect([off.status, off.text]).toEqual([204, ''])
    expect(off.cookies.map(({ name }) => name).sort()).toEqual(['access-token', 'refresh-token'])
    const after = await browser.get<SignedIn>('/auth/me')
    expect(after.body.user.twoFactor).toBe(false)
    expect(after.body.session.id).not.toBe(before.body.session.id)
    expect(await amrOf(browser)).toEqual(['pwd'])
    expect((await client().signIn(ada)).body.user.twoFactor).toBe(false)
  })

  it('gives an app its new tokens, which an empty answer could not', async () => {
    const { client, factor } = await secured()
    const app = client({ as: 'token' })
    const challenge = await firstStep(app, ada)
    await app.post(path, { challenge, code: factor.code() })
    const body = { password: ada.password, code: factor.backupCodes[0] }
    const bearer = { authorization: `Bearer ${app.tokens()?.accessToken}` }
    const otherMode = await client({ as: 'server' }).delete('/auth/two-factor', body, { headers: bearer })
    expect(otherMode).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const off = await app.delete('/auth/two-factor', body)
    expect(off).toMatchObject({
      status: 200,
      body: { user: { twoFactor: false }, accessToken: expect.any(String), refreshToken: expect.any(String) },
    })
    expect((await app.get('/api/notes')).status).toBe(200)
  })

  it('by a form of ours ends in a redirect', async () => {
    const { browser, factor } = await secured()
    const fields = { _method: 'DELETE', password: ada.password, code: factor.code() }
    expect((await browser.submit('/auth/two-factor', fields)).url.pathname).toBe('/auth/account')
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { twoFactor: false } })
  })

  it('and on again works with a new authenticator', async () => {
    const { browser, factor, runtime, client } = await secured()
    await browser.delete('/auth/two-factor', { password: ada.password, code: factor.code() })
    const again = await enrol(browser, ada.password, runtime.clock)
    expect(again.secret).not.toBe(factor.secret)
    const { secret, backupCodes } = again
    const own = factorOf(secret, backupCodes, runtime.clock)
    const other = client()
    const challenge = await firstStep(other, ada)
    expect((await other.post(path, { challenge, code: factor.backupCodes[1] })).status).toBe(401)
    expect((await other.post(path, { challenge, code: await own.nextCode() })).status).toBe(200)
  })
})
