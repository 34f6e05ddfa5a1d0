import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BoundedHashPool } from '../../src/passwords/hash-pool.js'
import { type Answer, attackServer, expectRefusal } from '../support/attack-server.js'

/** What was hashed. */
const hashing = vi.spyOn(BoundedHashPool.prototype, 'run')
const server = await attackServer({ file: true })
afterAll(() => server.close())

const password = 'correct horse battery'
const kinds = [
  'unknown',
  'verified',
  'unverified',
  'disabled',
  'disabled for a while',
  'without password',
  'pending',
] as const
type Kind = (typeof kinds)[number]
const addressOf = (kind: Kind) => `${kind.replaceAll(' ', '-')}@example.test`

beforeAll(async () => {
  for (const kind of kinds.filter((one) => one !== 'unknown' && one !== 'pending')) {
    await server.client().signUp({ email: addressOf(kind), password })
  }
  await server.client().post('/auth/register', { email: addressOf('pending'), password })
  await server.mailbox.waitFor(addressOf('pending'))
  // No server call does these yet.
  set('email_verified = 0', 'unverified')
  set('disabled_at = 1', 'disabled')
  set(
    `disabled_at = 1, disabled_until = ${Math.floor(server.runtime.clock.now() / 1_000) + 3_600}`,
    'disabled for a while',
  )
  set('password_hash = null', 'without password')
  await post('/auth/login', { email: addressOf('unknown'), password }) // makes the dummy hash
})
beforeEach(() => {
  hashing.mockClear()
})

function set(change: string, kind: Kind): void {
  server.sql(`update latchkey_users set ${change} where email_canonical = ?`, addressOf(kind))
}

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return server.ask('POST', path, { body, headers })
}

/** All that a stranger sees, less what is new in every answer: ids, the time, and random values of one length. */
function look({ status, headers, text, body }: Answer) {
  const id = Reflect.get(Object(body), 'requestId')
  const secret = Reflect.get(Object(body), 'transaction')
  const cookies = headers.getSetCookie().map((line) => line.replace(/=[\w-]{43};/, '=<256 bits>;'))
  headers.delete('set-cookie')
  const shown = [...headers].map(([name, value]) =>
    /^(date|x-request-id|content-length)$/.test(name) ? name : `${name}: ${value}`,
  )
  const cut = text.replace(String(id), '<id>').replace(secret ? String(secret) : '<none>', `<${String(secret).length}>`)
  return { status, shown, cookies, text: cut }
}

/** The work behind an answer: hashes by cost and length, rows, and mails once they are out. */
async function workOf(ask: () => Promise<Answer>) {
  hashing.mockClear()
  const mails = server.mailbox.mails.length
  const [audit, tokens] = [rows('audit'), rows('one_time_tokens')]
  const answer = await ask()
  await expect.poll(() => rows('outbox')).toBe(0)
  const hashes = hashing.mock.calls.map(([{ salt, text }]) => [costOf(salt), text.length])
  return {
    answer,
    hashes,
    rows: { audit: rows('audit') - audit, tokens: rows('one_time_tokens') - tokens },
    mails: server.mailbox.mails.slice(mails),
  }
}

function rows(table: string): number {
  return server.sql<{ n: number }>(`select count(*) as n from latchkey_${table}`)[0]?.n ?? 0
}

function costOf(salt: number | string): number {
  return typeof salt === 'number' ? salt : Number(salt.slice(4, 6))
}

describe.each(kinds)('an address that is %s', (kind) => {
  const email = addressOf(kind)

  test('ATK-003 a wrong password is answered as for nobody, after the same work', async () => {
    for (const wrong of ['wrong wrong wrong', 'w', 'w'.repeat(73), 'w'.repeat(1_024), '😀'.repeat(64), 'w\0rong']) {
      const nobody = await workOf(() => post('/auth/login', { email: 'nobody@example.test', password: wrong }))
      hashing.mockClear()
      const asked = await workOf(() => post('/auth/login', { email, password: wrong }))
      hashing.mockClear()
      expectRefusal(asked.answer, 401)
      expect(asked.answer.body).toMatchObject({ code: 'invalid_credentials' })
      expect(look(asked.answer)).toEqual(look(nobody.answer))
      // ATK-004: one comparison, at the cost of stored hashes. A password that cannot be one is replaced by one that can.
      expect(asked.hashes.map(([cost]) => cost)).toEqual([4])
      expect(nobody.hashes.map(([cost]) => cost)).toEqual([4])
      expect(asked.rows).toEqual(nobody.rows)
      expect([...asked.mails, ...nobody.mails]).toEqual([])
    }
  })

  test('ATK-005 a password that is too long for anybody is refused before the address is looked up', async () => {
    for (const long of ['w'.repeat(1_025), 'w'.repeat(2_000), 'w'.repeat(40_000)]) {
      const nobody = await post('/auth/login', { email: 'nobody@example.test', password: long })
      const asked = await post('/auth/login', { email, password: long })
      expect(look(asked)).toEqual(look(nobody))
      expectRefusal(asked, 400)
    }
    expect(hashing).not.toHaveBeenCalled()
  })

  test.each([
    ['a browser', {}],
    ['an app', { 'x-auth-mode': 'token' }],
  ])('ATK-001 a registration by %s is answered as for nobody, and with one mail', async (_who, headers) => {
    const fresh = `fresh-${Math.random()}@example.test`
    const nobody = await workOf(() => post('/auth/register', { email: fresh, password, name: 'Ada' }, headers))
    const asked = await workOf(() => post('/auth/register', { email, password, name: 'Ada' }, headers))
    expect(asked.answer.status).toBe(202)
    expect(look(asked.answer)).toEqual(look(nobody.answer))
    // Who has an account is told so; only who has none gets something to confirm.
    const confirms = kind === 'unknown' || kind === 'pending'
    expect(asked.mails.map(({ to, text }) => [to, text.includes('token=')])).toEqual([[email, confirms]])
    expect(nobody.mails.map(({ to, text }) => [to, text.includes('token=')])).toEqual([[fresh, true]])
  })

  test('ATK-002 a registration costs one hash, one token, one audit row and one mail, as for nobody', async () => {
    // An address keeps three registrations; a fourth would take the place of one.
    server.sql("delete from latchkey_one_time_tokens where purpose = 'registration'")
    if (kind === 'pending') await post('/auth/register', { email, password })
    await expect.poll(() => rows('outbox')).toBe(0)
    for (const headers of [{}, { 'x-auth-mode': 'token' }]) {
      const fresh = `fresh-${Math.random()}@example.test`
      for (const address of [email, fresh]) {
        hashing.mockClear()
        const { hashes, mails, ...work } = await workOf(() =>
          post('/auth/register', { email: address, password, name: 'Ada' }, headers),
        )
        expect(hashes).toEqual([[4, 64]])
        expect(work.rows).toEqual({ audit: 1, tokens: 1 })
        expect(mails.map(({ to }) => to)).toEqual([address])
      }
    }
  })

  test('ATK-001 a registration that is refused is refused in the same words', async () => {
    for (const refused of ['short', 'password1234', 'x'.repeat(300)]) {
      const nobody = await post('/auth/register', { email: 'nobody@example.test', password: refused })
      const asked = await post('/auth/register', { email, password: refused })
      expect(look(asked)).toEqual(look(nobody))
      expectRefusal(asked, 422)
    }
  })

  test('ATK-007 a stranger who asks for the mail again gets the answer for nobody, and nobody gets a mail', async () => {
    for (const headers of [{}, { cookie: 'registration=x', origin: server.url }]) {
      const nobody = await workOf(() => post('/auth/verify-email/resend', { email: 'nobody@example.test' }, headers))
      const asked = await workOf(() => post('/auth/verify-email/resend', { email }, headers))
      expect(asked.answer.status).toBe(202)
      expect(look(asked.answer)).toEqual(look(nobody.answer))
      expect(asked).toMatchObject({ hashes: [], mails: [], rows: nobody.rows })
    }
  })

  test('ATK-008 a guessed code is answered as for nobody, with and without a password', async () => {
    for (const given of [{}, { password }, { password: 'wrong wrong' }]) {
      const guess = { code: '000000', ...given }
      const nobody = await workOf(() => post('/auth/verify-email', { email: 'nobody@example.test', ...guess }))
      const asked = await workOf(() => post('/auth/verify-email', { email, ...guess }))
      expectRefusal(asked.answer, 400)
      expect(asked.answer.body).toMatchObject({ code: 'invalid_token' })
      expect(look(asked.answer)).toEqual(look(nobody.answer))
      expect([asked.hashes, asked.rows, asked.mails]).toEqual([nobody.hashes, nobody.rows, nobody.mails])
    }
  })
})

describe.each(kinds)('a code by mail for an address that is %s', (kind) => {
  const email = addressOf(kind)
  const mayEnter = ['verified', 'unverified', 'without password'].includes(kind)
  const modes: readonly (readonly [string, Record<string, string>])[] = [
    ['a browser', { origin: server.url }],
    ['an app', { 'x-auth-mode': 'token' }],
  ]

  test.each(modes)('ATK-007 %s that asks gets the answer for nobody, after the same work', async (_who, headers) => {
    const fresh = `fresh-${Math.random()}@example.test`
    const nobody = await workOf(() => post('/auth/otp', { email: fresh }, headers))
    server.sql("delete from latchkey_one_time_tokens where purpose = 'otp'")
    const asked = await workOf(() => post('/auth/otp', { email }, headers))
    server.sql("delete from latchkey_one_time_tokens where purpose = 'otp'")
    expect(asked.answer.status).toBe(202)
    expect(look(asked.answer)).toEqual(look(nobody.answer))
    expect([asked.hashes, asked.rows]).toEqual([[], { audit: 1, tokens: 1 }])
    expect(nobody.rows).toEqual(asked.rows)
    expect(nobody.mails).toEqual([])
    expect(asked.mails.map(({ to }) => to)).toEqual(mayEnter ? [email] : [])
  })

  test.each(modes)(
    'ATK-008 %s that guesses, with its handle and without, is answered as for nobody',
    async (_who, headers) => {
      async function guesses(address: string) {
        const { headers: got, body } = await post('/auth/otp', { email: address }, headers)
        const cookie = got.getSetCookie()[0]?.split(';')[0] ?? ''
        const transaction = Reflect.get(Object(body), 'transaction')
        const answers = []
        for (const holds of [true, true, false]) {
          const proof = { email: address, code: 'never', ...(holds && transaction ? { transaction } : {}) }
          const sent = { ...headers, ...(holds && cookie ? { cookie } : {}) }
          const { answer, ...work } = await workOf(() => post('/auth/otp/verify', proof, sent))
          expectRefusal(answer, 400)
          answers.push({ look: look(answer), work: { ...work, mails: work.mails.length } })
        }
        return answers
      }
      const asked = await guesses(email)
      expect(asked).toEqual(await guesses('nobody@example.test'))
      expect(asked[0]?.work).toEqual({ hashes: [], rows: { audit: 1, tokens: 0 }, mails: 0 })
      expect(new Set(asked.map(({ look }) => look.text)).size).toBe(1)
    },
  )
})

describe('what is told after the right password only', () => {
  test.each([
    ['verified', 200, undefined, 1],
    ['unverified', 403, 'email_not_verified', 1],
    ['disabled', 403, 'account_disabled', 0],
    ['disabled for a while', 403, 'account_disabled', 0],
    ['without password', 401, 'invalid_credentials', 0],
    ['unknown', 401, 'invalid_credentials', 0],
  ] as const)('ATK-003 %s: %i %s', async (kind, status, code, mails) => {
    server.sql("delete from latchkey_one_time_tokens where purpose = 'registration'")
    const { answer, ...work } = await workOf(() => post('/auth/login', { email: addressOf(kind), password }))
    expect([answer.status, Reflect.get(Object(answer.body), 'code')]).toEqual([status, code])
    expect([work.hashes.length, work.mails.length]).toEqual([1, mails])
    expect(answer.headers.getSetCookie().length > 0).toBe(status === 200)
  })

  test('ATK-003 a pending registration: email_not_verified and a mail, as for an unverified account', async () => {
    await post('/auth/register', { email: addressOf('pending'), password })
    await expect.poll(() => rows('outbox')).toBe(0)
    hashing.mockClear()
    const pending = await workOf(() => post('/auth/login', { email: addressOf('pending'), password }))
    const unverified = await workOf(() => post('/auth/login', { email: addressOf('unverified'), password }))
    expect(look(pending.answer)).toEqual(look(unverified.answer))
    // A dummy in the account's place, and what was typed: as with an account (pending-registrations.test.ts).
    expect([pending.mails.length, unverified.mails.length, pending.hashes.length]).toEqual([1, 1, 2])
  })
})

describe('the browser that asked', () => {
  test('ATK-007 may ask again for an address with and without account, with the same answer and one mail', async () => {
    const [stranger, owner] = [server.client(), server.client()]
    const fresh = 'again@example.test'
    await stranger.post('/auth/register', { email: addressOf('verified'), password })
    await owner.post('/auth/register', { email: fresh, password })
    await expect.poll(() => rows('outbox')).toBe(0)
    const again = (client: typeof owner, email: string) =>
      workOf(async () => client.post('/auth/verify-email/resend', { email }))
    const decoy = await again(stranger, addressOf('verified'))
    const real = await again(owner, fresh)
    expect(look(decoy.answer)).toEqual(look(real.answer))
    expect([decoy.rows, decoy.mails.length]).toEqual([real.rows, real.mails.length])
    expect(decoy.mails.map(({ to, text }) => [to, text.includes('token=')])).toEqual([[addressOf('verified'), false]])
    expect(real.mails.map(({ to, text }) => [to, text.includes('token=')])).toEqual([[fresh, true]])
  })

  test('ATK-001 the owner of an account is told, the other gets a link, and neither mail quotes what was typed', async () => {
    const plantedName = 'PLANTED Name'
    await post('/auth/register', { email: addressOf('verified'), password, name: plantedName })
    const told = await server.mailbox.waitFor(addressOf('verified'), /already/i)
    expect(told.text + told.html + told.subject).not.toContain('PLANTED')
    expect(told.text).not.toMatch(/token=|\b\d{6}\b/)
  })

  test('ATK-006 nobody waits for a mail server: with one that never answers, answers are the same', async () => {
    const stuck = { name: 'stuck', version: '1', send: () => {} }
    const slow = await attackServer({ settings: { mail: { from: 'a@example.test', transport: stuck } } })
    for (const email of ['one@example.test', 'two@example.test']) {
      expect((await slow.ask('POST', '/auth/register', { body: { email, password } })).status).toBe(202)
    }
    // It may wait for the mail under way, but no test does.
    void slow.close()
  })
})
