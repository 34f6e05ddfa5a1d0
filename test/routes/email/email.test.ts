import { describe, expect, it, onTestFinished } from 'vitest'
import type { TestClient, TestMailbox } from '../../../src/testing.js'
import { attackServer, claimsOf, heldTokens } from '../../support/attack-server.js'
import { ada, type TestAuth, testAuth } from '../../support/auth.js'
import { inTurn, ipOf, limitedAuth, networkOf, times } from '../../support/limits.js'
import { enrol, firstStep } from '../../support/totp.js'

const next = 'ada@new.example.test'
const confirmSubject = 'Confirm your new email address'
const noticeSubject = 'Your email address was changed'
const restoredSubject = 'Your account has its former email address again'

async function tokenFor(browser: TestClient, mailbox: TestMailbox, newEmail = next): Promise<string> {
  const answer = await browser.post('/auth/email/change', { newEmail, password: ada.password })
  expect(answer).toMatchObject({ status: 202, body: { status: 'confirmation_sent' } })
  return mailbox.token(await mailbox.waitFor(newEmail, confirmSubject))
}

/** Changes the address and returns the token of the notice to the former one. */
async function moved(browser: TestClient, mailbox: TestMailbox, to = next, from = ada.email): Promise<string> {
  const token = await tokenFor(browser, mailbox, to)
  expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
  return mailbox.token(await mailbox.waitFor(from, noticeSubject))
}

const fewGuesses = { limits: { guess: { account: '5/1h' } } }

/** From ever other addresses, until no code of the account is compared any more. */
async function burnGuesses(client: TestAuth['client'], email: string, code: string): Promise<void> {
  await inTurn(6, async (index) => {
    const thief = client({ ip: ipOf(index + 10) })
    return thief.post('/auth/login/two-factor', { challenge: await firstStep(thief, { ...ada, email }), code })
  })
}

describe('a change of the address', () => {
  it('happens when the new address confirms, keeps the sessions and tells the former address', async () => {
    const { client, mailbox } = await testAuth()
    const [browser, phone] = [client(), client()]
    await browser.signUp({ ...ada, name: 'Ada' })
    await phone.signIn(ada)
    const token = await tokenFor(browser, mailbox)
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: ada.email } })
    expect((await client().post('/auth/login', { ...ada, email: next })).status).toBe(401)

    const confirmed = await browser.post('/auth/email/confirm', { token })
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'email_changed' } })
    expect((await browser.get('/api/notes')).body).toMatchObject({ principal: { email: next, emailVerified: true } })
    expect((await phone.get('/api/notes')).body).toMatchObject({ code: 'token_expired' })
    expect((await phone.refresh()).body).toMatchObject({ user: { email: next, emailVerified: true, name: 'Ada' } })
    expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    await client().signIn({ ...ada, email: next })

    const notice = await mailbox.waitFor(ada.email, noticeSubject)
    expect(mailbox.link(notice)).toMatch(/^http:\/\/localhost:3000\/auth\/email-undo\?token=[\w-]{43}$/)
    expect(notice.text + notice.html).not.toContain('new.example')
    expect(notice.text).toContain('7 days')
  })

  it('keeps the address as it was typed, and writes to its canonical form', async () => {
    const { client, mailbox, auth } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const typed = ' Ada.Lovelace@Bücher.example '
    await browser.post('/auth/email/change', { newEmail: typed, password: ada.password })
    const mail = await mailbox.waitFor('ada.lovelace@xn--bcher-kva.example', confirmSubject)
    expect(mailbox.link(mail)).toMatch(/^http:\/\/localhost:3000\/auth\/email-change\?token=[\w-]{43}$/)
    expect(mail.text).toContain('60 minutes')
    expect(mail.text + mail.html).not.toContain(ada.email)
    await browser.post('/auth/email/confirm', { token: mailbox.token(mail) })
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: typed.trim() } })
    expect(await auth.users.findByEmail('ADA.lovelace@xn--bcher-kva.example')).not.toBeNull()
  })

  it('is refused without an address, to the account’s own one, without the password and for nobody', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const change = (body: unknown, by = browser) => by.post('/auth/email/change', body)
    for (const newEmail of [ada.email, ' ADA@example.test']) {
      const own = await change({ newEmail, password: ada.password })
      expect(own).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'newEmail' }] } })
    }
    expect((await change({ newEmail: 'no address', password: ada.password })).body).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'newEmail' }],
    })
    const wrong = await change({ newEmail: next, password: 'wrong wrong wrong' })
    expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
    expect((await change({ newEmail: next, password: ada.password }, client())).body).toMatchObject({
      code: 'unauthenticated',
    })
    expect(mailbox.mails).toHaveLength(1)
  })

  it('takes a sign-in at most five minutes old where the account has no password', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    const browser = server.client()
    await browser.signUp(ada)
    server.sql('update latchkey_users set password_hash = null')
    await server.runtime.clock.advance('5m')
    expect((await browser.post('/auth/email/change', { newEmail: next })).status).toBe(202)
    await server.runtime.clock.advance('1s')
    const late = await browser.post('/auth/email/change', { newEmail: 'later@example.test' })
    expect(late).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
  })

  it('is replaced by a newer one, ends after an hour, and ends with a change of the password', async () => {
    const { client, mailbox, runtime } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const confirm = (token: string) => client().post('/auth/email/confirm', { token })
    const replaced = await tokenFor(browser, mailbox)
    const expired = await tokenFor(browser, mailbox, 'second@example.test')
    expect((await confirm(replaced)).body).toMatchObject({ status: 400, code: 'invalid_token' })
    await runtime.clock.advance('1h')
    expect((await confirm(expired)).body).toMatchObject({ code: 'invalid_token' })

    await browser.signIn(ada)
    const shut = await tokenFor(browser, mailbox, 'third@example.test')
    const change = { currentPassword: ada.password, newPassword: 'analytical engine 1843' }
    expect((await browser.post('/auth/password/change', change)).status).toBe(200)
    expect((await confirm(shut)).body).toMatchObject({ code: 'invalid_token' })

    await browser.post('/auth/email/change', { newEmail: next, password: change.newPassword })
    const last = mailbox.token(await mailbox.waitFor(next, confirmSubject))
    await runtime.clock.advance('3599s')
    expect((await confirm(last)).status).toBe(200)
  })

  it('answers 409 when the address was taken meanwhile, and may be tried again', async () => {
    const { client, mailbox, auth } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const token = await tokenFor(browser, mailbox)
    const { id } = await auth.users.create({ email: next })
    const taken = await browser.post('/auth/email/confirm', { token })
    expect(taken).toMatchObject({ status: 409, body: { code: 'email_taken' } })
    expect((await browser.get('/api/notes')).status).toBe(200)
    await auth.users.delete(id)
    expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
  })

  it('of an address that nobody had confirmed leaves nothing there: no notice, no undo, no reservation', async () => {
    const { client, mailbox } = await testAuth({ registration: { emailVerification: 'optional' } })
    const browser = client()
    await browser.signUp(ada)
    const confirmation = mailbox.token(await mailbox.waitFor(ada.email, 'Confirm'))
    const token = await tokenFor(browser, mailbox)
    await browser.post('/auth/email/confirm', { token })
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: next, emailVerified: true } })
    expect((await browser.post('/auth/verify-email', { token: confirmation })).status).toBe(400)
    expect((await client().post('/auth/register', ada)).status).toBe(201)
    await mailbox.waitFor(ada.email, 'Confirm')
    expect(mailbox.mails.filter(({ subject }) => subject.includes(noticeSubject))).toEqual([])
  })
})

describe('a fresh access token on confirming', () => {
  it('comes in the cookie to a browser that is signed in as that user', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const former = heldTokens(browser)
    const token = await tokenFor(browser, mailbox)
    const answer = await browser.post('/auth/email/confirm', { token })
    expect(answer.body).toEqual({ status: 'email_changed' })
    expect(answer.cookies.map(({ name }) => name)).toEqual(['access-token'])
    const { access, refresh } = heldTokens(browser)
    expect(claimsOf(access)).toMatchObject({ email: next, ver: Number(claimsOf(former.access).ver) + 1 })
    expect(refresh).toBe(former.refresh)
  })

  it('comes in the body to a client without cookies', async () => {
    const { client, mailbox, runtime } = await testAuth()
    const app = client({ as: 'token' })
    await app.signUp(ada)
    const token = await tokenFor(app, mailbox)
    const { body, headers } = await app.post<Record<string, string>>('/auth/email/confirm', { token })
    expect(Object.keys(body).sort()).toEqual(['accessToken', 'accessTokenExpiresAt', 'status'])
    expect(Date.parse(body.accessTokenExpiresAt ?? '')).toBe(Math.floor(runtime.clock.now() / 1000) * 1000 + 900_000)
    expect(headers.getSetCookie()).toEqual([])
    expect((await app.get('/api/notes')).body).toMatchObject({ principal: { email: next } })
    expect((await app.refresh()).status).toBe(200)
  })

  it('comes to nobody else: no session, another user’s, one that ended, one of the other mode', async () => {
    const { client, mailbox } = await testAuth()
    const [browser, other, ended] = [client(), client(), client()]
    await browser.signUp(ada)
    await other.signUp({ ...ada, email: 'grace@example.test' })
    await ended.signIn(ada)
    const thief = ended.copy()
    await ended.signOut()
    const { access } = heldTokens(browser)
    const callers: ((token: string) => ReturnType<TestClient['post']>)[] = [
      (token) => client().post('/auth/email/confirm', { token }),
      (token) => client({ as: 'token' }).post('/auth/email/confirm', { token }),
      (token) => other.post('/auth/email/confirm', { token }),
      (token) => thief.post('/auth/email/confirm', { token }),
      (token) => {
        const headers = { authorization: `Bearer ${access}`, 'x-auth-mode': 'token' }
        return client({ as: 'server' }).post('/auth/email/confirm', { token }, { headers })
      },
    ]
    for (const [index, confirm] of callers.entries()) {
      const token = await tokenFor(browser, mailbox, `ada${index}@new.example.test`)
      const answer = await confirm(token)
      expect(answer).toMatchObject({ status: 200, body: { status: 'email_changed' } })
      expect([answer.headers.getSetCookie(), Object.keys(Object(answer.body))]).toEqual([[], ['status']])
      await browser.refresh()
    }
    expect((await other.get('/auth/me')).body).toMatchObject({ user: { email: 'grace@example.test' } })
  })
})

describe('an undo', () => {
  it('takes the address back, ends every session, and lets the owner in by it again', async () => {
    const { client, mailbox, auth } = await testAuth()
    const [browser, thief] = [client(), client()]
    await browser.signUp(ada)
    await thief.signIn(ada)
    const undo = await moved(thief, mailbox)
    const waiting = await tokenFor(thief, mailbox, 'elsewhere@example.test')

    const answer = await client().post('/auth/email/undo', { token: undo })
    expect(answer).toMatchObject({ status: 200, body: { status: 'email_restored' } })
    expect(answer.cookies).toEqual([])
    for (const ended of [browser, thief]) {
      expect((await ended.get('/api/notes')).status).toBe(401)
      expect((await ended.refresh()).body).toMatchObject({ code: 'token_revoked' })
    }
    expect((await thief.post('/auth/email/confirm', { token: waiting })).body).toMatchObject({ code: 'invalid_token' })
    expect((await client().post('/auth/login', { ...ada, email: next })).status).toBe(401)
    const { body } = await browser.signIn(ada)
    expect(body.user).toMatchObject({ email: ada.email, emailVerified: true })
    const { items } = await auth.audit.list({ event: 'email_restored' })
    expect(items).toMatchObject([{ userId: body.user.id, outcome: 'success', detail: {} }])
  })

  it('ATK-035 tells the address that it leaves, without a link, and only where that is another one', async () => {
    const { client, mailbox, auth } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const first = await moved(browser, mailbox)
    expect((await client().post('/auth/email/undo', { token: first })).status).toBe(200)
    const { text, html } = await mailbox.waitFor(next, restoredSubject)
    expect(text).toContain('took that address back')
    expect(text + html).not.toMatch(/https?:|ada@example\.test/)

    await browser.signIn(ada)
    const second = await moved(browser, mailbox)
    await browser.signIn({ ...ada, email: next })
    const back = await tokenFor(browser, mailbox, ada.email)
    expect((await browser.post('/auth/email/confirm', { token: back })).status).toBe(200)
    expect((await client().post('/auth/email/undo', { token: second })).status).toBe(200)
    await auth.close()
    const told = mailbox.mails.filter(({ subject }) => subject.startsWith(restoredSubject)).map(({ to }) => to)
    expect(told).toEqual([next])
  })

  it('works for seven days, and no second longer', async () => {
    const { client, mailbox, runtime } = await testAuth()
    const [first, second] = [client(), client()]
    await first.signUp(ada)
    await second.signUp({ ...ada, email: 'grace@example.test' })
    const early = await moved(first, mailbox)
    const late = await moved(second, mailbox, 'grace@new.example.test', 'grace@example.test')
    const started = runtime.clock.now()
    await runtime.clock.set(started + (7 * 86_400 - 1) * 1000)
    expect((await client().post('/auth/email/undo', { token: early })).status).toBe(200)
    await runtime.clock.set(started + (7 * 86_400 + 1) * 1000)
    expect((await client().post('/auth/email/undo', { token: late })).body).toMatchObject({ code: 'invalid_token' })
    expect((await client().post('/auth/register', { ...ada, email: 'grace@example.test' })).status).toBe(202)
    await mailbox.waitFor('grace@example.test', 'Confirm your email address')
  })

  it('of the first of two changes undoes both, and that of the second leaves the first its own', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const first = await moved(browser, mailbox, 'second@example.test')
    const second = await moved(browser, mailbox, 'third@example.test', 'second@example.test')
    const undo = (token: string) => client().post('/auth/email/undo', { token })
    expect((await undo(second)).status).toBe(200)
    await client().signIn({ ...ada, email: 'second@example.test' })
    expect((await undo(first)).status).toBe(200)
    await client().signIn(ada)

    await browser.signIn(ada)
    const third = await moved(browser, mailbox, 'second@example.test')
    const fourth = await moved(browser, mailbox, 'third@example.test', 'second@example.test')
    expect((await undo(third)).status).toBe(200)
    expect((await undo(fourth)).body).toMatchObject({ code: 'invalid_token' })
    await client().signIn(ada)
  })

  it('asks for a code where a second factor is on, and uses it up', async () => {
    const { client, mailbox, runtime, auth } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const factor = await enrol(browser, ada.password, runtime.clock)
    const token = await moved(browser, mailbox)
    const undo = (code?: string) => client().post('/auth/email/undo', { token, code })
    expect((await browser.open(`/auth/email-undo?token=${token}`)).text).toContain('name="code"')
    for (const code of [undefined, factor.wrongCode(), factor.code()]) {
      expect(await undo(code), code).toMatchObject({ status: 401, body: { code: 'invalid_code' } })
    }
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: next } })
    const code = await factor.nextCode()
    expect((await undo(code)).status).toBe(200)
    const { items } = await auth.audit.list({ event: 'email_restored' })
    const refused = { outcome: 'failure', detail: { reason: 'invalid_code' } }
    expect(items).toMatchObject([{ outcome: 'success', detail: { secondFactor: 'totp' } }, refused, refused])

    const other = client()
    const challenge = await firstStep(other, ada)
    expect((await other.post('/auth/login/two-factor', { challenge, code })).body).toMatchObject({
      code: 'invalid_code',
    })
    const backup = { challenge, code: factor.backupCodes[0] }
    expect((await other.post('/auth/login/two-factor', backup)).status).toBe(200)
  })

  it('ATK-035 takes its code also when a thief has used up the guesses of the account', async () => {
    const { client, mailbox, runtime } = await limitedAuth(fewGuesses)
    const browser = client()
    await browser.signUp(ada)
    const factor = await enrol(browser, ada.password, runtime.clock)
    const token = await moved(browser.copy(), mailbox)
    await burnGuesses(client, next, factor.wrongCode())
    const challenge = await firstStep(client({ ip: ipOf(300) }), { ...ada, email: next })
    const owner = client({ ip: ipOf(301) })
    expect((await owner.post('/auth/login/two-factor', { challenge, code: factor.code() })).status).toBe(429)
    expect((await owner.post('/auth/email/undo', { token, code: await factor.nextCode() })).status).toBe(200)
  })

  it('takes five guesses at the second factor, which an old mailbox alone does not have', async () => {
    const { client, mailbox, runtime } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const factor = await enrol(browser, ada.password, runtime.clock)
    const token = await moved(browser, mailbox)
    const undo = (code: string) => client().post('/auth/email/undo', { token, code })
    for (let tried = 0; tried < 5; tried += 1) {
      expect((await undo(factor.wrongCode())).body).toMatchObject({ code: 'invalid_code' })
    }
    expect((await undo(await factor.nextCode())).body).toMatchObject({ status: 400, code: 'invalid_token' })
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: next } })
  })
})

describe('a second factor that was turned on after the change', () => {
  it('ATK-035 does not keep the owner from the undo, and is off after it', async () => {
    const { client, mailbox, runtime, auth } = await testAuth()
    const [owner, thief] = [client(), client()]
    await owner.signUp(ada)
    await thief.signIn(ada)
    const token = await moved(thief, mailbox)
    const strangersFactor = await enrol(thief, ada.password, runtime.clock)
    expect((await client().open(`/auth/email-undo?token=${token}`)).text).not.toContain('name="code"')
    expect((await client().post('/auth/email/undo', { token })).status).toBe(200)
    // Both addresses are told, each what concerns it.
    await mailbox.waitFor(ada.email, /Two-factor authentication was turned off/)
    await mailbox.waitFor(next, /former email address again/)

    const { body } = await owner.signIn(ada)
    expect(body.user).toMatchObject({ email: ada.email, twoFactor: false })
    expect((await thief.get('/api/notes')).status).toBe(401)
    const own = await enrol(owner, ada.password, runtime.clock)
    const challenge = await firstStep(client(), ada)
    for (const code of [strangersFactor.backupCodes[0], await strangersFactor.nextCode()]) {
      expect((await thief.post('/auth/login/two-factor', { challenge, code })).body).toMatchObject({
        code: 'invalid_code',
      })
    }
    expect((await client().post('/auth/login/two-factor', { challenge, code: own.code() })).status).toBe(200)
    const { items } = await auth.audit.list({ event: 'email_restored' })
    expect(items).toMatchObject([{ detail: { secondFactor: 'removed' } }])
  })

  it('ATK-035 does not keep the owner from it either where another was on and was turned off in between', async () => {
    const { client, mailbox, runtime } = await testAuth()
    const [owner, thief] = [client(), client()]
    await owner.signUp(ada)
    const own = await enrol(owner, ada.password, runtime.clock)
    const challenge = await firstStep(thief, ada)
    await thief.post('/auth/login/two-factor', { challenge, code: own.backupCodes[0] })
    const token = await moved(thief, mailbox)
    await runtime.clock.advance('1m')
    const off = { password: ada.password, code: own.backupCodes[1] }
    expect((await thief.delete('/auth/two-factor', off)).status).toBe(204)
    await enrol(thief, ada.password, runtime.clock)
    expect((await client().post('/auth/email/undo', { token })).status).toBe(200)
    expect((await owner.signIn(ada)).body.user).toMatchObject({ twoFactor: false })
  })

  it('ATK-035 leaves the next one its guesses', async () => {
    const { client, mailbox, runtime } = await limitedAuth(fewGuesses)
    const [owner, thief] = [client({ ip: ipOf(1) }), client({ ip: ipOf(2) })]
    await owner.signUp(ada)
    await thief.signIn(ada)
    const token = await moved(thief, mailbox)
    const strangersFactor = await enrol(thief, ada.password, runtime.clock)
    await burnGuesses(client, next, strangersFactor.wrongCode())
    expect((await client({ ip: ipOf(3) }).post('/auth/email/undo', { token })).status).toBe(200)
    await owner.signIn(ada)
    await enrol(owner, ada.password, runtime.clock)
  })
})

describe('the pages behind the links', () => {
  it('change and restore without a script, and opening them changes nothing', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const token = await tokenFor(browser, mailbox)
    for (let look = 0; look < 3; look += 1) await client({ as: 'server' }).get(`/auth/email-change?token=${token}`)
    const page = await browser.open(`/auth/email-change?token=${token}`)
    expect(page.text).toContain('<form method="post" action="/auth/email/confirm">')
    expect(page.text).toContain(`<input type="hidden" name="token" value="${token}">`)
    expect(page.text).not.toMatch(/<script(?! src="\/auth\/assets\/)/)
    expect(page.headers.get('referrer-policy')).toBe('strict-origin')
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { email: ada.email } })

    const done = await browser.submit('/auth/email/confirm', { token })
    expect(done.url.pathname + done.url.search).toBe('/auth/email-change?done=1')
    expect(done.text).toContain('Your account has its new address.')
    expect((await browser.get('/api/notes')).body).toMatchObject({ principal: { email: next } })

    const undo = mailbox.token(await mailbox.waitFor(ada.email, noticeSubject))
    for (let look = 0; look < 3; look += 1) await client({ as: 'server' }).get(`/auth/email-undo?token=${undo}`)
    const undoPage = await client().open(`/auth/email-undo?token=${undo}`)
    expect(undoPage.text).toContain('<form method="post" action="/auth/email/undo">')
    expect((await browser.get('/api/notes')).status).toBe(200)
    const restored = await client().submit('/auth/email/undo', { token: undo })
    expect(restored.url.pathname + restored.url.search).toBe('/auth/email-undo?done=1')
    expect(restored.text).toContain('href="/auth/forgot"')
    await client().signIn(ada)
  })

  it('lead back with the reason, and keep a link that may be tried again', async () => {
    const { client, mailbox, auth } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    const bad = await browser.submit('/auth/email/confirm', { token: 'x&done=1' })
    expect(bad.url.search).toBe('?error=invalid_token&proof=link')
    expect(bad.text).toContain('It may have been used, replaced by a newer one, or expired.')
    expect(bad.text).not.toContain('<form')
    const token = await tokenFor(browser, mailbox)
    await auth.users.create({ email: next })
    const taken = await browser.submit('/auth/email/confirm', { token })
    expect(taken.text).toContain('This email address is already in use.')
    expect(taken.text).toContain(`value="${token}"`)
    const badUndo = await browser.submit('/auth/email/undo', { token: 'x' })
    expect(badUndo.url.pathname + badUndo.url.search).toBe('/auth/email-undo?error=invalid_token&proof=link')
    const asked = await browser.submit('/auth/email/change', { newEmail: 'x@example.test', password: ada.password })
    expect(asked.url.pathname + asked.url.search).toBe('/auth/account?done=confirmation_sent')
  })
})

describe('limits', () => {
  it('says on the page that no mail was sent', async () => {
    const { client } = await limitedAuth()
    const browser = client()
    await browser.signUp(ada)
    const form = { newEmail: next, password: ada.password }
    for (let nth = 0; nth < 3; nth += 1) {
      const page = await browser.submit('/auth/email/change', form)
      expect(page.url.search).toBe('?done=confirmation_sent')
    }
    const page = await browser.submit('/auth/email/change', form)
    expect(page.url.search).toBe('?done=confirmation_not_sent')
    expect(page.text).toContain('No mail was sent, because this address has had several.')
  })

  it('ATK-020 ATK-215 the devices of an account give no further mails to a new address', async () => {
    const { client, mailbox, auth } = await limitedAuth()
    await client().signUp(ada)
    for (let nth = 0; nth < 6; nth += 1) {
      const browser = client()
      await browser.signIn(ada)
      await browser.post('/auth/email/change', { newEmail: next, password: ada.password })
    }
    await auth.close()
    expect(mailbox.mails.filter(({ to }) => to === next)).toHaveLength(3)
  })

  it('ATK-215 the known devices of an account get their own mails where other clients have used up all', async () => {
    const { client, mailbox, auth } = await limitedAuth()
    const owner = client()
    await owner.signUp(ada)
    const change = { newEmail: next, password: ada.password }
    const { access } = heldTokens(owner)
    const elsewhere = (index: number) =>
      client({ as: 'server', ip: networkOf(Math.floor(index / 3)) }).post('/auth/email/change', change, {
        headers: { authorization: `Bearer ${access}` },
      })
    await inTurn(18, elsewhere)
    const [phone, laptop] = [client(), client()]
    for (const browser of [phone, laptop]) await browser.signIn(ada)
    const sent: unknown[] = []
    for (const browser of [phone, laptop, phone, laptop]) {
      sent.push(Reflect.get(Object((await browser.post('/auth/email/change', change)).body), 'mailSent'))
    }
    expect(sent).toEqual([true, true, true, false])
    await auth.close()
    expect(mailbox.mails.filter(({ to }) => to === next)).toHaveLength(15 + 3)
  })

  it('ATK-020 many accounts together give a new address no more mails than strangers do', async () => {
    const { client, mailbox, auth } = await limitedAuth()
    for (let nth = 0; nth < 7; nth += 1) {
      const browser = client({ ip: networkOf(nth) })
      const account = { ...ada, email: `account${nth}@example.test` }
      await auth.users.create({ ...account, emailVerified: true })
      await browser.signIn(account)
      for (let time = 0; time < 3; time += 1) {
        await browser.post('/auth/email/change', { newEmail: next, password: ada.password })
      }
    }
    await auth.close()
    expect(mailbox.mails.filter(({ to }) => to === next)).toHaveLength(15)
  })

  it('ATK-020 an account whose own address is not proved has no known device', async () => {
    const { client, mailbox, auth } = await limitedAuth({ registration: { emailVerification: 'optional' } })
    for (const nth of [1, 2]) {
      const browser = client()
      await browser.post('/auth/register', { ...ada, email: `account${nth}@example.test` })
      for (let time = 0; time < 3; time += 1) {
        await browser.post('/auth/email/change', { newEmail: next, password: ada.password })
      }
    }
    await auth.close()
    expect(mailbox.mails.filter(({ to }) => to === next)).toHaveLength(3)
  })

  it('ATK-020 mails a new address three links in 15 minutes, and says after the password whether it did', async () => {
    const { client, mailbox, auth } = await limitedAuth()
    const browser = client()
    await browser.signUp(ada)
    const ask = () => browser.post('/auth/email/change', { newEmail: next, password: ada.password })
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await ask()).toMatchObject({ status: 202, body: { status: 'confirmation_sent', mailSent: true } })
    }
    for (let nth = 0; nth < 2; nth += 1) {
      expect(await ask()).toMatchObject({ status: 202, body: { mailSent: false, retryAfter: 900 } })
    }
    await auth.close()
    expect(mailbox.mails.filter(({ to }) => to === next)).toHaveLength(3)
  })

  it('ATK-010 counts passwords tried here with those tried at the sign-in', async () => {
    const { client } = await limitedAuth()
    const browser = client()
    await browser.signUp(ada)
    const { access } = heldTokens(browser)
    const headers = { authorization: `Bearer ${access}` }
    const wrong = { newEmail: next, password: 'wrong wrong wrong' }
    const ask = (index: number) =>
      client({ as: 'server', ip: ipOf(index) }).post('/auth/email/change', wrong, { headers })
    expect(await inTurn(11, ask)).toEqual([...times(10, 401), 429])
    expect((await client({ ip: ipOf(99) }).post('/auth/login', ada)).status).toBe(429)
  })
})

it('a refresh whose answer is lost before the confirmation signs nobody out after it', async () => {
  const { client, runtime, mailbox } = await testAuth()
  const browser = client()
  await browser.signUp(ada)
  await browser.refresh()
  await browser.get('/api/notes')
  await runtime.clock.advance('40s')
  // The answer goes to a copy, and the copy is thrown away.
  expect((await browser.copy().refresh()).status).toBe(200)

  const newEmail = 'ada@new.example.test'
  await browser.post('/auth/email/change', { newEmail, password: ada.password })
  const token = mailbox.token(await mailbox.waitFor(newEmail, 'Confirm your new email address'))
  expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
  expect((await browser.get('/api/notes')).status).toBe(200)
  await runtime.clock.advance('2s')
  expect((await browser.get('/api/notes')).status).toBe(200)

  await runtime.clock.advance('1m')
  expect((await browser.refresh()).status).toBe(200)
})
