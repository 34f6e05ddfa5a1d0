import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SignedIn } from '../../../src/testing.js'
import { ada, testAuth } from '../../support/auth.js'

describe('an account', () => {
  it('registers, confirms by one click in the same browser, signs in, calls the API, refreshes and signs out', async () => {
    const { client, passed, runtime } = await testAuth()
    const browser = client()
    expect((await browser.get('/api/notes')).status).toBe(401)

    const { body } = await browser.signUp({ ...ada, name: 'Ada' })
    expect(body.user).toMatchObject({ email: ada.email, emailVerified: true, name: 'Ada', roles: [] })
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect(passed[0]?.principal).toMatchObject({ kind: 'session', userId: body.user.id, email: ada.email })

    await runtime.clock.advance('16m')
    expect((await browser.get('/api/notes')).body).toMatchObject({ code: 'unauthenticated' })
    expect((await browser.refresh()).status).toBe(200)
    expect((await browser.get('/api/notes')).status).toBe(200)

    expect((await browser.signOut()).status).toBe(204)
    expect(browser.cookies.all().map(({ name }) => name)).toEqual(['known-device'])
    expect((await browser.get('/api/notes')).body).toMatchObject({ code: 'unauthenticated' })
    expect((await browser.signIn(ada)).body.user.lastLoginAt).not.toBeNull()
  })

  it('confirms by the code where it was registered', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    const code = mailbox.code(await mailbox.waitFor(ada.email))
    const answer = await browser.post('/auth/verify-email', { email: ada.email, code })
    expect(answer.status).toBe(200)
    expect((await browser.get('/auth/me')).status).toBe(200)
  })

  it('works without cookies for a client that says so, and tokens are nowhere else', async () => {
    const { client } = await testAuth()
    const app = client({ as: 'token' })
    const { body, cookies } = await app.signUp(ada)
    expect(cookies).toEqual([])
    expect(body.accessToken).toBeTypeOf('string')
    expect((await app.get('/api/notes')).status).toBe(200)
    expect((await app.refresh()).body.refreshToken).toBeTypeOf('string')

    const browser = client()
    const signedIn = await browser.signIn(ada)
    expect(Object.keys(signedIn.body).sort()).toEqual(['session', 'user'])
    expect(signedIn.text).not.toContain('eyJ')
  })

  it('refuses token mode to browsers, so a script cannot trade the cookie for a token', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const answer = await browser.post('/auth/refresh', {}, { headers: { 'x-auth-mode': 'token' } })
    expect(answer.body).toMatchObject({ status: 403, code: 'forbidden' })
    expect(answer.text).not.toContain('eyJ')
  })

  it('takes a refresh token in the body only with the header that says so, so that no sign-out is told that was none', async () => {
    const { client } = await testAuth()
    const { refreshToken } = (await client({ as: 'token' }).signUp(ada)).body
    const server = client({ as: 'server' })
    for (const path of ['/auth/logout', '/auth/refresh']) {
      const answer = await server.post(path, { refreshToken })
      expect(answer.body, path).toMatchObject({ code: 'invalid_request', errors: [{ path: 'X-Auth-Mode' }] })
    }
    const browser = client()
    await browser.signIn(ada)
    expect((await browser.post('/auth/logout', { refreshToken })).status, 'a browser has its cookie').toBe(204)
    const headers = { 'x-auth-mode': 'token' }
    expect((await server.post('/auth/logout', { refreshToken }, { headers })).status).toBe(204)
    const after = await server.post('/auth/refresh', { refreshToken }, { headers })
    expect(after.body).toMatchObject({ code: 'token_revoked' })
  })

  it('lists sessions and ends one, or all others', async () => {
    const { client } = await testAuth()
    const [laptop, phone, tablet] = [client(), client(), client()]
    await laptop.signUp(ada)
    await phone.signIn(ada)
    await tablet.signIn(ada)

    const { body } = await laptop.get<{ sessions: { id: string; current: boolean }[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(3)
    expect(body.sessions.filter((session) => session.current)).toHaveLength(1)

    const phoneId = (await phone.get<{ session: { id: string } }>('/auth/me')).body.session.id
    expect((await laptop.delete(`/auth/sessions/${phoneId}`)).status).toBe(204)
    expect((await phone.get('/api/notes')).body).toMatchObject({ code: 'token_revoked' })
    expect((await tablet.get('/api/notes')).status).toBe(200)

    expect((await laptop.delete('/auth/sessions')).status).toBe(204)
    expect((await tablet.get('/api/notes')).status).toBe(401)
    expect((await laptop.get('/api/notes')).status).toBe(200)
  })

  it('ATK-074 does not end a session of somebody else', async () => {
    const { client } = await testAuth()
    const [alice, bob] = [client(), client()]
    await alice.signUp(ada)
    await bob.signUp({ ...ada, email: 'bob@example.test' })
    const id = (await alice.get<{ session: { id: string } }>('/auth/me')).body.session.id
    expect((await bob.delete(`/auth/sessions/${id}`)).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await alice.get('/api/notes')).status).toBe(200)
  })

  it('changes the name, keeps nothing the owner has no schema for, and deletes itself after the password', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const changed = await browser.patch('/auth/me', { name: ' Ada Lovelace ', roles: ['ADMIN'], emailVerified: false })
    expect(changed.body).toMatchObject({ user: { name: 'Ada Lovelace', roles: [], emailVerified: true } })

    expect((await browser.delete('/auth/me', { password: 'wrong' })).body).toMatchObject({
      code: 'invalid_credentials',
    })
    const copy = browser.copy()
    expect((await browser.delete('/auth/me', { password: ada.password })).status).toBe(204)
    expect((await copy.get('/api/notes')).status).toBe(401)
    expect((await copy.refresh()).status).toBe(401)
    expect((await browser.post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
  })

  it('changes extra fields one by one, by the owner’s schema over all of them', async () => {
    const schema = z.strictObject({ theme: z.enum(['light', 'dark']).default('light'), city: z.string().optional() })
    const { auth, client } = await testAuth({ registration: { fields: schema } })
    const browser = client()
    const { body } = await browser.signUp({ ...ada, name: 'Ada', city: 'London' })
    const change = (input: object) => browser.patch('/auth/me', input)
    expect((await change({ theme: 'dark' })).body).toMatchObject({
      user: { name: 'Ada', theme: 'dark', city: 'London' },
    })
    expect((await change({ name: 'Ada Lovelace' })).body).toMatchObject({
      user: { name: 'Ada Lovelace', theme: 'dark', city: 'London' },
    })
    expect(await change({ theme: 'pink' })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await change({ admin: true })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const { user } = (await browser.get<SignedIn>('/auth/me')).body
    expect(user).toMatchObject({ name: 'Ada Lovelace', theme: 'dark', city: 'London' })
    const { items } = await auth.audit.list({ event: 'profile_changed' })
    const by = { userId: body.user.id, sessionId: body.session.id, outcome: 'success' }
    expect(items).toEqual([expect.objectContaining(by), expect.objectContaining(by)])
  })

  it('shows extra fields on the account page without opening the form', async () => {
    const schema = z.object({ city: z.string(), newsletter: z.boolean().default(false), age: z.number().optional() })
    const { client } = await testAuth({ registration: { fields: schema } })
    const browser = client()
    await browser.signUp({ ...ada, city: 'London' })
    const { text } = await browser.get('/auth/account', { headers: { accept: 'text/html' } })
    const [, summary = ''] = /id="profile"[\s\S]*?<summary[^>]*>([\s\S]*?)<\/summary>/.exec(text) ?? []
    expect(summary).toContain('City: <bdi>London</bdi>')
    expect(summary).toContain('Newsletter: Off')
    expect(summary).toContain('Age: –')
  })

  it('signs in at once where verification is optional, and the mail confirms later', async () => {
    const { client, mailbox } = await testAuth({ registration: { emailVerification: 'optional' } })
    const browser = client()
    const registered = await browser.post('/auth/register', ada)
    expect(registered).toMatchObject({ status: 201, body: { user: { emailVerified: false } } })
    expect((await client().post('/auth/register', ada)).body).toMatchObject({ code: 'email_taken' })

    const token = new URL(mailbox.link(await mailbox.waitFor(ada.email))).searchParams.get('token')
    const confirmed = await browser.post('/auth/verify-email', { token })
    expect(confirmed).toMatchObject({ status: 200, body: { user: { emailVerified: true } } })
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('says email_not_verified only after the right password, with a new mail', async () => {
    const { client, mailbox } = await testAuth()
    await client().post('/auth/register', ada)
    await mailbox.waitFor(ada.email)
    const elsewhere = client()
    expect((await elsewhere.post('/auth/login', { ...ada, password: 'wrong wrong' })).body).toMatchObject({
      code: 'invalid_credentials',
    })
    expect(mailbox.mails).toHaveLength(1)
    expect((await elsewhere.post('/auth/login', ada)).body).toMatchObject({
      status: 403,
      code: 'email_not_verified',
      mailSent: true,
    })
    await expect.poll(() => mailbox.mails.length).toBe(2)
  })

  it('ATK-073 gives every sign-in a session of its own and ends the one this browser held before', async () => {
    const { client } = await testAuth()
    const browser = client()
    const first = await browser.signUp(ada)
    const formerBrowser = browser.copy()
    const second = await browser.signIn(ada)
    expect(second.body.session.id).not.toBe(first.body.session.id)
    expect((await formerBrowser.get('/api/notes')).status).toBe(401)
    expect((await formerBrowser.refresh()).status).toBe(401)
  })

  it('ATK-064 signs out without or with broken cookies, and never by GET', async () => {
    const { client } = await testAuth()
    expect((await client().post('/auth/logout')).status).toBe(204)
    const broken = await client({ as: 'server' }).post('/auth/logout', undefined, {
      headers: { cookie: 'access-token=x; refresh-token=%%', origin: 'http://localhost:3000' },
    })
    expect(broken.status).toBe(204)
    expect(broken.headers.getSetCookie()).toHaveLength(2)

    const browser = client()
    await browser.signUp(ada)
    expect((await browser.get('/auth/logout')).status).toBe(405)
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('ATK-063 really ends a session: copies of both tokens are worth nothing', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const thief = browser.copy()
    await browser.signOut()
    expect((await thief.get('/api/notes')).body).toMatchObject({ code: 'token_revoked' })
    expect((await thief.refresh()).body).toMatchObject({ code: 'token_revoked' })
  })

  it('ATK-075 keeps at most maxSessions, the oldest goes', async () => {
    const { client } = await testAuth({ maxSessions: 3 })
    const first = client()
    await first.signUp(ada)
    const later = [client(), client(), client()]
    for (const browser of later) await browser.signIn(ada)
    expect((await first.get('/api/notes')).status).toBe(401)
    for (const browser of later) expect((await browser.get('/api/notes')).status).toBe(200)
  })
})

describe('the page behind the mailed link', () => {
  it('ATK-033 changes nothing when it is opened, however often, and confirms by its form without a script', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    const link = new URL(mailbox.link(await mailbox.waitFor(ada.email)))
    for (let visit = 0; visit < 3; visit += 1) {
      const page = await browser.get<string>(link.pathname + link.search)
      expect(page.status).toBe(200)
      expect(page.body).not.toContain('type="password"')
    }
    expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'email_not_verified' })
    const latest = new URL(mailbox.link(await mailbox.waitFor(ada.email)))
    await browser.submit('/auth/verify-email', { token: latest.searchParams.get('token') ?? '' })
    expect((await browser.get('/auth/me')).status).toBe(200)
  })

  it('ATK-034 asks another browser for the password, and shows it again with the link when it was wrong', async () => {
    const { client, mailbox } = await testAuth()
    await client().post('/auth/register', ada)
    const link = new URL(mailbox.link(await mailbox.waitFor(ada.email)))
    const token = link.searchParams.get('token') ?? ''
    const elsewhere = client()
    expect((await elsewhere.get<string>(link.pathname + link.search)).body).toContain('type="password"')

    const wrong = await elsewhere.submit('/auth/verify-email', { token, password: 'not the password' })
    expect(wrong.url.searchParams.get('error')).toBe('invalid_credentials')
    expect(wrong.body).toContain(token)
    expect(wrong.body).toContain('role="alert"')

    await elsewhere.submit('/auth/verify-email', { token, password: ada.password })
    expect((await elsewhere.get('/auth/me')).status).toBe(200)
    expect((await client().post('/auth/verify-email', { token })).body).toMatchObject({ code: 'invalid_token' })
  })

  it('gets its stylesheet by a name that may be cached for ever', async () => {
    const { client } = await testAuth()
    const page = await client().get<string>('/auth/verify-email')
    const [, href = ''] = /href="([^"]+\.css)"/.exec(page.body) ?? []
    const css = await client().get(href)
    expect([css.status, css.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  })
})
