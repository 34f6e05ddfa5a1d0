import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { type AttackServer, attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'
import { ada, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { readVectors } from '../support/vectors.js'

const { password } = ada
const stolenPassword = 'the thief chose this'
const linkSubject = 'Confirm your new email address'
const noticeSubject = 'Your email address was changed'
const takenSubject = 'You already have an account'

let server: AttackServer
let serial = 0
let email = ''
let next = ''
let browser: TestClient

beforeAll(async () => {
  server = await attackServer({ file: true })
})
afterAll(() => server.close())
beforeEach(async () => {
  serial += 1
  email = `ada${serial}@example.test`
  next = `ada${serial}@new.example.test`
  browser = server.client()
  await browser.signUp({ ...ada, email })
})

function ask(newEmail: unknown, by = browser) {
  return by.post('/auth/email/change', { newEmail, password })
}

async function linkFor(newEmail: string, by = browser): Promise<string> {
  expect((await ask(newEmail, by)).status).toBe(202)
  return server.mailbox.token(await server.mailbox.waitFor(newEmail, linkSubject))
}

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  return server.ask('POST', path, { body, headers })
}

const confirm = (token: unknown) => post('/auth/email/confirm', { token })
const undo = (token: unknown) => post('/auth/email/undo', { token })

/** The address is another now; returns the undo from the notice to the former one. */
async function moved(newEmail = next, by = browser, former = email): Promise<string> {
  expect((await confirm(await linkFor(newEmail, by))).status).toBe(200)
  await by.refresh()
  return server.mailbox.token(await server.mailbox.waitFor(former, noticeSubject))
}

async function canSignIn(address: string, secret = password): Promise<boolean> {
  return (await post('/auth/login', { email: address, password: secret })).status === 200
}

function rows(table: string): number {
  return server.sql<{ n: number }>(`select count(*) as n from latchkey_${table}`)[0]?.n ?? 0
}

async function mailsSent(): Promise<void> {
  await expect.poll(() => server.sql('select id from latchkey_outbox')).toEqual([])
}

describe('asking for a change', () => {
  it('ATK-035 needs the password, a live session and the new mailbox before anything changes', async () => {
    const thief = browser.copy()
    for (const guess of [undefined, '', 'wrong wrong wrong']) {
      const { status } = await thief.post('/auth/email/change', { newEmail: next, password: guess })
      expect(status).toBe(guess === '' ? 400 : 401)
    }
    expectRefusal(await post('/auth/email/change', { newEmail: next, password }), 401)
    expect(server.mailbox.latest(next)).toBeNull()

    const token = await linkFor(next)
    expect([await canSignIn(email), await canSignIn(next)]).toEqual([true, false])
    expect((await confirm(token)).status).toBe(200)
    expect([await canSignIn(email), await canSignIn(next)]).toEqual([false, true])
    const notice = await server.mailbox.waitFor(email, noticeSubject)
    expect(notice.text + notice.html).not.toContain(next)
    expect((await undo(server.mailbox.token(notice))).status).toBe(200)
    expect([await canSignIn(email), await canSignIn(next)]).toEqual([true, false])
  })

  it('ATK-009 answers and works the same whether or not anybody has the address, and mails whoever does', async () => {
    const { users } = server.auth
    const free = `free${serial}@example.test`
    const taken = await users.create({ email: `taken${serial}@example.test`, password, emailVerified: true })
    const unverified = await users.create({ email: `typo${serial}@example.test`, password })
    const shut = await users.create({ email: `shut${serial}@example.test`, emailVerified: true })
    await users.disable(shut.id)
    const pending = `pending${serial}@example.test`
    await post('/auth/register', { email: pending, password })
    const reserved = `left${serial}@example.test`
    const leaver = server.client()
    await leaver.signUp({ email: reserved, password })
    await moved(`gone${serial}@example.test`, leaver, reserved)
    await mailsSent()

    const seen = []
    const targets = [free, taken.email, unverified.email, shut.email, pending, reserved]
    for (const target of targets) {
      const before = [rows('one_time_tokens'), rows('audit'), server.mailbox.mails.length]
      const { status, text, headers } = await ask(target)
      const shown = [...headers].filter(([name]) => !/^(date|x-request-id)$/.test(name))
      await mailsSent()
      const after = [rows('one_time_tokens'), rows('audit'), server.mailbox.mails.length]
      seen.push({ status, text, shown, more: after.map((count, index) => count - (before[index] ?? 0)) })
      // The next one replaces a token; the first must not be the only one that adds one.
      server.sql("delete from latchkey_one_time_tokens where purpose = 'email_change'")
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(seen[0]).toMatchObject({
      status: 202,
      text: '{"status":"confirmation_sent","mailSent":true}',
      more: [1, 1, 1],
    })
    const subjects = targets.map((target) => server.mailbox.latest(target)?.subject ?? '')
    expect(subjects.map((subject) => subject.startsWith(linkSubject))).toEqual([true, false, false, false, true, false])
    expect(subjects.filter((subject) => subject.startsWith(takenSubject))).toHaveLength(4)
    for (const { text, html } of [taken.email, reserved].map(
      (to) => server.mailbox.latest(to) ?? { text: '', html: '' },
    ))
      expect(text + html).not.toMatch(/token=/)
  })

  it('ATK-009 takes as many steps of the store for an address that is free, taken or reserved', async () => {
    const counts = []
    for (const kind of ['free', 'taken', 'reserved']) {
      const database = failingDatabase()
      const world = await testAuth({ database: database.dialect })
      const [asking, owner] = [world.client(), world.client()]
      await asking.signUp(ada)
      const grace = { email: 'grace@example.test', password }
      if (kind !== 'free') await owner.signUp(grace)
      if (kind === 'reserved') {
        await owner.post('/auth/email/change', { newEmail: 'gone@example.test', password })
        const token = world.mailbox.token(await world.mailbox.waitFor('gone@example.test'))
        await owner.post('/auth/email/confirm', { token })
        await world.mailbox.waitFor(grace.email, noticeSubject)
      }
      await world.runtime.clock.advance('3s')
      const mails = world.mailbox.mails.length
      database.failAfter(Number.POSITIVE_INFINITY)
      expect((await asking.post('/auth/email/change', { newEmail: grace.email, password })).status).toBe(202)
      await expect.poll(() => world.mailbox.mails.length).toBe(mails + 1)
      await world.auth.close()
      counts.push({ ran: database.ran, wrote: database.wrote })
    }
    expect(counts[0]?.ran).toBeGreaterThan(5)
    expect(new Set(counts.map((count) => JSON.stringify(count))).size).toBe(1)
  })

  it('ATK-009 keeps a token for a taken address that opens nothing, and hands over nothing', async () => {
    const owner = server.client()
    const taken = `owner${serial}@example.test`
    await owner.signUp({ email: taken, password })
    expect((await ask(taken)).status).toBe(202)
    await mailsSent()
    const kept = server.sql<{ token_hash: string }>(
      "select token_hash from latchkey_one_time_tokens where purpose = 'email_change' and email = ?",
      taken,
    )
    expect(kept).toHaveLength(1)
    for (const { token_hash } of kept) expectRefusal(await confirm(token_hash), 400)
    expect((await owner.get('/auth/me')).body).toMatchObject({ user: { email: taken } })
  })

  it('ATK-042 ATK-046 tells the secret of a link to the mailbox alone', async () => {
    const answer = await ask(next)
    const link = server.mailbox.token(await server.mailbox.waitFor(next, linkSubject))
    const confirmed = await confirm(link)
    const back = server.mailbox.token(await server.mailbox.waitFor(email, noticeSubject))
    const tables = ['one_time_tokens', 'outbox', 'audit', 'users'].map((name) =>
      server.sql(`select * from latchkey_${name}`),
    )
    const seen = JSON.stringify([answer.text, confirmed.text, [...confirmed.headers], tables])
    for (const secret of [link, back]) {
      expect(seen).not.toContain(secret)
      expect(seen).not.toContain(Buffer.from(secret).toString('hex'))
    }
    for (const path of [`/auth/email-change?token=${link}`, `/auth/email-undo?token=${back}`]) {
      const page = await server.ask('GET', path)
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    }
  })

  it('ATK-043 puts the configured host into both links, whatever the requests say', async () => {
    const { access } = heldTokens(browser)
    const forged = { host: 'evil.test', 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test;proto=https' }
    const headers = { ...forged, authorization: `Bearer ${access}` }
    expect((await post('/auth/email/change', { newEmail: next, password }, headers)).status).toBe(202)
    const mail = await server.mailbox.waitFor(next, linkSubject)
    const token = server.mailbox.token(mail)
    expect((await post('/auth/email/confirm', { token }, forged)).status).toBe(200)
    const notice = await server.mailbox.waitFor(email, noticeSubject)
    expect(server.mailbox.link(mail)).toMatch(`${server.url}/auth/email-change?token=`)
    expect(server.mailbox.link(notice)).toMatch(`${server.url}/auth/email-undo?token=`)
    expect(mail.text + mail.html + notice.text + notice.html).not.toContain('evil')
  })
})

describe('addresses that are none', async () => {
  const vectors = readVectors<{
    cases: { input: string; valid: boolean; canonical?: string }[]
    non_string_inputs_all_400: unknown[]
  }>('email-normalisation')

  async function expectNothing(newEmail: unknown): Promise<void> {
    const before = ['one_time_tokens', 'outbox', 'audit'].map(rows)
    const answer = await ask(newEmail)
    expect([answer.status, Reflect.get(Object(answer.body), 'code')]).toEqual([400, 'invalid_request'])
    expect(['one_time_tokens', 'outbox', 'audit'].map(rows)).toEqual(before)
  }

  it.each(vectors.cases.filter(({ valid }) => !valid))('ATK-045 $input is refused and mailed nothing', ({ input }) =>
    expectNothing(input),
  )

  it.each(vectors.non_string_inputs_all_400.map((input) => ({ input })))('ATK-044 $input is refused', ({ input }) =>
    expectNothing(input),
  )

  it('ATK-045 every spelling goes to one canonical address', async () => {
    for (const { input, canonical = '' } of vectors.cases.filter(({ valid }) => valid)) {
      expect((await ask(input)).status).toBe(202)
      expect((await server.mailbox.waitFor(canonical, linkSubject)).to).toBe(canonical)
    }
  })
})

describe('using the link to a new address', () => {
  it('ATK-032 a confirmation that was mailed to the former address confirms nothing any more', async () => {
    const hasty = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
    const attacker = hasty.client()
    const own = { email: 'mallory@example.test', password }
    const victim = 'victim@example.test'
    await attacker.signUp(own)
    const former = hasty.mailbox.token(await hasty.mailbox.waitFor(own.email, 'Confirm'))
    await attacker.post('/auth/email/change', { newEmail: victim, password })
    const link = hasty.mailbox.token(await hasty.mailbox.waitFor(victim, linkSubject))
    // Before the victim confirms, the account has the attacker's address, and the old link is for that.
    expect((await attacker.get('/auth/me')).body).toMatchObject({ user: { email: own.email, emailVerified: false } })
    expect(await hasty.auth.users.findByEmail(victim)).toBeNull()

    expect((await attacker.post('/auth/email/confirm', { token: link })).status).toBe(200)
    const late = await attacker.post('/auth/verify-email', { token: former })
    expect(late.body).toMatchObject({ status: 400, code: 'invalid_token' })
    await hasty.close()
  })

  it('ATK-032 a reset that was mailed to the former address sets no password any more', async () => {
    await post('/auth/password/forgot', { email })
    const reset = server.mailbox.token(await server.mailbox.waitFor(email, 'Choose a new password'))
    await moved()
    expectRefusal(await post('/auth/password/reset', { token: reset, password: stolenPassword }), 400)
    expect(await canSignIn(next)).toBe(true)
  })

  it('ATK-031 goes by the token alone, and signs nobody in', async () => {
    const other = server.client()
    const theirs = `other${serial}@example.test`
    await other.signUp({ email: theirs, password })
    const token = await linkFor(next)
    const extras = { email: theirs, newEmail: theirs, userId: 'x', emailVerified: true, roles: ['ADMIN'] }
    const answer = await other.post('/auth/email/confirm', { token, ...extras })
    expect([answer.status, answer.cookies]).toEqual([200, []])
    expect((await other.get('/auth/me')).body).toMatchObject({ user: { email: theirs, roles: [] } })
    expect(await server.auth.users.findByEmail(next)).toMatchObject({ emailVerified: true, roles: [] })
  })

  it('ATK-025 works once, also when twenty try at once', async () => {
    const token = await linkFor(next)
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.body).toMatchObject({ status: 400, code: 'invalid_token' })
    }
    await mailsSent()
    const notices = server.mailbox.mails.filter(({ to, subject }) => to === email && subject.includes(noticeSubject))
    expect(notices).toHaveLength(1)
  })

  it('ATK-025 of two accounts that move to one address at once, exactly one gets it', async () => {
    const grace = server.client()
    await grace.signUp({ email: `grace${serial}@example.test`, password })
    const tokens = [await linkFor(next), await linkFor(next, grace)]
    const answers = await Promise.all(tokens.map(confirm))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(server.sql('select id from latchkey_users where email_canonical = ?', next)).toHaveLength(1)
  })

  it('ATK-025 of a change to an address and a registration of it at once, exactly one gets it', async () => {
    const newcomer = server.client()
    await newcomer.post('/auth/register', { email: next, password: stolenPassword })
    const registration = server.mailbox.token(await server.mailbox.waitFor(next, 'Confirm your email address'))
    const token = await linkFor(next)
    const [changed, registered] = await Promise.all([
      confirm(token),
      newcomer.post('/auth/verify-email', { token: registration }),
    ])
    expect([200, 409]).toContain(changed.status)
    expect(registered.status).toBe(changed.status === 200 ? 400 : 200)
    expect([await canSignIn(next), await canSignIn(next, stolenPassword)]).toEqual([
      changed.status === 200,
      changed.status !== 200,
    ])
  })

  it('ATK-008 refuses unknown, used, replaced and expired links, and those of a disabled account, in the same words', async () => {
    const replaced = await linkFor(next)
    const used = await linkFor(`second${next}`)
    await confirm(used)
    await browser.refresh()
    const back = server.mailbox.token(await server.mailbox.waitFor(email, noticeSubject))
    const disabled = await linkFor(next)
    await server.auth.users.disable((await server.auth.users.findByEmail(`second${next}`))?.id ?? '')
    const refusals = await Promise.all(['unknown', replaced, used, disabled, back].map(confirm))
    expect((await undo(back)).status).toBe(200)
    refusals.push(...(await Promise.all(['unknown', back, used].map(undo))))
    const words = refusals.map(({ status, body }) => JSON.stringify({ status, ...Object(body), requestId: '' }))
    expect(new Set(words).size).toBe(1)
    expect(refusals[0]?.body).toMatchObject({ status: 400, code: 'invalid_token' })
  })

  it('ATK-041 takes no other kind of token, and is taken for no other', async () => {
    await post('/auth/password/forgot', { email })
    const reset = server.mailbox.token(await server.mailbox.waitFor(email, 'Choose a new password'))
    const { access, refresh } = heldTokens(browser)
    for (const other of [reset, access, refresh]) {
      expectRefusal(await confirm(other), 400)
      expectRefusal(await undo(other), 400)
    }
    const link = await linkFor(next)
    const wrongPlaces = async (token: string) => [
      await post('/auth/verify-email', { token, password }),
      await post('/auth/password/reset', { token, password: stolenPassword }),
      await server.ask('GET', '/api/secret', { headers: { authorization: `Bearer ${token}` } }),
    ]
    for (const answer of [await undo(link), ...(await wrongPlaces(link))]) expectRefusal(answer, 400, 401)
    expect((await confirm(link)).status).toBe(200)
    const back = server.mailbox.token(await server.mailbox.waitFor(email, noticeSubject))
    for (const answer of [await confirm(back), ...(await wrongPlaces(back))]) expectRefusal(answer, 400, 401)
    expect((await undo(back)).status).toBe(200)
  })

  it.each([[undefined], [null], [''], [{ $ne: null }], [['x']], [0], [true], ['x'], ['x'.repeat(129)]])(
    'ATK-040 is refused without the mailed token: %j',
    async (token) => {
      await linkFor(next)
      expectRefusal(await confirm(token), 400)
      expectRefusal(await undo(token), 400)
      expect(await canSignIn(email)).toBe(true)
    },
  )
})

describe('a thief who has changed the address', () => {
  /** Knows the password, has moved the account away and is signed in. */
  async function stolen() {
    const thief = server.client()
    await thief.signIn({ email, password })
    return { thief, back: await moved(next, thief) }
  }

  it('ATK-035 cannot get rid of the undo by a reset, a change of the password, or another change of the address', async () => {
    const { thief, back } = await stolen()
    await post('/auth/password/forgot', { email: next })
    const reset = server.mailbox.token(await server.mailbox.waitFor(next, 'Choose a new password'))
    expect((await post('/auth/password/reset', { token: reset, password: stolenPassword })).status).toBe(200)
    await thief.signIn({ email: next, password: stolenPassword })
    const change = { currentPassword: stolenPassword, newPassword: password }
    expect((await thief.post('/auth/password/change', change)).status).toBe(200)
    const further = `third${serial}@example.test`
    const thiefsOwn = await moved(further, thief, next)

    expect((await undo(back)).status).toBe(200)
    expect((await thief.get('/api/secret')).status).toBe(401)
    expect((await thief.refresh()).body).toMatchObject({ code: 'token_revoked' })
    expect(await server.auth.users.findByEmail(email)).toMatchObject({ email, emailVerified: true })
    expectRefusal(await undo(thiefsOwn), 400)
    expect(await server.auth.users.findByEmail(next)).toBeNull()
  })

  it('ATK-035 cannot take the account back by the notice of the owner’s own change back', async () => {
    const { thief, back } = await stolen()
    // The owner, whose session still lives, changes it back the ordinary way: the thief's mailbox gets a notice, too.
    await browser.refresh()
    const token = await linkFor(email)
    expect((await confirm(token)).status).toBe(200)
    const thiefsOwn = server.mailbox.token(await server.mailbox.waitFor(next, noticeSubject))
    expect((await undo(thiefsOwn)).status).toBe(200)
    expect((await undo(back)).status).toBe(200)
    expect((await thief.get('/api/secret')).status).toBe(401)
    expect(await server.auth.users.findByEmail(email)).not.toBeNull()
    expectRefusal(await undo(thiefsOwn), 400)
  })

  it('ATK-066 is undone while the account is disabled, and it stays disabled', async () => {
    const { back } = await stolen()
    const { id } = (await server.auth.users.findByEmail(next)) ?? { id: '' }
    await server.auth.users.disable(id)
    expect((await undo(back)).status).toBe(200)
    const answer = await post('/auth/login', { email, password })
    expect(answer.body).toMatchObject({ status: 403, code: 'account_disabled' })
  })

  it('ATK-025 is undone once, also when twenty try at once', async () => {
    const { back } = await stolen()
    const answers = await Promise.all(Array.from({ length: 20 }, () => undo(back)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
  })
})

describe('an address that can be taken back', () => {
  it('ATK-001 registers like one that has an account, and confirms nothing', async () => {
    await moved()
    const taken = `taken${serial}@example.test`
    await server.client().signUp({ email: taken, password })
    const look = async (address: string) => {
      const before = [rows('one_time_tokens'), rows('audit')]
      const { status, text, headers } = await post('/auth/register', { email: address, password })
      await mailsSent()
      const more = [rows('one_time_tokens') - (before[0] ?? 0), rows('audit') - (before[1] ?? 0)]
      const cookies = headers.getSetCookie().map((line) => line.replace(/=[\w-]{43};/, '=;'))
      return { status, text, cookies, more }
    }
    const [reserved, existing] = [await look(email), await look(taken)]
    expect(reserved).toEqual(existing)
    expect(server.mailbox.latest(email)?.subject).toContain(takenSubject)
    expect(server.mailbox.latest(email)?.text).not.toContain('token=')
    expect(server.sql('select id from latchkey_users where email_canonical = ?', email)).toEqual([])
    await expect(server.auth.users.create({ email })).rejects.toMatchObject({ code: 'email_taken' })
  })

  it('ATK-001 is refused like a taken one where verification is optional', async () => {
    const hasty = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
    const owner = hasty.client()
    const grace = { email: 'grace@example.test', password }
    await owner.signUp(grace)
    const first = hasty.mailbox.token(await hasty.mailbox.waitFor(grace.email, 'Confirm'))
    await owner.post('/auth/verify-email', { token: first })
    await owner.post('/auth/email/change', { newEmail: 'gone@example.test', password })
    const link = hasty.mailbox.token(await hasty.mailbox.waitFor('gone@example.test', linkSubject))
    await owner.post('/auth/email/confirm', { token: link })
    const answer = await hasty.client().post('/auth/register', grace)
    expect(answer).toMatchObject({ status: 409, body: { code: 'email_taken' } })
    await hasty.close()
  })

  it('ATK-006 is nobody’s to sign in with or to reset', async () => {
    await moved()
    await mailsSent()
    const before = server.mailbox.mails.length
    expect((await post('/auth/login', { email, password })).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await post('/auth/password/forgot', { email })).status).toBe(202)
    expect((await post('/auth/otp', { email })).status).toBe(202)
    await mailsSent()
    expect(server.mailbox.mails.slice(before)).toEqual([])
  })
})
