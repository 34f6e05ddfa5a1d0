import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BoundedHashPool } from '../../src/passwords/hash-pool.js'
import { type Answer, attackServer } from '../support/attack-server.js'
import { guess, inTurn, ipOf, limitedAuth, times } from '../support/limits.js'

/** What somebody learns of an address by registering it and then trying the password they chose. */

const hashing = vi.spyOn(BoundedHashPool.prototype, 'run')
const server = await attackServer({ file: true })
afterAll(() => server.close())

const password = 'correct horse battery'
const chosen = 'battery of a stranger'
const kinds = ['verified', 'unverified', 'disabled', 'without password'] as const
const addressOf = (kind: string) => `${kind.replaceAll(' ', '-')}@example.test`

beforeAll(async () => {
  for (const kind of kinds) await server.client().signUp({ email: addressOf(kind), password, name: 'Ada' })
  set('email_verified = 0', 'unverified')
  set('disabled_at = 1', 'disabled')
  set('password_hash = null', 'without password')
  await login('nobody@example.test', password) // makes the dummy hash
})
beforeEach(() => {
  server.sql("delete from latchkey_one_time_tokens where purpose = 'registration'")
})

function set(change: string, kind: string): void {
  server.sql(`update latchkey_users set ${change} where email_canonical = ?`, addressOf(kind))
}

function login(email: string, typed: string): Promise<Answer> {
  return server.ask('POST', '/auth/login', { body: { email, password: typed } })
}

async function register(email: string, typed: string): Promise<void> {
  const body = { email, password: typed, name: 'A stranger' }
  expect((await server.ask('POST', '/auth/register', { body })).status).toBe(202)
  await expect.poll(() => count('outbox')).toBe(0)
}

function count(table: string): number {
  return server.sql<{ n: number }>(`select count(*) as n from latchkey_${table}`)[0]?.n ?? 0
}

function payloads(): { payload: string; length: number }[] {
  return server.sql("select payload, length(payload) as length from latchkey_one_time_tokens where handle_hash <> ''")
}

/** A sign-in, what it answers, and the work behind it. */
async function tryOf(email: string, typed: string) {
  hashing.mockClear()
  const before = { audit: count('audit'), tokens: count('one_time_tokens'), mails: server.mailbox.mails.length }
  const { status, body, headers } = await login(email, typed)
  await expect.poll(() => count('outbox')).toBe(0)
  const mails = server.mailbox.mails.slice(before.mails)
  const work = {
    hashes: hashing.mock.calls.length,
    audit: count('audit') - before.audit,
    tokens: count('one_time_tokens') - before.tokens,
    mails: mails.map(({ to }) => to === email),
  }
  const seen = { status, code: Reflect.get(Object(body), 'code'), cookies: headers.getSetCookie() }
  return { seen, work, mails }
}

describe.each(kinds)('an account that is %s', (kind) => {
  const [email, nobody] = [addressOf(kind), `no-${addressOf(kind)}`]

  test('ATK-001 ATK-003 registering its address and trying what was typed is answered as for nobody, after the same work', async () => {
    for (const address of [email, nobody]) await register(address, chosen)
    const [asked, other] = [await tryOf(email, chosen), await tryOf(nobody, chosen)]
    expect(asked.seen).toEqual({ status: 403, code: 'email_not_verified', cookies: [] })
    expect(other.seen).toEqual(asked.seen)
    // Audited: the sign-in that failed, and the mail that it brought.
    expect(asked.work).toEqual({ hashes: 2, audit: 2, tokens: 0, mails: [true] })
    expect(other.work).toEqual(asked.work)
    // Who has an account is told so, and only who has none gets something to confirm.
    expect(asked.mails.map(({ text }) => /token=|\b\d{6}\b/.test(text))).toEqual([false])
    expect(other.mails.map(({ text }) => text.includes('token='))).toEqual([true])
  })

  test('ATK-003 any other password there is answered as for nobody, after the same work', async () => {
    for (const address of [email, nobody]) await register(address, chosen)
    const [asked, other] = [await tryOf(email, 'wrong wrong wrong'), await tryOf(nobody, 'wrong wrong wrong')]
    expect(asked.seen).toEqual({ status: 401, code: 'invalid_credentials', cookies: [] })
    expect(other.seen).toEqual(asked.seen)
    expect(asked.work).toEqual({ hashes: 2, audit: 1, tokens: 0, mails: [] })
    expect(other.work).toEqual(asked.work)
  })

  test('ATK-001 only what was typed last counts, with and without account', async () => {
    for (const address of [email, nobody]) {
      await register(address, chosen)
      await register(address, `${chosen} 2`)
      expect((await tryOf(address, chosen)).seen.status).toBe(401)
      expect((await tryOf(address, `${chosen} 2`)).seen.status).toBe(403)
    }
  })
})

test('ATK-001 a registration takes the same room at rest with and without account', async () => {
  await register(addressOf('verified'), chosen)
  await register('vacant@a.example.test'.padStart(addressOf('verified').length, 'x'), chosen)
  const [one, other] = payloads()
  expect([one?.length, typeof one?.payload]).toEqual([other?.length, 'string'])
})

test('ATK-001 an address that a change has left is told apart neither', async () => {
  const browser = server.client()
  await browser.signUp({ email: 'former@example.test', password })
  await browser.post('/auth/email/change', { newEmail: 'present@example.test', password })
  const mail = await server.mailbox.waitFor('present@example.test')
  expect((await browser.post('/auth/email/confirm', { token: server.mailbox.token(mail) })).status).toBe(200)
  await server.mailbox.waitFor('former@example.test', /changed/)
  for (const address of ['former@example.test', 'never@example.test']) await register(address, chosen)
  const [former, never] = [await tryOf('former@example.test', chosen), await tryOf('never@example.test', chosen)]
  expect(former.seen).toEqual(never.seen)
  expect(former.work).toEqual(never.work)
  expect((await tryOf('present@example.test', password)).seen.status).toBe(200)
})

test('ATK-003 what a stranger typed changes nothing for the owner, whose own password signs in', async () => {
  const email = addressOf('verified')
  await register(email, chosen)
  expect((await tryOf(email, password)).seen.status).toBe(200)
  await register(email, password)
  expect((await tryOf(email, password)).seen.status).toBe(200)
  set('disabled_at = 1', 'verified')
  expect((await tryOf(email, password)).seen.code).toBe('account_disabled')
  set('disabled_at = null', 'verified')
})

test('ATK-112 it is written down as a failed sign-in to that account, and as one that waits for its mail elsewhere', async () => {
  for (const address of [addressOf('verified'), 'waits@example.test']) {
    await register(address, chosen)
    await login(address, chosen)
  }
  const { id } = (await server.auth.users.findByEmail(addressOf('verified'))) ?? {}
  const events = (await server.auth.audit.list({ event: 'login', limit: 2 })).items
  expect(events.map(({ userId, outcome, detail }) => ({ userId, outcome, detail }))).toEqual([
    { userId: null, outcome: 'failure', detail: { reason: 'email_not_verified' } },
    { userId: id, outcome: 'failure', detail: {} },
  ])
})

test('ATK-001 no link, code or further mail makes an account of it, also after the account is gone', async () => {
  const email = 'leaver@example.test'
  const owner = server.client()
  await owner.signUp({ email, password })
  const stranger = server.client()
  await stranger.post('/auth/register', { email, password: chosen })
  await owner.delete('/auth/me', { password })
  expect((await login(email, chosen)).status).toBe(403)
  expect((await stranger.post('/auth/verify-email/resend', { email })).status).toBe(202)
  await expect.poll(() => count('outbox')).toBe(0)
  const told = server.mailbox.mails.filter(({ to }) => to === email).slice(1)
  expect(told.map(({ text }) => /token=|\b\d{6}\b/.test(text))).toEqual(told.map(() => false))
  expect(told.length).toBeGreaterThan(1)
  expect(await server.auth.users.findByEmail(email)).toBeNull()
})

test('ATK-010 trying what was typed forgets no failures, with and without account', async () => {
  const { client } = await limitedAuth()
  await client().signUp({ email: 'ada@example.test', password })
  for (const [index, email] of ['ada@example.test', 'grace@example.test'].entries()) {
    const asking = client({ ip: ipOf(index) })
    await asking.post('/auth/register', { email, password: chosen })
    expect(await inTurn(9, () => guess(asking, email))).toEqual(times(9, 401))
    const own = await inTurn(2, () => asking.post('/auth/login', { email, password: chosen }))
    expect(own).toEqual([403, 429])
  }
})
