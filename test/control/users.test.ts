import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AccountFilter } from '../../src/index.js'
import { createTestMailbox } from '../../src/testing.js'
import { attackServer } from '../support/attack-server.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import { enrol } from '../support/totp.js'

const newPassword = 'analytical engine 1843'

describe('accounts by the application’s own calls', () => {
  it('are created, found and told about, and mail nobody', async () => {
    const { auth, client, mailbox } = await testAuth()
    const account = { ...ada, email: 'Ada@Example.test', name: ' Ada ', roles: ['EDITOR', 'EDITOR'] }
    const user = await auth.users.create({ ...account, emailVerified: true })
    expect(user).toMatchObject({ email: 'Ada@Example.test', emailVerified: true, name: 'Ada', roles: ['EDITOR'] })
    expect(user).toMatchObject({ disabledAt: null, disabledUntil: null, lastLoginAt: null })
    expect(Object.keys(user)).not.toContain('passwordHash')
    expect(await auth.users.get(user.id)).toEqual(user)
    expect(await auth.users.findByEmail('ADA@example.TEST')).toEqual(user)
    expect((await client().signIn(ada)).body.user).toMatchObject({ id: user.id, roles: ['EDITOR'] })
    expect(mailbox.mails).toEqual([])
  })

  it('that are not there are null, false or not_found', async () => {
    const { users } = (await testAuth()).auth
    expect(await users.get('unknown')).toBeNull()
    expect(await users.findByEmail('nobody@example.test')).toBeNull()
    expect(await users.findByEmail('no address')).toBeNull()
    expect(await users.delete('unknown')).toBe(false)
    for (const call of [
      users.update('unknown', { name: 'Ada' }),
      users.setPassword('unknown', newPassword),
      users.disable('unknown'),
      users.enable('unknown'),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('are not changed at all by a call with a name that is not known: a slip must not look done', async () => {
    const { users } = (await testAuth()).auth
    const { id } = await users.create({ ...ada, roles: ['OWNER'] })
    const slip = (given: object) => given
    for (const [call, path] of [
      [users.update(id, slip({ role: [], name: 'Ada' })), 'role'],
      [users.update(id, slip({ disabled: true })), 'disabled'],
      [users.disable(id, slip({ untill: '2030-01-01' })), 'untill'],
      [users.create({ email: 'grace@example.test', ...slip({ verified: true }) }), 'verified'],
    ] as const) {
      await expect(call).rejects.toMatchObject({ code: 'invalid_request', details: { errors: [{ path }] } })
    }
    expect(await users.get(id)).toMatchObject({ roles: ['OWNER'], name: null, disabledAt: null })
    expect(await users.findByEmail('grace@example.test')).toBeNull()
  })

  it('are refused by the rules that hold for everybody', async () => {
    const { users } = (await testAuth()).auth
    const { id } = await users.create(ada)
    await expect(users.create({ email: 'ADA@example.test' })).rejects.toMatchObject({ code: 'email_taken' })
    const fresh = 'grace@example.test'
    await expect(users.create({ email: fresh, password: 'password12' })).rejects.toMatchObject({
      code: 'weak_password',
      details: { reasons: ['common'] },
    })
    await expect(users.setPassword(id, 'short')).rejects.toMatchObject({ code: 'weak_password' })
    for (const call of [
      users.create({ email: 'no address' }),
      users.create({ email: fresh, name: 'two\nlines' }),
      users.update(id, { name: 'x'.repeat(101) }),
      users.update(id, { roles: [''] }),
      users.update(id, { roles: ['two\nlines'] }),
      users.update(id, { roles: Array.from({ length: 200 }, (_, index) => `ROLE_${index}`) }),
      users.disable(id, { until: 'soon' }),
      users.disable(id, { reason: 'two\r\nlines' }),
      users.list({ limit: 0 }),
      users.list({ limit: 201 }),
      users.list({ cursor: 'x' }),
      users.list({ role: '' }),
      users.list(JSON.parse('{ "state": "asleep" }')),
      users.list(JSON.parse('{ "role": ["EDITOR"] }')),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid_request' })
    }
    expect(await users.findByEmail(fresh)).toBeNull()
    expect(await users.get(id)).toMatchObject({ roles: [], disabledAt: null })
  })

  it('are listed page after page, the newest first', async () => {
    const { auth, runtime } = await testAuth()
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await auth.users.create({ email: `${name}@example.test`, name: name === 'd' ? 'Grace Hopper' : name })
      if (name !== 'b') await runtime.clock.advance('1s')
    }
    const emails: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await auth.users.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.items.length).toBeLessThanOrEqual(2)
      emails.push(...page.items.map(({ email }) => email))
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(emails.map((email) => email[0])).toEqual(['e', 'd', expect.stringMatching(/[bc]/), expect.any(String), 'a'])
    expect(new Set(emails).size).toBe(5)
    expect((await auth.users.list({ query: ' hopper ' })).items.map(({ email }) => email)).toEqual(['d@example.test'])
    expect((await auth.users.list({ query: 'example', limit: 5 })).nextCursor).toBeNull()
    expect(await auth.users.list({ query: '%' })).toEqual({ items: [], nextCursor: null })
  })

  it('are listed by role and state', async () => {
    const { users } = (await testAuth()).auth
    const names = async (filter: AccountFilter) => (await users.list(filter)).items.map(({ name }) => name).sort()
    await users.create({ email: 'a@example.test', name: 'a', roles: ['EDITOR'], emailVerified: true })
    await users.create({ email: 'b@example.test', name: 'b', roles: ['EDITOR', 'READER'] })
    const { id } = await users.create({ email: 'c@example.test', name: 'c', roles: ['READER'], emailVerified: true })
    await users.disable(id)
    expect(await names({ role: 'READER' })).toEqual(['b', 'c'])
    expect(await names({ role: 'READER', state: 'disabled' })).toEqual(['c'])
    expect(await names({ state: 'active' })).toEqual(['a'])
    expect(await names({ state: 'unverified', query: 'example' })).toEqual(['b'])
    expect(await names({ role: 'READ' })).toEqual([])
  })

  it('are found alone by their whole address in any spelling, and by a part of it together', async () => {
    const { users } = (await testAuth()).auth
    const found = async (filter: AccountFilter) => (await users.list(filter)).items.map(({ email }) => email).sort()
    for (const email of ['ann@example.test', 'joann@example.test', 'joann@example.test.example']) {
      await users.create({ email, roles: ['EDITOR'] })
    }
    expect(await found({ query: ' Ann@Example.TEST ' })).toEqual(['ann@example.test'])
    expect(await found({ query: 'ann@example.test', role: 'EDITOR' })).toEqual(['ann@example.test'])
    expect(await found({ query: 'nn@example.test' })).toHaveLength(3)
    expect(await found({ query: 'oann@example.test', role: 'READER' })).toEqual([])
    const page = await users.list({ query: 'nn@example.test', limit: 2 })
    const rest = await users.list({ query: 'nn@example.test', limit: 2, cursor: page.nextCursor ?? '' })
    expect([page.items.length, rest.items.length, rest.nextCursor]).toEqual([2, 1, null])
  })
})

describe('what the application does to an account', () => {
  it('ATK-067 with a role taken away kills the tokens that carry it, and a refresh brings what is left', async () => {
    const { auth, client, passed } = await testAuth()
    const { id } = await auth.users.create({ ...ada, roles: ['OWNER'], emailVerified: true })
    const browser = client()
    await browser.signIn(ada)
    await browser.get('/api/notes')
    expect(passed.at(-1)?.principal).toMatchObject({ roles: ['OWNER'] })

    const updated = await auth.users.update(id, { roles: ['READER'], name: 'Ada' })
    expect(updated).toMatchObject({ roles: ['READER'], name: 'Ada' })
    expect((await browser.get('/api/notes')).body).toMatchObject({ status: 401, code: 'token_expired' })
    expect((await browser.refresh()).status).toBe(200)
    await browser.get('/api/notes')
    expect(passed).toHaveLength(2)
    expect(passed.at(-1)?.principal).toMatchObject({ roles: ['READER'] })
  })

  it('without a second factor that was lost lets its owner in again, ends every session and tells of it', async () => {
    const { auth, client, mailbox, runtime } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    const { id } = body.user
    await enrol(browser, ada.password, runtime.clock)
    expect(await auth.users.get(id)).toMatchObject({ twoFactor: true })

    const updated = await auth.users.update(id, { twoFactor: false, roles: ['READER'] })
    expect(updated).toMatchObject({ twoFactor: false, roles: ['READER'] })
    expect((await browser.get('/api/notes')).status).toBe(401)
    expect((await browser.refresh()).body).toMatchObject({ code: 'token_revoked' })
    expect((await browser.signIn(ada)).body.user).toMatchObject({ twoFactor: false })
    const notice = await mailbox.waitFor(ada.email, 'turned off')
    expect(notice.text).not.toMatch(/https?:/)

    const mails = mailbox.mails.length
    expect(await auth.users.update(id, { twoFactor: false })).toMatchObject({ twoFactor: false })
    await runtime.clock.advance('1m')
    expect((await browser.refresh()).status).toBe(200)
    expect(mailbox.mails).toHaveLength(mails)
  })

  it('cannot be given a second factor, which only its owner can set up', async () => {
    const { users } = (await testAuth()).auth
    const { id } = await users.create(ada)
    for (const twoFactor of [true, null, 0, 'off']) {
      const changes: object = { twoFactor }
      await expect(users.update(id, changes)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    await expect(users.update('unknown', { twoFactor: false })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('ATK-066 disabled ends everything at once, says so only after the right password, and can be undone', async () => {
    const { auth, client, mailbox } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    await browser.post('/auth/password/forgot', { email: ada.email })
    const token = mailbox.token(await mailbox.waitFor(ada.email, 'Choose a new password'))

    const disabled = await auth.users.disable(body.user.id, { reason: 'chargeback' })
    expect(disabled).toMatchObject({ disabledAt: expect.any(String), disabledUntil: null })
    expect((await browser.get('/api/notes')).status).toBe(401)
    expect((await browser.get('/auth/me')).status).toBe(401)
    expect((await browser.refresh()).body).toMatchObject({ code: 'token_revoked' })
    expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(400)
    expect((await client().post('/auth/login', ada)).body).toMatchObject({ status: 403, code: 'account_disabled' })
    const wrong = await client().post('/auth/login', { ...ada, password: 'wrong wrong wrong' })
    expect(wrong.body).toMatchObject({ code: 'invalid_credentials' })
    expect(await auth.sessions.list(body.user.id)).toMatchObject({ items: [] })

    expect(await auth.users.enable(body.user.id)).toMatchObject({ disabledAt: null })
    expect((await browser.get('/api/notes')).status).toBe(401)
    await browser.signIn(ada)
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('disabled until a moment may sign in from then on', async () => {
    const { auth, client, runtime } = await testAuth()
    const { id } = await auth.users.create({ ...ada, emailVerified: true })
    const until = new Date(runtime.clock.now() + 60_000)
    expect(await auth.users.disable(id, { until })).toMatchObject({ disabledUntil: expect.stringMatching(/Z$/) })
    expect((await client().post('/auth/login', ada)).status).toBe(403)
    await runtime.clock.advance('61s')
    await client().signIn(ada)
  })

  it('deleted leave nothing behind, also in a database whose foreign keys are off', async () => {
    const database = new Database(':memory:')
    database.pragma('foreign_keys = off')
    const { auth, client } = await testAuth({ database: new SqliteDialect({ database }) })
    const { body } = await client().signUp(ada)
    const tables = ['users', 'sessions', 'devices', 'identities', 'backup_codes', 'one_time_tokens']
    const counts = () => tables.map((name) => database.prepare(`select count(*) from latchkey_${name}`).pluck().get())
    expect(counts()).toEqual([1, 1, 1, 0, 0, 0])
    expect(await auth.users.delete(body.user.id)).toBe(true)
    expect(counts()).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('ATK-066 deleted is gone at once, and its address is free', async () => {
    const { auth, client } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    expect(await auth.users.delete(body.user.id)).toBe(true)
    expect((await browser.get('/api/notes')).status).toBe(401)
    expect((await browser.refresh()).status).toBe(401)
    expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    expect(await auth.users.findByEmail(ada.email)).toBeNull()
    expect((await auth.users.create(ada)).id).not.toBe(body.user.id)
  })

  it('ATK-066 another instance on the same store refuses the tokens once it has read the feed', async () => {
    const shared = { ...sharedSettings(), mailbox: createTestMailbox() }
    const here = await testAuth(shared)
    const there = await testAuth(shared, here.runtime)
    const { id } = await here.auth.users.create({ ...ada, emailVerified: true })
    const browser = there.client()
    await browser.signIn(ada)
    expect((await browser.get('/api/notes')).status).toBe(200)
    await here.auth.users.disable(id)
    await here.runtime.clock.advance('1s')
    expect((await browser.get('/api/notes')).status).toBe(401)
  })

  it('is written down, each time once, as done by the application', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    const { users } = server.auth
    const { id } = await users.create(ada)
    await users.update(id, { roles: ['OWNER', 'EDITOR'] })
    await users.setPassword(id, newPassword)
    await users.disable(id, { reason: 'chargeback' })
    await users.enable(id)
    await users.delete(id)
    const rows = server.sql<{ event: string; user_id: string; actor: string; detail: string }>(
      'select event, user_id, actor, detail from latchkey_audit order by seq',
    )
    expect(rows.map(({ event, detail }) => [event, JSON.parse(detail)])).toEqual([
      ['account_created', {}],
      ['account_updated', { roles: 'OWNER,EDITOR' }],
      ['password_changed', {}],
      ['account_disabled', { reason: 'chargeback' }],
      ['account_enabled', {}],
      ['account_deleted', {}],
    ])
    expect(new Set(rows.map((row) => row.user_id))).toEqual(new Set([id]))
    expect(new Set(rows.map((row) => row.actor))).toEqual(new Set(['{"kind":"application"}']))
  })

  it('a password that is set ends the sessions and tells the owner, and only it signs in', async () => {
    const { auth, client, mailbox } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    await auth.users.setPassword(body.user.id, newPassword)
    expect((await browser.get('/api/notes')).status).toBe(401)
    expect((await browser.refresh()).status).toBe(401)
    expect((await client().post('/auth/login', ada)).status).toBe(401)
    await client().signIn({ ...ada, password: newPassword })
    await mailbox.waitFor(ada.email, 'Your password was changed')
  })
})
