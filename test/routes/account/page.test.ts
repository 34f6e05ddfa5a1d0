import { describe, expect, it } from 'vitest'
import type { SignedIn, TestAnswer, TestClient } from '../../../src/testing.js'
import { ada, sharedSettings, testAuth } from '../../support/auth.js'
import { enrol, totpCode } from '../../support/totp.js'

const page = '/auth/account'
const signIn = '/auth/login?redirect=%2Fauth%2Faccount'

/** Where the browser ended. */
function at({ url }: TestAnswer<unknown>): string {
  return `${url.pathname}${url.search}${url.hash}`
}

/** The first redirect alone, before anything is followed. */
async function refusedTo(client: TestClient, path: string): Promise<string | null> {
  return (await client.get(path)).headers.get('location')
}

async function signedUp(overrides: Parameters<typeof testAuth>[0] = {}) {
  const world = await testAuth(overrides)
  const browser = world.client()
  await browser.signUp({ ...ada, name: 'Ada' })
  return { ...world, browser }
}

describe('GET /account', () => {
  it('shows whoever is signed in their account, and lets nobody keep it', async () => {
    const { browser } = await signedUp()
    const shown = await browser.open(page)
    expect(shown.status).toBe(200)
    expect(shown.text).toContain('<span class="address">ada@example.test</span>')
    expect(shown.text).toContain('value="Ada"')
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(shown.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(shown.text).not.toMatch(/eyJ[\w-]{16}|<script(?! src="\/auth\/assets\/)|<style| on\w+=/)
  })

  it('leads a browser without a session to sign in and back, also when a refresh would bring one', async () => {
    const { browser, client, runtime } = await signedUp()
    expect(await refusedTo(client(), page)).toBe(signIn)
    await runtime.clock.advance('16m')
    expect(await refusedTo(browser, page)).toBe(signIn)
    expect(await refusedTo(browser, `${page}?link=google`)).toBe(`${signIn}%3Flink%3Dgoogle`)
    await browser.refresh()
    expect((await browser.open(page)).status).toBe(200)
  })

  it('is led on by a sign-in page that has a query of its own', async () => {
    const { client } = await testAuth({ redirectFailUrl: '/enter?from=auth' })
    expect(await refusedTo(client(), page)).toBe('/enter?from=auth&redirect=%2Fauth%2Faccount')
  })

  it('leads to sign in when the session was ended elsewhere', async () => {
    const { browser, client } = await signedUp()
    const phone = client()
    await phone.signIn(ada)
    await phone.delete('/auth/sessions')
    const { status, headers } = await browser.get(page)
    expect([status, headers.get('location')]).toEqual([303, `${signIn}&error=token_revoked`])
    expect((await browser.open(page)).text).toContain('This session has ended. Sign in again.')
  })

  it('is told of it by a sign-in page that has a fragment', async () => {
    const { browser, client } = await signedUp({ redirectFailUrl: '/enter#form' })
    const phone = client()
    await phone.signIn(ada)
    await phone.delete('/auth/sessions')
    const { headers } = await browser.get(page)
    expect(headers.get('location')).toBe('/enter?redirect=%2Fauth%2Faccount&error=token_revoked#form')
  })

  it('that another process has ended goes round in no circle, also before the news of it arrives', async () => {
    const shared = sharedSettings()
    const here = await testAuth(shared)
    const browser = here.client()
    await browser.signUp(ada)
    const elsewhere = await testAuth(shared)
    const { body } = await browser.get<SignedIn>('/auth/me')
    await elsewhere.auth.sessions.revoke(body.session.id)
    const led = await browser.open(page)
    expect([led.status, at(led)]).toEqual([200, `${signIn}&error=token_revoked`])
  })

  it('answers a session that the store has lost like one that has ended', async () => {
    const { browser, auth } = await signedUp()
    const { body } = await browser.get<SignedIn>('/auth/me')
    await auth.users.delete(body.user.id)
    expect(await refusedTo(browser, page)).toBe(signIn)
  })

  it('counts the backup codes that are left, and marks the last two', async () => {
    const { browser, client, runtime } = await signedUp()
    expect((await browser.open(page)).text).not.toContain(' of 10 left')
    const factor = await enrol(browser, ada.password, runtime.clock)
    expect((await browser.open(page)).text).toContain('<span class="badge">10 of 10 left</span>')
    const phone = client()
    for (const code of factor.backupCodes.slice(0, 8)) {
      const { body } = await phone.post<{ challenge: string }>('/auth/login', ada)
      await phone.post('/auth/login/two-factor', { challenge: body.challenge, code })
    }
    expect((await phone.open(page)).text).toContain('<span class="badge warn">2 of 10 left</span>')
  })

  it('says nothing that its address makes up', async () => {
    const { browser } = await signedUp()
    const { text } = await browser.open(`${page}?done=no_such&error=no_such&at=__proto__&link=nobody`)
    expect(text).toContain('Something went wrong. Please try again.')
    expect(text).not.toContain('no_such')
    expect(text).not.toContain('role="status"')
    expect(text.match(/role="alert"/g)).toHaveLength(1)
  })
})

describe('ATK-083 the account page', () => {
  const hostile = '<img src=x onerror=alert(1)>"\'{{constructor}}'

  it('ATK-083 shows what its user and their devices call themselves as text', async () => {
    const { browser, client } = await signedUp()
    await browser.submit('/auth/me', { _method: 'PATCH', name: hostile })
    await client({ headers: { 'user-agent': hostile } }).signIn(ada)
    const { text } = await browser.open(page)
    expect(text).not.toContain('<img src=x')
    expect(text).toContain('value="&lt;img src&#x3D;x onerror&#x3D;alert(1)&gt;&quot;&#x27;{{constructor}}"')
    expect(text).toContain('<strong>Unknown device</strong>')
  })

  it('ATK-083 puts nothing of its address into itself but what is checked', async () => {
    const { browser } = await signedUp()
    const query = new URLSearchParams({ error: hostile, at: hostile, done: hostile, link: hostile, redirect: hostile })
    expect((await browser.open(`${page}?${query}`)).text).not.toContain('onerror')
    const setup = await browser.open(`/auth/two-factor/setup?${query}`)
    expect(setup.text).not.toContain('onerror')
    expect(setup.text).not.toContain('_redirect')
  })
})

describe('forms of the account page', () => {
  it('change the name and say so in their part of the page', async () => {
    const { browser } = await signedUp()
    const saved = await browser.submit('/auth/me', { _method: 'PATCH', name: '  Ada Lovelace ' })
    expect(at(saved)).toBe(`${page}?done=profile_changed#profile`)
    expect(saved.text).toContain('value="Ada Lovelace"')
    expect(saved.text).toMatch(/id="profile-title">[^<]*<\/h2><\/header>\s*<p class="done" role="status">Saved\./)

    const refused = await browser.submit('/auth/me', { _method: 'PATCH', name: 'two\nlines' })
    expect(at(refused)).toBe(`${page}?error=invalid_request&at=profile#profile`)
    expect(refused.text).toMatch(/id="profile-title">[^<]*<\/h2><\/header>\s*<p class="error"/)
    expect(refused.text).toContain('value="Ada Lovelace"')
  })

  it('change the password, after which this browser alone is signed in', async () => {
    const { browser, client } = await signedUp()
    const phone = client()
    await phone.signIn(ada)
    const wrong = { currentPassword: 'not the password', newPassword: 'another long password' }
    const refused = await browser.submit('/auth/password/change', wrong)
    expect(at(refused)).toBe(`${page}?error=invalid_credentials&at=password#password`)
    expect(refused.text).toContain('The password is wrong.')
    expect(refused.text).toContain('<details class="edit" open>')

    const weak = { currentPassword: ada.password, newPassword: 'short' }
    const told = await browser.submit('/auth/password/change', weak)
    expect(at(told)).toBe(`${page}?error=weak_password&reasons=too_short&at=password#password`)
    expect(told.text).toContain('<li>It has fewer than 10 characters.</li>')

    const changed = await browser.submit('/auth/password/change', { ...wrong, currentPassword: ada.password })
    expect(at(changed)).toBe(`${page}?done=password_changed#password`)
    expect(changed.text).toContain('Your password is changed')
    expect((await phone.get('/auth/me')).status).toBe(401)
  })

  it('ask for another address and tell what comes next', async () => {
    const { browser, mailbox } = await signedUp()
    const fields = { newEmail: 'lovelace@example.test', password: ada.password }
    const asked = await browser.submit('/auth/email/change', fields)
    expect(at(asked)).toBe(`${page}?done=confirmation_sent#email`)
    expect(asked.text).toContain('A mail with a link is on its way to the new address.')
    expect(asked.text).toContain('<span>ada@example.test <span')
    await mailbox.waitFor('lovelace@example.test')
    const own = await browser.submit('/auth/email/change', { ...fields, newEmail: ada.email })
    expect(at(own)).toBe(`${page}?error=invalid_request&at=email#email`)
  })

  it('end one session, all others, and this one', async () => {
    const { browser, client } = await signedUp()
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const [phone, tablet] = [client({ headers: { 'user-agent': firefox } }), client({ ip: '192.0.2.77' })]
    const phoneId = (await phone.signIn(ada)).body.session.id
    await tablet.signIn(ada)
    const before = await browser.open(page)
    expect(before.text).toContain('<strong>Firefox on Linux</strong>')
    expect(before.text).toContain('<bdi>192.0.2.0/24</bdi>')
    expect(before.text).not.toContain('192.0.2.77')
    expect(before.text.match(/This device/g)).toHaveLength(1)
    // The own device first, though it signed in before the others.
    expect(before.text.indexOf('This device')).toBeLessThan(before.text.indexOf('Firefox on Linux'))

    const one = await browser.submit(`/auth/sessions/${phoneId}`, { _method: 'DELETE' })
    expect(at(one)).toBe(`${page}?done=session_revoked#sessions`)
    expect(one.text).toContain('That device is signed out.')
    expect(one.text).not.toContain('Firefox on Linux')
    const again = await browser.submit(`/auth/sessions/${phoneId}`, { _method: 'DELETE' })
    expect(at(again)).toBe(`${page}?error=not_found&at=sessions#sessions`)

    const others = await browser.submit('/auth/sessions', { _method: 'DELETE' })
    expect(at(others)).toBe(`${page}?done=sessions_revoked#sessions`)
    expect(others.text).not.toContain('Sign out everywhere else')
    expect((await tablet.get('/auth/me')).status).toBe(401)

    expect((await browser.submit('/auth/logout', {})).url.pathname).toBe('/')
    expect((await browser.get('/auth/me')).status).toBe(401)
  })

  it('end no session of somebody else, and show none', async () => {
    const { browser, client } = await signedUp()
    const other = client()
    const { body } = await other.signUp({ ...ada, email: 'grace@example.test' })
    const refused = await browser.submit(`/auth/sessions/${body.session.id}`, { _method: 'DELETE' })
    expect(at(refused)).toBe(`${page}?error=not_found&at=sessions#sessions`)
    expect(refused.text).not.toContain(body.session.id)
    expect(refused.text).not.toContain('grace@example.test')
    expect((await other.get('/auth/me')).status).toBe(200)
  })

  it('delete the account after its password, and leave no cookie', async () => {
    const { browser, auth } = await signedUp()
    const refused = await browser.submit('/auth/me', { _method: 'DELETE', password: 'not the password' })
    expect(at(refused)).toBe(`${page}?error=invalid_credentials&at=delete#delete`)
    const gone = await browser.submit('/auth/me', { _method: 'DELETE', password: ada.password })
    expect(at(gone)).toBe('/auth/signed-out?deleted=1')
    expect(gone.text).toContain('Your account is deleted')
    expect(browser.cookies.all()).toEqual([])
    expect(await auth.users.findByEmail(ada.email)).toBeNull()
  })

  it('end where they wish, if that is ours', async () => {
    const { browser } = await signedUp()
    const name = { _method: 'PATCH', name: 'Ada L.' }
    expect(at(await browser.submit('/auth/me', { ...name, _redirect: '/inbox' }))).toBe('/inbox')
    const evil = await browser.submit('/auth/me', { ...name, _redirect: 'https://evil.test/' })
    expect(at(evil)).toBe(`${page}?done=profile_changed#profile`)
    expect(at(await browser.submit('/auth/logout', { _redirect: '//evil.test' }))).toBe('/')
  })

  it('of whoever was signed out meanwhile do nothing, and say so after signing in again', async () => {
    const { browser, client, runtime } = await signedUp()
    await runtime.clock.advance('16m')
    const fields = { _method: 'PATCH', name: 'Too late' }
    const back = '/auth/account?error=session_ended&at=profile#profile'
    expect(at(await browser.submit('/auth/me', fields))).toBe(`/auth/login?redirect=${encodeURIComponent(back)}`)

    await browser.refresh()
    const told = await browser.open(back)
    expect(told.text).toContain('This was not done, because you were signed out meanwhile.')
    expect(told.text).toContain('value="Ada"')
    const stranger = await client().submit('/auth/sessions', { _method: 'DELETE' })
    expect(stranger.url.pathname).toBe('/auth/login')
  })

  it('ATK-078 of another site are refused, whoever they name, and led nowhere', async () => {
    const { browser } = await signedUp()
    const headers = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }
    for (const [path, fields] of [
      ['/auth/me', { _method: 'PATCH', name: 'Evil' }],
      ['/auth/me', { _method: 'DELETE', password: ada.password }],
      ['/auth/sessions', { _method: 'DELETE' }],
      ['/auth/two-factor/totp', { password: ada.password }],
      ['/auth/logout', { _redirect: '/' }],
    ] as const) {
      const answer = await browser.submit(path, fields, { headers })
      expect([path, answer.status, at(answer)]).toEqual([path, 403, path])
    }
    expect((await browser.open(page)).text).toContain('value="Ada"')
  })
})

describe('an account without a password', () => {
  /** Signed in by a mailed code. */
  async function withoutPassword() {
    const world = await testAuth()
    await world.auth.users.create({ email: ada.email, emailVerified: true })
    const browser = world.client()
    await browser.post('/auth/otp', { email: ada.email })
    const code = world.mailbox.code(await world.mailbox.waitFor(ada.email))
    expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
    return { ...world, browser }
  }

  it('is asked for none while the sign-in is young', async () => {
    const { browser } = await withoutPassword()
    const { text } = await browser.open(page)
    expect(text).not.toContain('autocomplete="current-password"')
    expect(text).toContain('Set a password')
    const set = await browser.submit('/auth/password/change', { newPassword: 'another long password' })
    expect(at(set)).toBe(`${page}?done=password_changed#password`)
    expect(set.text).toContain('autocomplete="current-password"')
  })

  it('is led through signing in again once it is old, and back to where it was', async () => {
    const { browser, runtime } = await withoutPassword()
    await runtime.clock.advance('301s')
    const { text } = await browser.open(page)
    expect(text).not.toContain('action="/auth/password/change"')
    expect(text).not.toContain('action="/auth/email/change"')
    const [, button = ''] = /form="sign-in-again" name="_redirect" value="([^"]+%23password)"/.exec(text) ?? []
    const late = await browser.submit('/auth/password/change', { newPassword: 'another long password' })
    expect(at(late)).toBe(`${page}?error=recent_login_required&at=password#password`)
    expect(late.text).toContain('Sign in again')

    const away = await browser.submit('/auth/logout', { _redirect: unescaped(button) })
    expect(at(away)).toBe('/auth/login?redirect=%2Fauth%2Faccount%23password')
    expect((await browser.get('/auth/me')).status).toBe(401)
  })
})

function unescaped(attribute: string): string {
  return attribute.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')
}

describe('two-factor authentication by pages', () => {
  const setup = '/auth/two-factor/setup'

  it('is set up by forms alone, and no address ever holds a secret', async () => {
    const { browser, runtime } = await signedUp()
    expect((await browser.open(page)).text).toContain(`href="${setup}"`)
    const start = await browser.open(setup)
    expect(start.text).toContain('action="/auth/two-factor/totp"')
    const wrong = await browser.submit('/auth/two-factor/totp', { password: 'not the password' })
    expect(at(wrong)).toBe(`${setup}?error=invalid_credentials`)
    expect(wrong.text).toContain('The password is wrong.')

    const shown = await browser.submit('/auth/two-factor/totp', { password: ada.password, _redirect: '/inbox' })
    expect([shown.status, at(shown)]).toEqual([200, '/auth/two-factor/totp'])
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.text).toContain('<img class="qr" src="data:image/svg+xml;base64,')
    const secret = secretOn(shown.text)

    const mistyped = await browser.submit('/auth/two-factor/totp/confirm', { code: '000000', _redirect: '/inbox' })
    expect(at(mistyped)).toBe(`${setup}?redirect=%2Finbox&error=invalid_code`)
    expect(mistyped.text).toContain('action="/auth/two-factor/totp/confirm"')
    expect(mistyped.text).toContain('name="_redirect" value="/inbox"')

    const code = totpCode(secret, runtime.clock.now())
    const on = await browser.submit('/auth/two-factor/totp/confirm', { code, _redirect: '/inbox' })
    expect([on.status, at(on)]).toEqual([200, '/auth/two-factor/totp/confirm'])
    expect(on.headers.get('cache-control')).toBe('no-store')
    expect(on.text.match(/<li>[0-9a-z]{5}-[0-9a-z]{5}<\/li>/gi)).toHaveLength(10)
    expect(on.text).toContain('href="/inbox"')
    expect((await browser.open(page)).text).toContain('action="/auth/two-factor/backup-codes"')
  })

  it('shows the secret once: who comes back to the page enters the code or starts over', async () => {
    const { browser } = await signedUp()
    const secret = secretOn((await browser.submit('/auth/two-factor/totp', { password: ada.password })).text)
    const back = await browser.open(setup)
    expect(back.text).not.toContain(secret.slice(0, 4))
    expect(back.text).not.toContain('class="qr"')
    expect(back.text).toContain('action="/auth/two-factor/totp/confirm"')
    const over = await browser.open(`${setup}?again=1`)
    expect(over.text).toContain('action="/auth/two-factor/totp"')
    expect(over.text).not.toContain('/totp/confirm')
  })

  it('starts over when the enrolment is over', async () => {
    const { browser, runtime } = await signedUp()
    await browser.submit('/auth/two-factor/totp', { password: ada.password })
    await runtime.clock.advance('10m')
    const late = await browser.submit('/auth/two-factor/totp/confirm', { code: '123456' })
    expect(at(late)).toBe(`${setup}?error=invalid_token`)
    expect(late.text).toContain('action="/auth/two-factor/totp"')
  })

  it('that is on gets new codes and is turned off by forms', async () => {
    const { browser, runtime } = await signedUp()
    const factor = await enrol(browser, ada.password, runtime.clock)
    expect(at(await browser.open(setup))).toBe(`${page}#two-factor`)
    const fields = { password: ada.password, code: factor.wrongCode() }
    const wrong = await browser.submit('/auth/two-factor/backup-codes', fields)
    expect(at(wrong)).toBe(`${page}?error=invalid_code&at=two-factor#two-factor`)

    const codes = await browser.submit('/auth/two-factor/backup-codes', { ...fields, code: await factor.nextCode() })
    expect([codes.status, at(codes)]).toEqual([200, '/auth/two-factor/backup-codes'])
    expect(codes.text.match(/<li>[0-9a-z]{5}-[0-9a-z]{5}<\/li>/gi)).toHaveLength(10)
    expect(codes.text).toContain('href="/auth/account#two-factor"')

    const off = { ...fields, _method: 'DELETE', code: await factor.nextCode() }
    const turnedOff = await browser.submit('/auth/two-factor', off)
    expect(at(turnedOff)).toBe(`${page}?done=two_factor_disabled#two-factor`)
    expect(turnedOff.text).toContain(`href="${setup}"`)
  })

  it('that is demanded is set up on the way, after a sign-in and from a guarded page', async () => {
    const { client, runtime, auth } = await testAuth({ twoFactor: { required: true } })
    await auth.users.create({ ...ada, emailVerified: true })
    const browser = client()
    const led = await browser.submit('/auth/login', { ...ada, _redirect: '/inbox' })
    expect(at(led)).toBe(`${setup}?redirect=%2Finbox`)
    expect(led.text).toContain('Before you can go on')
    expect(led.text).toContain('name="_redirect" value="/inbox"')
    expect(at(await browser.open('/api/notes'))).toBe(`${setup}?redirect=%2Fapi%2Fnotes`)
    expect((await browser.get('/api/notes')).body).toMatchObject({ code: 'two_factor_enrolment_required' })
    expect((await browser.open(page)).text).toContain('your account needs two-factor authentication')

    const shown = await browser.submit('/auth/two-factor/totp', { password: ada.password, _redirect: '/api/notes' })
    const code = totpCode(secretOn(shown.text), runtime.clock.now())
    const on = await browser.submit('/auth/two-factor/totp/confirm', { code, _redirect: '/api/notes' })
    expect(on.text).toContain('href="/api/notes"')
    expect((await browser.open('/api/notes')).status).toBe(200)
    expect(at(await browser.open('/auth/account?enrol=1&redirect=%2Finbox'))).toBe('/inbox')
  })

  it('that is not demanded leaves a sign-in where it was', async () => {
    const { client, auth } = await testAuth({ twoFactor: { required: ['ADMIN'] } })
    await auth.users.create({ ...ada, emailVerified: true })
    expect(at(await client().submit('/auth/login', { ...ada, _redirect: '/inbox' }))).toBe('/inbox')
  })
})

function secretOn(text: string): string {
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]+)<\/code>/.exec(text) ?? []
  expect(secret).not.toBe('')
  return secret.replaceAll(' ', '')
}
