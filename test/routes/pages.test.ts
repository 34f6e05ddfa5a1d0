import { describe, expect, it } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import type { TestClient } from '../../src/testing.js'
import { ada, type TestAuth, testAuth } from '../support/auth.js'

async function withAda(settings: Partial<LatchkeySettings> = {}): Promise<TestAuth> {
  const world = await testAuth({ redirectSuccessUrl: '/api/home', ...settings })
  await world.auth.users.create({ ...ada, emailVerified: true })
  return world
}

function place({ url }: { url: URL }): string {
  return url.pathname + url.search
}

/** Without its access token, as sixteen minutes later. */
function withRefreshOnly(browser: TestClient): TestClient {
  browser.cookies.clear('access-token')
  return browser
}

describe('the sign-in page', () => {
  it('signs in and leads to where it was asked to', async () => {
    const { client } = await withAda()
    const browser = client()
    const page = await browser.open('/auth/login?redirect=/api/notes')
    expect(page.status).toBe(200)
    expect(page.text).toContain('<form method="post" action="/auth/login"')
    expect(page.text).toContain('<input type="hidden" name="_redirect" value="/api/notes">')
    expect(page.text).toMatch(/name="email" type="email" autocomplete="username webauthn"/)
    expect(page.text).toMatch(/type="password" autocomplete="current-password"/)
    const done = await browser.submit('/auth/login', { ...ada, _redirect: '/api/notes' })
    expect(place(done)).toBe('/api/notes')
  })

  it('says what was wrong, first of all in its title, and keeps neither address nor password', async () => {
    const { client } = await withAda()
    const refused = await client().submit('/auth/login', { ...ada, password: 'a wrong one', _redirect: '/api/notes' })
    expect(place(refused)).toBe('/auth/login?redirect=%2Fapi%2Fnotes&error=invalid_credentials')
    expect(refused.text).toContain('<title>Error: Sign in · ')
    expect(refused.text).toMatch(/id="password"[^>]* aria-invalid="true" aria-describedby="error"/)
    expect(refused.text).toMatch(/<p class="hint bad" id="error" role="alert">The email or the password is wrong/)
    expect(refused.text).not.toContain(ada.email)
    expect(refused.text).toContain('name="_redirect" value="/api/notes"')
  })

  it('leads to the other ways in, and takes the wish along', async () => {
    const { client } = await testAuth()
    const page = await client().open('/auth/login?redirect=/inbox%3Fpage=2')
    const links = [...page.text.matchAll(/<a (?:class="[^"]+" )?href="([^"]+)"/g)].map(([, href = '']) =>
      href.replaceAll('&#x3D;', '='),
    )
    const carry = '?redirect=%2Finbox%3Fpage%3D2'
    expect(links).toEqual([`/auth/forgot${carry}`, `/auth/otp${carry}`, `/auth/register${carry}`])
    for (const name of ['forgot', 'otp', 'register']) {
      const other = await client().open(`/auth/${name}${carry}`)
      expect(other.text.replaceAll('&#x3D;', '=')).toContain(`href="/auth/login${carry}"`)
    }
  })

  it('offers only what is on', async () => {
    const { client } = await testAuth({ otp: { enabled: false }, registration: { enabled: false } })
    const page = await client().open('/auth/login')
    expect(page.text).not.toMatch(/\/auth\/(?:otp|register)"/)
    expect((await client().open('/auth/register')).text).toContain('New accounts cannot be created here')
    expect((await client().open('/auth/register')).text).not.toContain('<form')
  })

  it('leads on whoever is signed in, and never to itself', async () => {
    const { client } = await withAda()
    const browser = client()
    await browser.signIn(ada)
    const at = async (query: string) => (await browser.get(`/auth/login${query}`)).headers.get('location')
    expect(await at('')).toBe('/api/home')
    expect(await at('?redirect=/api/notes')).toBe('/api/notes')
    expect(await at('?redirect=https://evil.test')).toBe('/api/home')
    expect(await at('?redirect=/auth/login%3Fredirect=/auth/login')).toBe('/auth/account')
    expect((await browser.get('/auth/login?error=oauth_denied')).status).toBe(200)
    expect((await browser.get('/auth/login?again=1')).status).toBe(200)
  })

  it('says 503 when it cannot be told who is there', async () => {
    const { client, auth } = await withAda()
    const browser = client()
    await browser.signIn(ada)
    await auth.close()
    const page = await browser.open('/auth/login')
    expect(page.status).toBe(503)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('going on with a refresh token only', () => {
  it('takes one click, and ends where the guard had turned the visitor away', async () => {
    const { client } = await withAda()
    const browser = client()
    await browser.signIn(ada)
    const turned = await withRefreshOnly(browser).open('/api/notes')
    expect(place(turned)).toBe('/auth/login?redirect=%2Fapi%2Fnotes')
    expect(turned.text).toContain('<form method="post" action="/auth/refresh" data-send-at-once>')
    expect(turned.text).not.toContain('type="password"')
    const done = await browser.submit('/auth/refresh', { _redirect: '/api/notes' })
    expect(place(done)).toBe('/api/notes')
    expect(done.status).toBe(200)
  })

  it('ends on the sign-in page when the session is over, with the wish and without the dead token', async () => {
    const { client, auth } = await withAda()
    const browser = client()
    const { body } = await browser.signIn(ada)
    await auth.sessions.revoke(body.session.id)
    const refused = await withRefreshOnly(browser).submit('/auth/refresh', { _redirect: '/api/notes' })
    expect(place(refused)).toBe('/auth/login?error=token_revoked&redirect=%2Fapi%2Fnotes')
    expect(refused.text).toContain('<form method="post" action="/auth/login"')
    expect(browser.cookies.get('refresh-token')).toBeNull()
    expect((await browser.open('/auth/login')).text).toContain('action="/auth/login"')
  })

  it('keeps the token of a script that is refused in the same way', async () => {
    const { client, auth } = await withAda()
    const browser = client()
    const { body } = await browser.signIn(ada)
    await auth.sessions.revoke(body.session.id)
    expect((await browser.refresh()).cookies).toEqual([])
  })

  it('lets somebody else sign in', async () => {
    const { client } = await withAda()
    const browser = client()
    await browser.signIn(ada)
    const page = await withRefreshOnly(browser).open('/auth/login?redirect=/api/notes')
    expect(page.text.replaceAll('&#x3D;', '=')).toContain('href="/auth/login?again=1&amp;redirect=%2Fapi%2Fnotes"')
    expect((await browser.open('/auth/login?again=1')).text).toContain('type="password"')
  })
})

describe('the page to register on', () => {
  const applicant = { ...ada, name: '' }

  it('takes a name or none, mails a code, and the code alone signs in where the wish says', async () => {
    const { client, mailbox } = await testAuth({ redirectSuccessUrl: '/api/home' })
    const browser = client()
    const page = await browser.open('/auth/signup?redirect=/api/notes')
    expect(page.text).toMatch(/autocomplete="new-password" minlength="10" required data-min-length="10"/)
    const sent = await browser.submit('/auth/register', { ...applicant, _redirect: '/api/notes' })
    expect(place(sent)).toBe('/auth/verify-email?redirect=%2Fapi%2Fnotes')
    expect(sent.text).not.toMatch(/name="email"|name="password"/)

    const code = mailbox.code(await mailbox.waitFor(ada.email))
    const wrong = await browser.submit('/auth/verify-email', { code: '000 000', _redirect: '/api/notes' })
    expect(place(wrong)).toBe('/auth/verify-email?redirect=%2Fapi%2Fnotes&error=invalid_token&proof=code')
    const done = await browser.submit('/auth/verify-email', { code, _redirect: '/api/notes' })
    expect(place(done)).toBe('/api/notes')
    expect(done.body).toMatchObject({ principal: { email: ada.email } })
  })

  it('sends the mail again without being told the address', async () => {
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.submit('/auth/register', applicant)
    const first = mailbox.code(await mailbox.waitFor(ada.email))
    const again = await browser.submit('/auth/verify-email/resend', {})
    expect(again.text).toContain('a new mail is on its way')
    const { text } = await mailbox.waitFor(ada.email)
    expect(text).not.toContain(first)
    expect((await client().submit('/auth/verify-email/resend', {})).text).toContain('a new mail is on its way')
    expect(mailbox.mails.filter(({ to }) => to === ada.email)).toHaveLength(2)
  })

  it('says why a password is too weak, in our words and for our reasons only', async () => {
    const { client } = await testAuth({ password: { minLength: 12 } })
    const refused = await client().submit('/auth/register', { ...applicant, password: 'password12' })
    expect(refused.url.search).toBe('?error=weak_password&reasons=too_short%2Ccommon')
    expect(refused.text).toContain('<li>It has fewer than 12 characters.</li>')
    expect(refused.text).toContain('<li>This password is too common.')
    const forged = await client().open('/auth/register?error=weak_password&reasons=constructor,call_us,<b>,too_long')
    expect(forged.text.match(/<li>(?!<a)[^<]*/g)).toEqual(['<li>It is too long.'])
  })

  it('asks any other browser for address, code and password', async () => {
    const { client, mailbox } = await testAuth()
    await client().submit('/auth/register', applicant)
    const code = mailbox.code(await mailbox.waitFor(ada.email))
    const phone = client()
    const page = await phone.open('/auth/verify-email')
    expect(page.text).toMatch(/name="email"[\s\S]*name="code"[\s\S]*name="password"/)
    const refused = await phone.submit('/auth/verify-email', { code })
    expect(place(refused)).toBe('/auth/verify-email?error=invalid_token&proof=code')
    expect((await phone.submit('/auth/verify-email', { ...ada, code })).url.pathname).toBe('/')
  })
})

describe('the page of a mailed code', () => {
  it('needs the address once, and carries the wish to the end', async () => {
    const { client, mailbox } = await withAda()
    const browser = client()
    const asked = await browser.submit('/auth/otp', { email: ada.email, _redirect: '/api/notes' })
    expect(place(asked)).toBe('/auth/otp?redirect=%2Fapi%2Fnotes')
    expect(asked.text).not.toMatch(/name="email"|ada@/)
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Your code'))
    expect(place(await browser.submit('/auth/otp/verify', { code, _redirect: '/api/notes' }))).toBe('/api/notes')
  })

  it('takes no code without the address from a browser that has not asked', async () => {
    const { client, mailbox } = await withAda()
    await client().submit('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Your code'))
    const refused = await client().submit('/auth/otp/verify', { code })
    expect(place(refused)).toBe('/auth/otp?error=invalid_token&proof=code')
  })

  it('takes a code without the address from a client without cookies, by its transaction', async () => {
    const { client, mailbox } = await withAda()
    const app = client({ as: 'token' })
    const { body } = await app.post<{ transaction: string }>('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Your code'))
    expect((await app.post('/auth/otp/verify', { code })).status).toBe(400)
    expect((await app.post('/auth/otp/verify', { code, transaction: 'another' })).status).toBe(400)
    expect((await app.post('/auth/otp/verify', { code, transaction: body.transaction })).status).toBe(200)
  })

  it('ATK-022 a code is worth nothing after five wrong ones, with or without the address', async () => {
    const { client, mailbox } = await withAda()
    const browser = client()
    await browser.submit('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Your code'))
    for (let tries = 0; tries < 5; tries += 1) {
      const address: Record<string, string> = tries % 2 === 0 ? {} : { email: ada.email }
      await browser.submit('/auth/otp/verify', { ...address, code: 'never' })
    }
    const refused = await browser.submit('/auth/otp/verify', { code })
    expect(place(refused)).toBe('/auth/otp?error=invalid_token&proof=code')
  })

  it('answers for an address without account as for any other', async () => {
    const { client } = await withAda()
    const known = client()
    const unknown = client()
    await known.submit('/auth/otp', { email: ada.email })
    await unknown.submit('/auth/otp', { email: 'nobody@example.test' })
    for (let tries = 0; tries < 6; tries += 1) {
      const [one, other] = [
        await known.submit('/auth/otp/verify', { code: 'never' }),
        await unknown.submit('/auth/otp/verify', { code: 'never' }),
      ]
      expect(place(one)).toBe(place(other))
      expect(one.text).toBe(other.text)
    }
  })
})

describe('signing out by a form', () => {
  it('ends on the page that redirectLogoutUrl names', async () => {
    const { client } = await withAda({ redirectLogoutUrl: '/auth/signed-out' })
    const browser = client()
    await browser.signIn(ada)
    const out = await browser.submit('/auth/logout', {})
    expect(place(out)).toBe('/auth/signed-out')
    expect(out.text).toContain('You are signed out on this device.')
    expect((await browser.open('/api/notes')).url.pathname).toBe('/auth/login')
  })
})

describe('the weight of the sign-in page', () => {
  it('is under 30 KB with style and scripts, and no more than its two scripts, style and icon are requested', async () => {
    const { client } = await testAuth()
    const browser = client()
    const page = await browser.open('/auth/login')
    const files = [...page.text.matchAll(/(?:src|href)="(\/auth\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(files.map((file) => file.split('.').at(-1))).toEqual(['svg', 'css', 'js', 'js'])
    expect(page.text.match(/<(?:link|script|img|iframe)\b/g)).toHaveLength(4)
    const loaded = await Promise.all(files.map((file) => browser.get<string>(file)))
    for (const { status, headers } of loaded) {
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect([page, ...loaded].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(30_000)
    // First paint needs no script.
    expect(page.text).toMatch(/<script src="[^"]+" defer><\/script>/)
  })
})
