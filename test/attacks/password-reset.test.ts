import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { type AttackServer, attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'
import { ada, testAuth } from '../support/auth.js'

const newPassword = 'analytical engine 1843'
const subject = 'Choose a new password'

let server: AttackServer
let serial = 0
let email = ''
let browser: TestClient

beforeAll(async () => {
  server = await attackServer({ file: true })
})
afterAll(() => server.close())
beforeEach(async () => {
  serial += 1
  email = `ada${serial}@example.test`
  browser = server.client()
  await browser.signUp({ ...ada, email })
})

async function mailedToken(): Promise<string> {
  expect((await server.client().post('/auth/password/forgot', { email })).status).toBe(202)
  return server.mailbox.token(await server.mailbox.waitFor(email, subject))
}

function reset(token: unknown, password = newPassword) {
  return server.ask('POST', '/auth/password/reset', { body: { token, password } })
}

async function canSignIn(password: string): Promise<boolean> {
  return (await server.client().post('/auth/login', { email, password })).status === 200
}

describe('asking for a reset', () => {
  it('ATK-006 answers and works the same for every kind of address, and mails only who may reset', async () => {
    const { users } = server.auth
    const verified = { password: ada.password, emailVerified: true }
    const kinds = {
      known: email,
      unknown: `nobody${serial}@example.test`,
      oauthOnly: (await users.create({ email: `oauth${serial}@example.test`, emailVerified: true })).email,
      unverified: (await users.create({ email: `new${serial}@example.test`, password: ada.password })).email,
      disabled: (await users.create({ email: `shut${serial}@example.test`, ...verified })).email,
    }
    await users.disable((await users.findByEmail(kinds.disabled))?.id ?? '')

    const seen = []
    for (const address of Object.values(kinds)) {
      const rows = () => server.sql<{ n: number }>('select count(*) as n from latchkey_one_time_tokens')[0]?.n ?? 0
      const before = rows()
      const mailed = server.sql<{ n: number }>('select count(*) as n from latchkey_audit')[0]?.n ?? 0
      const { status, body, headers } = await server.ask('POST', '/auth/password/forgot', { body: { email: address } })
      const names = [...headers.keys()].filter((name) => name !== 'date').sort()
      const written = (server.sql<{ n: number }>('select count(*) as n from latchkey_audit')[0]?.n ?? 0) - mailed
      seen.push({ status, body, names, tokens: rows() - before, written })
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(seen[0]).toMatchObject({ status: 202, body: { status: 'reset_sent' }, tokens: 1, written: 1 })

    for (const address of [kinds.known, kinds.oauthOnly, kinds.unverified]) {
      await server.mailbox.waitFor(address, subject)
    }
    await expect.poll(() => server.sql('select id from latchkey_outbox')).toEqual([])
    expect(server.mailbox.latest(kinds.unknown)).toBeNull()
    expect(server.mailbox.latest(kinds.disabled)).toBeNull()
  })

  it('ATK-006 answers while the mail server takes its time', async () => {
    const sent: (() => void)[] = []
    const transport = {
      name: 'slow',
      version: '1',
      send(_mail: unknown, done: (error: Error | null, info: { envelope: object; messageId: string }) => void) {
        sent.push(() => done(null, { envelope: {}, messageId: '' }))
      },
    }
    const { auth, client } = await testAuth({ mail: { from: 'hello@example.test', transport } })
    await auth.users.create({ email: ada.email, emailVerified: true })
    const answer = await client().post('/auth/password/forgot', { email: ada.email })
    expect(answer.status).toBe(202)
    await expect.poll(() => sent.length).toBe(1)
    for (const finish of sent) finish()
  })

  it('ATK-042 tells the token to nobody but the mailbox', async () => {
    const answer = await server.ask('POST', '/auth/password/forgot', { body: { email } })
    const token = server.mailbox.token(await server.mailbox.waitFor(email, subject))
    expect(JSON.stringify([...answer.headers]) + answer.text).not.toContain(token)
    const stored = JSON.stringify([
      server.sql('select * from latchkey_one_time_tokens'),
      server.sql('select * from latchkey_outbox'),
      server.sql('select * from latchkey_audit'),
    ])
    expect(stored).not.toContain(token)
    expect(stored).not.toContain(Buffer.from(token).toString('hex'))

    const page = await server.ask('GET', `/auth/reset?token=${token}`)
    expect(page.headers.get('referrer-policy')).toBe('strict-origin')
    expect(page.headers.get('cache-control')).toContain('no-store')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.text.replaceAll(`value="${token}"`, '')).not.toContain(token)
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  })

  it('ATK-043 puts the configured host into the link, whatever the request says', async () => {
    for (const headers of [
      { host: 'evil.test' },
      { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' },
      { forwarded: 'host=evil.test;proto=https' },
      { 'x-original-url': 'http://evil.test/', 'x-forwarded-prefix': '/evil' },
    ]) {
      expect((await server.ask('POST', '/auth/password/forgot', { body: { email }, headers })).status).toBe(202)
      const mail = await server.mailbox.waitFor(email, subject)
      expect(server.mailbox.link(mail)).toMatch(new RegExp(`^${server.url}/auth/reset\\?token=[\\w-]+$`))
      expect(mail.text + mail.html).not.toContain('evil')
    }
  })

  it.each([
    ['two in one text', (own: string) => `${own},evil@example.test`],
    ['a list', (own: string) => [own, 'evil@example.test']],
    ['a second header', (own: string) => `${own}\r\nBcc: evil@example.test`],
    ['a quoted local part', (own: string) => `"${own} evil"@example.test`],
    ['an operator', () => ({ $ne: null })],
    ['nothing', () => undefined],
  ])('ATK-044 takes %s for no address and mails nobody', async (_name, make) => {
    const before = server.mailbox.mails.length
    expectRefusal(await server.ask('POST', '/auth/password/forgot', { body: { email: make(email) } }), 400)
    await expect.poll(() => server.sql('select id from latchkey_outbox')).toEqual([])
    expect(server.mailbox.mails.slice(before)).toEqual([])
  })

  it('ATK-045 finds nobody by letters that only look alike, and mails nothing to the typed text', async () => {
    const before = server.mailbox.mails.length
    for (const typed of [email.replace('a', 'а'), email.replace('@', '＠'), email.replace('example', 'еxample')]) {
      const { status } = await server.ask('POST', '/auth/password/forgot', { body: { email: typed } })
      expect([202, 400]).toContain(status)
    }
    await expect.poll(() => server.sql('select id from latchkey_outbox')).toEqual([])
    expect(server.mailbox.mails.slice(before)).toEqual([])
  })
})

describe('using a reset', () => {
  it('ATK-036 works once, also when many try at once', async () => {
    const token = await mailedToken()
    const passwords = Array.from({ length: 20 }, (_, index) => `analytical engine ${index}`)
    const answers = await Promise.all(passwords.map((password) => reset(token, password)))
    const winners = passwords.filter((_, index) => answers[index]?.status === 200)
    expect(winners).toHaveLength(1)
    for (const answer of answers)
      if (answer.status !== 200) expect(answer.body).toMatchObject({ code: 'invalid_token' })
    for (const password of [ada.password, ...passwords.slice(0, 3)]) {
      expect(await canSignIn(password), password).toBe(winners.includes(password))
    }
    expect(await canSignIn(winners[0] ?? '')).toBe(true)
    expect((await reset(token)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('ATK-037 ends after thirty minutes', async () => {
    const token = await mailedToken()
    await server.runtime.clock.advance('30m')
    expect((await reset(token)).body).toMatchObject({ status: 400, code: 'invalid_token' })
    const other = await mailedToken()
    await server.runtime.clock.advance('1799s')
    expect((await reset(other)).status).toBe(200)
  })

  it('ATK-037 is replaced by a newer one', async () => {
    const older = await mailedToken()
    const newer = await mailedToken()
    expect((await reset(older)).body).toMatchObject({ code: 'invalid_token' })
    expect((await reset(newer)).status).toBe(200)
  })

  it('ATK-037 is void after a sign-in, and after a change of the password', async () => {
    const beforeSignIn = await mailedToken()
    expect(await canSignIn('wrong wrong wrong')).toBe(false)
    expect(await canSignIn(ada.password)).toBe(true)
    expect((await reset(beforeSignIn)).body).toMatchObject({ code: 'invalid_token' })

    const beforeChange = await mailedToken()
    const change = { currentPassword: ada.password, newPassword }
    expect((await browser.post('/auth/password/change', change)).status).toBe(200)
    expect((await reset(beforeChange)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('ATK-038 ends every session at once, access and refresh, and tells the owner', async () => {
    const app = server.client({ as: 'token' })
    await app.signIn({ email, password: ada.password })
    const token = await mailedToken()
    expect((await reset(token)).status).toBe(200)
    for (const client of [browser, app]) {
      expect((await client.get('/api/secret')).status).toBe(401)
      expect((await client.refresh()).body).toMatchObject({ code: 'token_revoked' })
    }
    const notice = await server.mailbox.waitFor(email, 'Your password was changed')
    expect(notice.text).not.toContain(token)
    expect(server.sql('select id from latchkey_one_time_tokens where email = ?', email)).toEqual([])
  })

  it('ATK-039 opens no session, neither in cookies nor in the body', async () => {
    const token = await mailedToken()
    const headers = { 'x-auth-mode': 'token' }
    const body = { token, password: newPassword }
    const answer = await server.ask('POST', '/auth/password/reset', { body, headers })
    expect(answer.body).toEqual({ status: 'password_changed' })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(
      server.sql(
        'select id from latchkey_sessions where user_id = (select id from latchkey_users where email = ?)',
        email,
      ),
    ).toEqual([])
  })

  it.each([
    [undefined],
    [null],
    [''],
    [{ $ne: null }],
    [['x']],
    [{ $regex: '.*' }],
    [0],
    [true],
    ['x'],
    ['x'.repeat(129)],
  ])('ATK-040 is refused without the mailed token: %j', async (token) => {
    await mailedToken()
    expectRefusal(await reset(token), 400)
    expect(await canSignIn(ada.password)).toBe(true)
  })

  it('ATK-040 goes by the token alone, whatever else the body says', async () => {
    const token = await mailedToken()
    const victim = `victim${serial}@example.test`
    await server.client().signUp({ ...ada, email: victim })
    const body = { token, password: newPassword, email: victim, userId: 'x', emailVerified: true, roles: ['ADMIN'] }
    expect((await server.ask('POST', '/auth/password/reset', { body })).status).toBe(200)
    expect(await canSignIn(newPassword)).toBe(true)
    await server.client().signIn({ email: victim, password: ada.password })
    expect(await server.auth.users.findByEmail(email)).toMatchObject({ roles: [] })
  })

  it('ATK-041 takes no other kind of token, and is taken for no other', async () => {
    const fresh = `fresh${serial}@example.test`
    await server.client().post('/auth/register', { ...ada, email: fresh })
    const registration = await server.mailbox.waitFor(fresh, 'Confirm')
    const { access, refresh } = heldTokens(browser)
    const others = [server.mailbox.token(registration), server.mailbox.code(registration), access, refresh]
    for (const other of others) expectRefusal(await reset(other), 400)
    expect(await canSignIn(ada.password)).toBe(true)

    const token = await mailedToken()
    const { client } = server
    const body = { token, password: ada.password }
    expect((await client().post('/auth/verify-email', body)).body).toMatchObject({ code: 'invalid_token' })
    expect((await client({ as: 'token' }).post('/auth/refresh', { refreshToken: token })).status).toBe(401)
    expectRefusal(await server.ask('GET', '/api/secret', { headers: { authorization: `Bearer ${token}` } }), 401)
    expectRefusal(await server.ask('GET', '/api/secret', { headers: { cookie: `access-token=${token}` } }), 401)
    expect((await reset(token)).status).toBe(200)
  })

  it('ATK-008 refuses unknown, used, replaced, expired and foreign links in the same words', async () => {
    const replaced = await mailedToken()
    const used = await mailedToken()
    await reset(used)
    const disabled = await mailedToken()
    await server.auth.users.disable((await server.auth.users.findByEmail(email))?.id ?? '')
    const refusals = await Promise.all(['unknown', replaced, used, disabled].map((token) => reset(token)))
    const words = refusals.map(({ status, body }) => JSON.stringify({ status, ...Object(body), requestId: '' }))
    expect(new Set(words).size).toBe(1)
    expect(refusals[0]?.body).toMatchObject({ status: 400, code: 'invalid_token' })
  })

  it('ATK-066 dies with the account, or while it is disabled', async () => {
    const token = await mailedToken()
    const { id } = (await server.auth.users.findByEmail(email)) ?? { id: '' }
    await server.auth.users.disable(id)
    expectRefusal(await reset(token), 400)
    await server.auth.users.enable(id)
    expectRefusal(await reset(token), 400)
    const later = await mailedToken()
    await server.auth.users.delete(id)
    expectRefusal(await reset(later), 400)
  })
})
