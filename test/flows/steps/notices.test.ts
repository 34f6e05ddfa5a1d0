import { describe, expect, it } from 'vitest'
import type { TestClientOptions } from '../../../src/testing.js'
import { ada, type TestAuth, testAuth } from '../../support/auth.js'

const newPassword = 'analytical engine 1843'
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Subjects of everything that was mailed, once nothing is left to send. */
async function mailed({ auth, mailbox }: TestAuth): Promise<string[]> {
  await auth.close()
  return mailbox.mails.map(({ subject }) => subject.replace(/ at .*| for .*/, ''))
}

const confirmation = 'Confirm your email address'
const newDevice = 'A new device signed in to your account'

describe('a sign-in from a browser that the user has not come with before', () => {
  it('is told to the user, with device and time in our own words and without a link', async () => {
    const scene = await testAuth({ brand: { name: 'Acme' } })
    await scene.client().signUp(ada)
    await scene.runtime.clock.advance('30m')
    await scene.client({ headers: { 'user-agent': firefox } }).signIn(ada)
    const mail = await scene.mailbox.waitFor(ada.email, newDevice)
    expect(mail.subject).toBe('A new device signed in to your account at Acme')
    expect(mail.text).toContain('Device: Firefox on Linux\n')
    expect(mail.text).toContain('Time: January 1, 2026 at 12:30:00 AM UTC\n')
    expect(mail.text).not.toMatch(/https?:|\d{6}/)
  })

  it('is told once, and known from then on, also after signing out', async () => {
    const scene = await testAuth()
    await scene.client().signUp(ada)
    const browser = scene.client()
    await browser.signIn(ada)
    await browser.signOut()
    await browser.signIn(ada)
    await browser.signIn(ada)
    expect(await mailed(scene)).toEqual([confirmation, newDevice])
  })

  it('is told also where the browser is known as somebody else’s', async () => {
    const scene = await testAuth()
    const browser = scene.client()
    await scene.client().signUp(ada)
    await browser.signUp({ ...ada, email: 'grace@example.test' })
    await browser.signIn(ada)
    expect(await mailed(scene)).toEqual([confirmation, confirmation, newDevice])
    expect(scene.mailbox.mails.at(-1)?.to).toBe(ada.email)
  })

  it('is not told at the first sign-in of an account', async () => {
    const scene = await testAuth()
    await scene.auth.users.create({ ...ada, emailVerified: true })
    await scene.client().signIn(ada)
    expect(await mailed(scene)).toEqual([])
  })

  it('is not told when the password was wrong or a hook refused, and does not count against mails asked for', async () => {
    let open = true
    const scene = await testAuth({
      hooks: {
        beforeLogin() {
          if (!open) throw new TypeError('closed')
        },
      },
    })
    await scene.client().signUp(ada)
    await scene.client().post('/auth/login', { ...ada, password: newPassword })
    open = false
    expect((await scene.client().post('/auth/login', ada)).status).toBe(503)
    open = true
    for (let count = 0; count < 4; count += 1) await scene.client().signIn(ada)
    await scene.client().post('/auth/password/forgot', { email: ada.email })
    const subjects = await mailed(scene)
    expect(subjects.filter((subject) => subject === newDevice)).toHaveLength(4)
    expect(subjects).toContain('Choose a new password')
  })
})

describe('a sign-in without cookies', () => {
  const app = (ip: string, userAgent = 'App/1.0'): TestClientOptions => {
    return { as: 'token', ip, headers: { 'user-agent': userAgent } }
  }

  it.each([
    ['192.0.2.7', '192.0.2.250'],
    ['2001:db8:7:1::9', '2001:db8:7:ffff::1'],
  ])('is known by a live session of the same app from the same network: %s and %s', async (first, second) => {
    const scene = await testAuth()
    await scene.client(app(first)).signUp(ada)
    await scene.client(app(second)).signIn(ada)
    expect(await mailed(scene)).toEqual([confirmation])
  })

  it.each([
    ['from another network', app('198.51.100.7')],
    ['from another IPv6 network', app('2001:db8:8::1')],
    ['with another app', app('192.0.2.7', 'App/2.0')],
  ])('%s is told', async (_how, options) => {
    const scene = await testAuth()
    await scene.client(app('192.0.2.7')).signUp(ada)
    await scene.client(options).signIn(ada)
    expect(await mailed(scene)).toEqual([confirmation, newDevice])
  })

  it('is told where no session lives that knows it', async () => {
    const scene = await testAuth()
    const { body } = await scene.client(app('192.0.2.7')).signUp(ada)
    await scene.auth.sessions.revokeAll(body.user.id)
    await scene.client(app('192.0.2.7')).signIn(ada)
    expect(await mailed(scene)).toEqual([confirmation, newDevice])
  })
})

describe('an address that nobody has proved to be the user’s', () => {
  it('gets no notice: not of devices, of changed passwords, or of theft', async () => {
    const scene = await testAuth({ registration: { emailVerification: 'optional' } })
    const browser = scene.client()
    expect((await browser.post('/auth/register', ada)).status).toBe(201)
    await scene.client().signIn(ada)
    await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword })
    const { items } = await scene.auth.users.list()
    await scene.auth.users.setPassword(items[0]?.id ?? '', ada.password)

    await browser.signIn(ada)
    const thief = browser.copy()
    for (let turn = 0; turn < 2; turn += 1) {
      await browser.refresh()
      await browser.get('/auth/me')
      await scene.runtime.clock.advance('1m')
    }
    expect((await thief.refresh()).body).toMatchObject({ code: 'token_revoked' })
    expect((await scene.auth.audit.list({ event: 'refresh_token_reuse' })).items).toHaveLength(1)
    expect(await mailed(scene)).toEqual([confirmation])
  })

  it('gets notices from the reset on that proves it', async () => {
    const scene = await testAuth({ registration: { emailVerification: 'optional' } })
    await scene.client().post('/auth/register', ada)
    await scene.client().post('/auth/password/forgot', { email: ada.email })
    const token = scene.mailbox.token(await scene.mailbox.waitFor(ada.email, 'Choose a new password'))
    await scene.client().post('/auth/password/reset', { token, password: newPassword })
    await scene.client().signIn({ ...ada, password: newPassword })
    expect((await mailed(scene)).slice(-2)).toEqual(['Your password was changed', newDevice])
  })
})
