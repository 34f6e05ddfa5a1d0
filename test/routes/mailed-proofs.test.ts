import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

const linkSentence = 'This link is no longer valid.'
const codeSentence = 'This code is wrong, or it has expired.'
const weak = 'password12'

async function registered(settings: Parameters<typeof testAuth>[0] = {}) {
  const world = await testAuth(settings)
  const browser = world.client()
  await browser.submit('/auth/register', { ...ada, name: '' })
  const mail = await world.mailbox.waitFor(ada.email)
  return { ...world, browser, mail, link: world.mailbox.link(mail), code: world.mailbox.code(mail) }
}

describe('the page that confirms an address', () => {
  it('says that an unknown link is over, asks for no password, and leads to signing in', async () => {
    const { client } = await testAuth()
    const { text } = await client().open('/auth/verify-email?token=unknown&redirect=/inbox')
    expect(text).toContain(linkSentence)
    expect(text).not.toMatch(/<form|type="password"/)
    expect(text).toContain('If your address is confirmed already, sign in.')
    expect(text.replaceAll('&#x3D;', '=')).toContain('href="/auth/login?redirect=%2Finbox"')
    const closed = await testAuth({ registration: { enabled: false } })
    expect((await closed.client().open('/auth/verify-email?token=unknown')).text).not.toContain('/auth/register')
  })

  it('says the same of a link that was used, in any browser', async () => {
    const { browser, client, link } = await registered()
    const page = `/auth/verify-email${new URL(link).search}`
    expect((await client().open(page)).text).toContain('type="password"')
    await browser.submit('/auth/verify-email', { token: new URL(link).searchParams.get('token') ?? '' })
    for (const other of [browser, client()]) {
      const { text } = await other.open(page)
      expect(text).toContain(linkSentence)
      expect(text).not.toContain('type="password"')
    }
  })

  it('asks for the code where the browser that registered opens a link that is over', async () => {
    const { browser } = await registered()
    const { text } = await browser.open('/auth/verify-email?token=unknown')
    expect(text).toContain(linkSentence)
    expect(text).toContain('name="code"')
    expect(text).not.toContain('type="password"')
  })

  it('tells a mistyped code from a link that is over', async () => {
    const { browser } = await registered()
    const code = await browser.submit('/auth/verify-email', { code: '000000' })
    expect(code.url.search).toBe('?error=invalid_token&proof=code')
    expect(code.text).toContain(codeSentence)
    const link = await browser.submit('/auth/verify-email', { token: 'unknown' })
    expect(link.url.search).toBe('?error=invalid_token&proof=link')
    expect(link.text).toContain(linkSentence)
  })

  it('answers programs with the same code, and a sentence about what they sent', async () => {
    const { client } = await testAuth()
    const program = client({ as: 'token' })
    const answers = [
      await program.post('/auth/verify-email', { token: 'unknown' }),
      await program.post('/auth/verify-email', { code: '000000', transaction: 'unknown' }),
    ]
    expect(answers.map(({ body }) => body)).toMatchObject([
      { code: 'invalid_token', detail: 'This link is not valid. It may have been used, replaced or expired.' },
      { code: 'invalid_token', detail: codeSentence },
    ])
  })
})

describe('other pages behind a mailed link', () => {
  it('say that a reset link is over before a new password is typed, and offer another', async () => {
    const { client, auth, mailbox } = await testAuth()
    await auth.users.create({ ...ada, emailVerified: true })
    const browser = client()
    await browser.submit('/auth/password/forgot', { email: ada.email })
    const page = `/auth/reset${new URL(mailbox.link(await mailbox.waitFor(ada.email))).search}`
    expect((await browser.open(page)).text).toContain('name="password"')
    const token = new URLSearchParams(page.split('?')[1]).get('token') ?? ''
    await browser.submit('/auth/password/reset', { token, password: 'a new and long one' })
    for (const { text } of [
      await browser.open(page),
      await browser.submit('/auth/password/reset', { token, password: 'a new and long one' }),
    ]) {
      expect(text).toContain(linkSentence)
      expect(text).not.toMatch(/name="password"|Open the link in the mail/)
      expect(text).toContain('href="/auth/forgot"')
    }
    expect((await browser.open('/auth/reset')).text).toContain('Open the link in the mail')
  })

  it.each([
    ['/auth/email/confirm', '/auth/email-change'],
    ['/auth/email/undo', '/auth/email-undo'],
  ])('%s does not ask for the link that was refused', async (action, page) => {
    const { client } = await testAuth()
    const refused = await client().submit(action, { token: 'unknown' })
    expect(refused.url.pathname).toBe(page)
    expect(refused.text).toContain(linkSentence)
    expect(refused.text).not.toContain('Open the link in the mail')
    expect((await client().open(page)).text).toContain('Open the link in the mail')
  })

  it('tell a mistyped sign-in code from a link', async () => {
    const { client } = await testAuth()
    const browser = client()
    await browser.submit('/auth/otp', { email: ada.email })
    expect((await browser.submit('/auth/otp/verify', { code: '000000' })).text).toContain(codeSentence)
    expect((await browser.submit('/auth/otp/verify', { token: 'unknown' })).text).toContain(linkSentence)
  })
})

describe('the sign-in page', () => {
  it('links to the page for the code where the address has to be confirmed first', async () => {
    const { client, code } = await registered()
    const phone = client()
    const refused = await phone.submit('/auth/login', { ...ada, _redirect: '/inbox' })
    expect(refused.url.searchParams.get('error')).toBe('email_not_verified')
    expect(refused.text.replaceAll('&#x3D;', '=')).toContain('href="/auth/verify-email?redirect=%2Finbox"')
    expect((await phone.open('/auth/verify-email')).text).toContain('name="code"')
    expect((await phone.open('/auth/login')).text).not.toContain('/auth/verify-email')
    expect(code).toMatch(/^\d{6}$/)
  })
})

describe('the register page', () => {
  const bad = { email: 'ada@localhost@', password: weak, name: '' }

  it('reports a bad address and a weak password together', async () => {
    const { client } = await testAuth()
    const { url, text } = await client().submit('/auth/register', bad)
    expect(url.searchParams.get('error')).toBe('invalid_request')
    expect(text).toMatch(
      /<li>The email address is not valid\.<\/li>\s*<li>The password is not strong enough:<\/li>\s*<li>/,
    )
    const program = await client({ as: 'token' }).post('/auth/register', bad)
    expect(program).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: [
          { path: 'email', message: 'must be an email address' },
          { path: 'password', message: 'is too weak' },
        ],
        reasons: ['common'],
      },
    })
  })

  it('reports each alone', async () => {
    const { client } = await testAuth()
    const email = await client().submit('/auth/register', { ...bad, password: ada.password })
    expect(email.text).toContain('The email address is not valid.')
    expect(email.text).not.toContain('not strong enough')
    const password = await client().submit('/auth/register', { ...ada, password: weak, name: '' })
    expect(password.url.search).toBe('?error=weak_password&reasons=common')
  })
})
