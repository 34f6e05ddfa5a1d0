import { describe, expect, it, onTestFinished } from 'vitest'
import type { SessionPrincipal } from '../../../src/index.js'
import type { TestClient, TestMailbox } from '../../../src/testing.js'
import { attackServer } from '../../support/attack-server.js'
import { ada, testAuth } from '../../support/auth.js'
import { adaAtGoogle, enterAs, oauthWorld } from '../../support/oauth.js'

const newPassword = 'analytical engine 1843'

async function tokenFor(browser: TestClient, mailbox: TestMailbox, email = ada.email): Promise<string> {
  expect((await browser.post('/auth/password/forgot', { email })).status).toBe(202)
  return mailbox.token(await mailbox.waitFor(email, 'Choose a new password'))
}

describe('a forgotten password', () => {
  it('is replaced by the mailed link, which signs nobody in, and the owner is told', async () => {
    const { client, mailbox, auth } = await testAuth()
    await client().signUp({ ...ada, name: 'Ada' })
    const browser = client()
    const asked = await browser.post('/auth/password/forgot', { email: ' ADA@example.test ' })
    expect(asked).toMatchObject({ status: 202, body: { status: 'reset_sent' } })

    const mail = await mailbox.waitFor(ada.email, 'Choose a new password')
    expect(mail.text).toMatch(/^Hello Ada,\n/)
    expect(mail.text).toContain('30 minutes')
    const token = mailbox.token(mail)
    const answer = await browser.post('/auth/password/reset', { token, password: newPassword })
    expect(answer).toMatchObject({ status: 200, body: { status: 'password_changed' } })
    expect(answer.cookies).toEqual([])
    expect(answer.text).not.toContain('eyJ')
    expect((await browser.get('/auth/me')).status).toBe(401)

    expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await browser.signIn({ ...ada, password: newPassword })).body.user.email).toBe(ada.email)
    const notice = await mailbox.waitFor(ada.email, 'Your password was changed')
    expect(notice.text).not.toMatch(/https?:/)
    const { items } = await auth.audit.list({ event: 'password_reset' })
    expect(items).toMatchObject([{ userId: expect.any(String), outcome: 'success', detail: { firstProof: false } }])
  })

  it('is answered by the same page with and without an account, which offers a code where codes are on', async () => {
    const { client, mailbox } = await testAuth({ limits: { mail: { ip: '100/1m', account: '3/15m' } } })
    await client().signUp(ada)
    const pages: string[] = []
    for (const email of [ada.email, ada.email, ada.email, ada.email, 'stranger@example.test']) {
      pages.push((await client().submit('/auth/password/forgot', { email })).text)
    }
    expect(new Set(pages).size).toBe(1)
    expect(pages[0]).toContain('An address gets only a few mails a day.')
    expect(pages[0]).toContain('<a href="/auth/otp">Email me a sign-in code</a>')
    const links = () => mailbox.mails.filter(({ subject }) => subject.startsWith('Choose a new password'))
    await expect.poll(() => links().length).toBe(3)

    const without = await testAuth({ otp: { enabled: false } })
    const { text } = await without.client().submit('/auth/password/forgot', { email: ada.email })
    expect(text).toContain('a mail with a link is on its way')
    expect(text).not.toContain('/auth/otp')
  })

  it('is asked for again after a weak one, with the same link', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const token = await tokenFor(browser, mailbox)
    for (const [password, reason] of [
      ['short', 'too_short'],
      ['password1234', 'common'],
      ['ada@example.test!', 'similar_to_email'],
    ]) {
      const refused = await browser.post('/auth/password/reset', { token, password })
      expect(refused).toMatchObject({ status: 422, body: { code: 'weak_password' } })
      expect(refused.body).toHaveProperty('reasons', expect.arrayContaining([reason]))
    }
    expect((await browser.get('/auth/me')).status).toBe(200)
    expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(200)
  })

  it('on an account that nobody had verified leaves nothing of what somebody planted', async () => {
    const { client, mailbox, auth } = await testAuth({ registration: { emailVerification: 'optional' } })
    const planter = client()
    await planter.signUp({ ...ada, name: 'Evil' })
    const confirmation = mailbox.token(await mailbox.waitFor(ada.email, 'Confirm'))

    const owner = client()
    await owner.post('/auth/password/forgot', { email: ada.email })
    const mail = await mailbox.waitFor(ada.email, 'Choose a new password')
    expect(mail.text).not.toContain('Evil')
    await owner.post('/auth/password/reset', { token: mailbox.token(mail), password: newPassword })

    expect(await auth.users.findByEmail(ada.email)).toMatchObject({ emailVerified: true, name: null })
    expect((await planter.get('/api/notes')).status).toBe(401)
    expect((await planter.refresh()).status).toBe(401)
    expect((await planter.post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    const late = await planter.post('/auth/verify-email', { token: confirmation })
    expect(late.body).toMatchObject({ code: 'invalid_token' })
    expect((await owner.signIn({ ...ada, password: newPassword })).status).toBe(200)
    await mailbox.waitFor(ada.email, 'Your password was changed')
    const { items } = await auth.audit.list({ event: 'password_reset' })
    const { id } = (await auth.users.findByEmail(ada.email)) ?? {}
    expect(items).toMatchObject([{ userId: id, outcome: 'success', detail: { firstProof: true } }])
  })

  it('gives an account without a password its first one', async () => {
    const { client, mailbox, auth } = await testAuth()
    await auth.users.create({ email: ada.email, name: 'Ada', emailVerified: true })
    const browser = client()
    expect((await browser.post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    const token = await tokenFor(browser, mailbox)
    await browser.post('/auth/password/reset', { token, password: ada.password })
    expect((await browser.signIn(ada)).body.user).toMatchObject({ name: 'Ada' })
  })
})

describe('the pages of a forgotten password', () => {
  it('ask for the address and set the password without a script', async () => {
    const { client, mailbox } = await testAuth()
    await client().signUp(ada)
    const browser = client()
    const page = await browser.open('/auth/forgot')
    expect(page.text).toContain('<form method="post" action="/auth/password/forgot">')
    expect(page.text).not.toMatch(/<script(?! src="\/auth\/assets\/)/)
    const sent = await browser.submit('/auth/password/forgot', { email: ada.email })
    expect(sent.url.pathname + sent.url.search).toBe('/auth/forgot?done=1')
    expect(sent.text).toContain('a mail with a link is on its way')

    const link = mailbox.link(await mailbox.waitFor(ada.email, 'Choose a new password'))
    const opened = await browser.open(link)
    const token = new URL(link).searchParams.get('token') ?? ''
    expect(opened.text).toContain(`<input type="hidden" name="token" value="${token}">`)
    expect(opened.text).toMatch(/autocomplete="new-password" minlength="10"/)
    expect(opened.headers.get('referrer-policy')).toBe('strict-origin')

    const refused = await browser.submit('/auth/password/reset', { token, password: 'password12' })
    expect(refused.text).toContain('Choose a stronger password.')
    expect(refused.text).toContain(`value="${token}"`)
    const done = await browser.submit('/auth/password/reset', { token, password: newPassword })
    expect(done.url.search).toBe('?done=1')
    expect(done.text).toContain('Your password is changed')
    expect(done.text).toContain('href="/auth/login"')
    await browser.signIn({ ...ada, password: newPassword })
  })

  it('lead back with the reason when the address or the link is refused', async () => {
    const { client } = await testAuth()
    const browser = client()
    const noAddress = await browser.submit('/auth/password/forgot', { email: 'no address' })
    expect(noAddress.text).toContain('Please check what you have entered')
    const badLink = await browser.submit('/auth/password/reset', { token: 'x&done=1', password: newPassword })
    expect(badLink.url.search).toBe('?error=invalid_token&proof=link')
    expect(badLink.text).toContain('It may have been used, replaced by a newer one, or expired.')
    expect(badLink.text).toContain('href="/auth/forgot"')
    const noLink = await browser.open('/auth/reset')
    expect(noLink.text).not.toContain('<form')
    const tooLong = await browser.submit('/auth/password/reset', { token: 'x'.repeat(10_000), password: newPassword })
    expect(tooLong.url.search).toBe('?error=invalid_request')
  })

  it('are not consumed by opening or by a scanner', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const token = await tokenFor(browser, mailbox)
    for (let look = 0; look < 3; look += 1) await client({ as: 'server' }).get(`/auth/reset?token=${token}`)
    expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(200)
  })
})

describe('a password change', () => {
  it('ATK-065 begins a new session and ends every older one, the caller’s own tokens too', async () => {
    const { client, mailbox } = await testAuth()
    const [browser, phone] = [client(), client()]
    const first = await browser.signUp(ada)
    await phone.signIn(ada)
    const copied = browser.copy()

    const answer = await browser.post<typeof first.body>('/auth/password/change', {
      currentPassword: ada.password,
      newPassword,
    })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body).sort()).toEqual(['session', 'user'])
    expect(answer.body.session.id).not.toBe(first.body.session.id)
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect((await browser.refresh()).status).toBe(200)

    for (const ended of [phone, copied]) {
      expect((await ended.get('/api/notes')).status).toBe(401)
      expect((await ended.refresh()).body).toMatchObject({ code: 'token_revoked' })
    }
    const { body } = await browser.get<{ sessions: unknown[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(1)
    await mailbox.waitFor(ada.email, 'Your password was changed')
    expect((await client().post('/auth/login', ada)).status).toBe(401)
    await client().signIn({ ...ada, password: newPassword })
  })

  it('proves the user anew, and keeps how they came; a first password proves nothing', async () => {
    const world = await oauthWorld()
    const { runtime, passed, mailbox } = world
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    const principal = async () => {
      expect((await browser.get('/api/notes')).status).toBe(200)
      return passed.at(-1)?.principal
    }
    const seconds = () => Math.floor(runtime.clock.now() / 1000)
    const cameAt = seconds()
    await runtime.clock.advance('4m')
    expect((await browser.post('/auth/password/change', { newPassword })).status).toBe(200)
    expect(await principal()).toMatchObject({ amr: ['fed'], authTime: cameAt })

    await runtime.clock.advance('10m')
    const change = { currentPassword: newPassword, newPassword: 'difference engine 1822' }
    expect((await browser.post('/auth/password/change', change)).status).toBe(200)
    expect(await principal()).toMatchObject({ amr: ['fed', 'pwd'], authTime: seconds() })
    const { userId, sessionId } = (await principal()) as SessionPrincipal
    const { items } = await world.auth.audit.list({ event: 'password_changed' })
    expect(items[0]).toMatchObject({ userId, sessionId, outcome: 'success' })
    await mailbox.waitFor(adaAtGoogle.email, 'Your password was changed')
  })

  it('works without cookies, and keeps to the way the session came', async () => {
    const { client } = await testAuth()
    const app = client({ as: 'token' })
    await app.signUp(ada)
    const bearer = { authorization: `Bearer ${app.tokens()?.accessToken}` }
    const change = { currentPassword: ada.password, newPassword }
    const otherMode = await client({ as: 'server' }).post('/auth/password/change', change, { headers: bearer })
    expect(otherMode.body).toMatchObject({ code: 'forbidden' })

    const answer = await app.post('/auth/password/change', change)
    expect(answer.body).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await app.get('/api/notes')).status).toBe(200)
  })

  it('refuses a wrong or missing password, a weak one, and nobody, and changes nothing', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const change = (body: unknown, by = browser) => by.post('/auth/password/change', body)
    const wrong = await change({ currentPassword: 'wrong wrong wrong', newPassword })
    expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
    expect((await change({ newPassword })).body).toMatchObject({ code: 'invalid_credentials' })
    const weak = await change({ currentPassword: ada.password, newPassword: 'password12' })
    expect(weak).toMatchObject({ status: 422, body: { code: 'weak_password', reasons: ['common'] } })
    expect((await change({ currentPassword: ada.password, newPassword }, client())).body).toMatchObject({
      code: 'unauthenticated',
    })
    expect((await browser.get('/api/notes')).status).toBe(200)
    await client().signIn(ada)
    expect(mailbox.mails).toHaveLength(1)
  })

  it('of many at once is done once, and one session is left', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const passwords = Array.from({ length: 10 }, (_, index) => `analytical engine ${index}`)
    const answers = await Promise.all(
      passwords.map((password) =>
        browser.copy().post('/auth/password/change', { currentPassword: ada.password, newPassword: password }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses).toContain(401)
    // On a machine with few cores, some find no place in the queue of password computations, which change nothing either.
    for (const status of statuses) expect([200, 401, 503]).toContain(status)
    const winner = passwords[statuses.indexOf(200)] ?? ''
    const again = client()
    await again.signIn({ ...ada, password: winner })
    const { body } = await again.get<{ sessions: unknown[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(2)
  })

  it('survives a role that changes meanwhile', async () => {
    const { client, auth } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    const [answer] = await Promise.all([
      browser.post('/auth/password/change', { currentPassword: ada.password, newPassword }),
      auth.users.update(body.user.id, { roles: ['EDITOR'] }),
    ])
    expect(answer.status).toBe(200)
    await browser.refresh()
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { roles: ['EDITOR'] } })
  })

  it('takes a sign-in at most five minutes old where the account has no password', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    const [recent, late] = [server.client(), server.client()]
    await recent.signUp(ada)
    await late.signUp({ ...ada, email: 'grace@example.test' })
    // As after a sign-in by a provider or a mailed code.
    server.sql('update latchkey_users set password_hash = null')
    await server.runtime.clock.advance('5m')
    expect((await recent.post('/auth/password/change', { newPassword })).status).toBe(200)
    await server.runtime.clock.advance('1s')
    const answer = await late.post('/auth/password/change', { newPassword })
    expect(answer).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
    await server.client().signIn({ ...ada, password: newPassword })
  })

  it('leads a form that failed back to the account page', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const fields = { currentPassword: 'wrong wrong wrong', newPassword }
    const { url } = await browser.submit('/auth/password/change', fields)
    expect(url.pathname + url.search).toBe('/auth/account?error=invalid_credentials&at=password')
  })
})
