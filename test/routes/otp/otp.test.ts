import { describe, expect, it, onTestFinished } from 'vitest'
import { AuthError, type LatchkeySettings } from '../../../src/index.js'
import type { SignedIn } from '../../../src/testing/answer.js'
import { attackServer } from '../../support/attack-server.js'
import { ada, type TestAuth, testAuth } from '../../support/auth.js'

const subject = 'Your code to sign in'

async function withAda(settings: Partial<LatchkeySettings> = {}): Promise<TestAuth> {
  const world = await testAuth(settings)
  await world.auth.users.create({ ...ada, name: 'Ada', emailVerified: true })
  return world
}

interface Told {
  event: string
  outcome: string
  user_id: string | null
  detail: string
}

describe('signing in by a mailed code', () => {
  it('takes the code in the browser that asked, and opens a session', async () => {
    const { client, mailbox } = await withAda()
    const browser = client()
    const asked = await browser.post('/auth/otp', { email: ' ADA@example.test ' })
    expect(asked).toMatchObject({ status: 202, body: { status: 'code_sent' } })
    expect(asked.cookies).toEqual([
      expect.objectContaining({ name: 'otp', path: '/', httpOnly: true, sameSite: 'lax' }),
    ])
    expect(asked.headers.get('set-cookie')).toContain('Max-Age=600')

    const mail = await mailbox.waitFor(ada.email, subject)
    expect(mail.text).toMatch(/^Hello Ada,\n/)
    expect(mail.text).toContain('10 minutes')
    expect(mailbox.link(mail)).toMatch(/^http:\/\/localhost:3000\/auth\/otp\?token=[\w-]{43}$/)
    const proof = { email: 'Ada@Example.test', code: mailbox.code(mail) }
    const answer = await browser.post<SignedIn>('/auth/otp/verify', proof)
    expect(answer.status).toBe(200)
    expect(answer.body.user).toMatchObject({ email: ada.email, emailVerified: true, name: 'Ada' })
    expect(Object.keys(answer.body).sort()).toEqual(['session', 'user'])
    expect(
      browser.cookies
        .all()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['access-token', 'known-device', 'refresh-token'])
    expect((await browser.get('/api/notes')).body).toMatchObject({ principal: { amr: ['otp'] } })
    expect((await browser.refresh()).status).toBe(200)
  })

  it('takes the link of the same mail in its place', async () => {
    const { client, mailbox } = await withAda()
    const browser = client()
    await browser.post('/auth/otp', { email: ada.email })
    const token = mailbox.token(await mailbox.waitFor(ada.email, subject))
    expect((await browser.post('/auth/otp/verify', { token })).status).toBe(200)
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('says on the page that mails may run out, the same with and without an account and once they have', async () => {
    const { client, mailbox } = await withAda({ limits: { mail: { ip: '100/1m', account: '3/15m' } } })
    const pageAfter = async (email: string) => (await client().submit('/auth/otp', { email })).text
    const pages: string[] = []
    for (const email of [ada.email, 'stranger@example.test']) {
      for (let asked = 0; asked < 4; asked += 1) pages.push(await pageAfter(email))
    }
    expect(new Set(pages).size).toBe(1)
    expect(pages[0]).toContain('An address gets only a few mails a day.')
    await expect.poll(() => mailbox.mails.map(({ to }) => to)).toEqual([ada.email, ada.email, ada.email])
  })

  it('works without cookies, by the transaction of the answer', async () => {
    const { client, mailbox } = await withAda()
    const app = client({ as: 'token' })
    const { body } = await app.post<{ transaction: string }>('/auth/otp', { email: ada.email })
    expect(body).toEqual({ status: 'code_sent', transaction: expect.stringMatching(/^[\w-]{43}$/) })
    const code = mailbox.code(await mailbox.waitFor(ada.email, subject))
    const answer = await app.post('/auth/otp/verify', { email: ada.email, code, transaction: body.transaction })
    expect(answer.body).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await app.get('/api/notes')).status).toBe(200)
  })

  it('serves an account without a password, and needs no confirmed address: it confirms it', async () => {
    const { client, mailbox, auth } = await testAuth()
    const user = await auth.users.create({ email: ada.email, roles: ['EDITOR'] })
    const browser = client()
    await browser.post('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, subject))
    const { body } = await browser.post<SignedIn>('/auth/otp/verify', { email: ada.email, code })
    expect(body.user).toMatchObject({ id: user.id, emailVerified: true, roles: ['EDITOR'] })
  })

  it('keeps to the settings: length, lifetime and tries', async () => {
    const { client, mailbox, runtime } = await withAda({ otp: { length: 8, lifetime: '2m', tries: 1 } })
    const browser = client()
    const ask = async () => {
      const { headers } = await browser.post('/auth/otp', { email: ada.email })
      expect(headers.get('set-cookie')).toContain('Max-Age=120')
      const mail = await mailbox.waitFor(ada.email, subject)
      expect(mail.text).toContain('2 minutes')
      return mailbox.code(mail)
    }
    const verify = async (code: string) => (await browser.post('/auth/otp/verify', { email: ada.email, code })).status
    const first = await ask()
    expect(first).toMatch(/^\d{8}$/)
    expect([await verify('never'), await verify(first)]).toEqual([400, 400])
    const second = await ask()
    await runtime.clock.advance('2m')
    expect(await verify(second)).toBe(400)
    expect(await verify(await ask())).toBe(200)
  })

  it('asks the hooks, who learn how the user came, and may refuse', async () => {
    const methods: string[] = []
    let refuse = false
    const { client, mailbox } = await withAda({
      hooks: {
        beforeLogin({ method }) {
          methods.push(method)
          if (refuse) throw new AuthError('forbidden')
        },
      },
    })
    for (const status of [200, 403]) {
      const browser = client()
      await browser.post('/auth/otp', { email: ada.email })
      const code = mailbox.code(await mailbox.waitFor(ada.email, subject))
      expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(status)
      refuse = true
    }
    expect(methods).toEqual(['otp', 'otp'])
  })

  it('tells the audit log who asked, who failed and who came in, once each', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    const { mailbox, client } = server
    const { id } = await server.auth.users.create({ email: ada.email })
    const browser = client()
    await browser.post('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, subject))
    await browser.post('/auth/otp/verify', { email: ada.email, code: 'never' })
    await client().post('/auth/otp/verify', { email: ada.email, code })
    await browser.post('/auth/otp/verify', { email: ada.email, code })
    await browser.post('/auth/otp', { email: 'nobody@example.test' })
    const told = server.sql<Told>('select event, outcome, user_id, detail from latchkey_audit order by seq')
    const facts = told.map(({ event, outcome, user_id, detail }) => [event, outcome, user_id, JSON.parse(detail)])
    expect(facts.slice(1)).toEqual([
      ['otp_requested', 'success', id, {}],
      ['login', 'failure', id, { method: 'otp' }],
      ['login', 'failure', null, { method: 'otp' }],
      ['email_verified', 'success', id, { firstProof: true }],
      ['login', 'success', id, { method: 'otp' }],
      ['otp_requested', 'failure', null, {}],
    ])
  })

  it('is not there where the settings switch it off', async () => {
    const { client, mailbox } = await withAda({ otp: { enabled: false } })
    const browser = client()
    for (const [path, body] of [
      ['/auth/otp', { email: ada.email }],
      ['/auth/otp/verify', { email: ada.email, code: '123456' }],
      ['/auth/otp/verify', {}],
    ] as const) {
      expect(await browser.post(path, body)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await browser.get('/auth/otp')).status).toBe(404)
    await browser.signIn(ada)
    expect(mailbox.mails).toEqual([])
  })
})

describe('the page of a mailed code', () => {
  it('asks for the address, then for the code, without a script, and says nothing in its address', async () => {
    const { client, mailbox } = await withAda({ redirectSuccessUrl: '/api/notes' })
    const browser = client()
    const page = await browser.open('/auth/otp')
    expect(page.text).toContain('<form method="post" action="/auth/otp"')
    expect(page.text).not.toMatch(/<script(?! src="\/auth\/assets\/)|otp\/verify/)
    const sent = await browser.submit('/auth/otp', { email: ada.email })
    expect(sent.url.pathname + sent.url.search).toBe('/auth/otp')
    expect(sent.text).toContain('a mail with a code is on its way')
    expect(sent.text).toContain('<form method="post" action="/auth/otp/verify"')
    expect(sent.text).toContain('autocomplete="one-time-code"')
    expect(sent.text).not.toContain(browser.cookies.get('otp'))

    const code = mailbox.code(await mailbox.waitFor(ada.email, subject))
    expect(sent.text).not.toContain('name="email"')
    const refused = await browser.submit('/auth/otp/verify', { code: 'never' })
    expect(refused.url.search).toBe('?error=invalid_token&proof=code')
    expect(refused.text).toContain('This code is wrong, or it has expired.')
    expect(refused.text).toContain('name="code"')
    const again = await browser.open('/auth/otp?again=1')
    expect(again.text).toContain('<form method="post" action="/auth/otp"')
    const done = await browser.submit('/auth/otp/verify', { code })
    expect(done.url.pathname).toBe('/api/notes')
    expect(done.status).toBe(200)
    expect((await browser.open('/auth/otp')).text).not.toContain('name="code"')
  })

  it('has a link that a scanner of mails may open with HEAD and GET', async () => {
    const { client, mailbox, auth } = await withAda()
    const browser = client()
    await browser.post('/auth/otp', { email: ada.email })
    const mail = await mailbox.waitFor(ada.email, subject)
    for (const method of ['HEAD', 'GET']) {
      const answer = await auth.fetch(new Request(mailbox.link(mail), { method }))
      expect([answer?.status, answer?.headers.getSetCookie()]).toEqual([200, []])
    }
    expect((await browser.post('/auth/otp/verify', { token: mailbox.token(mail) })).status).toBe(200)
  })

  it('has a button for the link in the browser that asked, and leads on from there', async () => {
    const { client, mailbox } = await withAda({ redirectSuccessUrl: '/api/notes' })
    const browser = client()
    await browser.submit('/auth/otp', { email: ada.email })
    const link = mailbox.link(await mailbox.waitFor(ada.email, subject))
    const token = new URL(link).searchParams.get('token') ?? ''
    const opened = await browser.open(link)
    expect(opened.status).toBe(200)
    expect(opened.cookies).toEqual([])
    expect(opened.text).toContain(`<input type="hidden" name="token" value="${token}">`)
    expect(opened.headers.get('referrer-policy')).toBe('strict-origin')
    expect((await browser.submit('/auth/otp/verify', { token })).url.pathname).toBe('/api/notes')
  })

  it('leads back with the reason when the address is none, and shows no markup of others', async () => {
    const { client } = await testAuth()
    const browser = client()
    const refused = await browser.submit('/auth/otp', { email: 'no address' })
    expect(refused.url.search).toBe('?error=invalid_request&reasons=invalid_email')
    expect(refused.text).toContain('Please check what you have entered')
    const plantedPage = await browser.open(
      `/auth/otp?token=${encodeURIComponent('"><b>')}&error=${encodeURIComponent('<b>')}`,
    )
    expect(plantedPage.text).not.toContain('<b>')
  })
})
