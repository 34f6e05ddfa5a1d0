import { describe, expect, it } from 'vitest'
import type { AuditFilter } from '../../src/index.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'

const newPassword = 'analytical engine 1843'

describe('the audit log for the application’s own code', () => {
  it('tells the newest first who did what from where, with which outcome', async () => {
    const { auth, client, runtime } = await testAuth()
    const { body } = await client({ ip: '192.0.2.7', headers: { 'user-agent': 'Browser/1.0' } }).signUp(ada)
    await runtime.clock.advance('1m')
    await client().post('/auth/login', { ...ada, password: newPassword })

    const { items, nextCursor } = await auth.audit.list()
    expect(nextCursor).toBeNull()
    expect(items.map(({ event }) => event)).toEqual(['login', 'login', 'account_created', 'registration_requested'])
    expect(items[0]).toMatchObject({ outcome: 'failure', userId: body.user.id, at: '2026-01-01T00:01:00.000Z' })
    expect(items[1]).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      at: '2026-01-01T00:00:00.000Z',
      event: 'login',
      outcome: 'success',
      actor: { kind: 'user', userId: body.user.id, sessionId: body.session.id, impersonating: null },
      userId: body.user.id,
      sessionId: body.session.id,
      ip: '192.0.2.7',
      userAgent: 'Browser/1.0',
      detail: { method: 'registration' },
    })
  })

  it('is read page after page, by user and event, while new events come in', async () => {
    const { auth } = await testAuth()
    const user = await auth.users.create(ada)
    const other = await auth.users.create({ email: 'grace@example.test' })
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await auth.users.update(user.id, { roles: [name] })
      await auth.users.update(other.id, { roles: [name] })
    }
    const roles: unknown[] = []
    const filter: AuditFilter = { userId: user.id, event: 'account_updated', limit: 2 }
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await auth.audit.list(cursor === '' ? filter : { ...filter, cursor })
      roles.push(...page.items.map(({ detail }) => detail.roles))
      await auth.users.update(user.id, { roles: ['late'] })
      cursor = page.nextCursor
    }
    expect(roles).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect((await auth.audit.list({ userId: user.id, event: 'account_created' })).items).toHaveLength(1)
    expect(await auth.audit.list({ userId: 'nobody' })).toEqual({ items: [], nextCursor: null })
  })

  it('is read by who acted, whichever account it was about', async () => {
    const { auth, client } = await testAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    await browser.patch('/auth/me', { name: 'Ada' })
    await auth.users.update(body.user.id, { name: 'Countess' })

    const { items } = await auth.audit.list({ actor: body.user.id })
    expect(items.map(({ event }) => event)).toEqual(['profile_changed', 'login'])
    const logins = await auth.audit.list({ actor: body.user.id, userId: body.user.id, event: 'login' })
    expect(logins.items).toEqual([items[1]])
    expect((await auth.audit.list({ actor: 'application' })).items).toEqual([])
    expect((await auth.audit.list({ actor: body.session.id })).items).toEqual([])
  })

  it('is read by time', async () => {
    const { auth, runtime } = await testAuth()
    const { id } = await auth.users.create(ada)
    await runtime.clock.advance('1h')
    await auth.users.update(id, { name: 'Ada' })
    await runtime.clock.advance('1h')
    await auth.users.update(id, { name: 'Countess' })
    const names = async (filter: AuditFilter) => (await auth.audit.list(filter)).items.map(({ at }) => at.slice(11, 16))
    expect(await names({ from: '2026-01-01T01:00:00Z' })).toEqual(['02:00', '01:00'])
    expect(await names({ from: '2026-01-01', to: '2026-01-01T02:00:00Z' })).toEqual(['01:00', '00:00'])
    const { nextCursor } = await auth.audit.list({ to: new Date('2026-01-01T02:00:00Z'), limit: 1 })
    expect(await names({ to: '2026-01-01T02:00:00Z', cursor: nextCursor ?? '' })).toEqual(['00:00'])
    await expect(auth.audit.list({ from: '2026-01-01T01:00' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('keeps what happened to a user after the user is gone', async () => {
    const { auth } = await testAuth()
    const { id } = await auth.users.create(ada)
    await auth.users.delete(id)
    const { items } = await auth.audit.list({ userId: id })
    expect(items.map(({ event }) => event)).toEqual(['account_deleted', 'account_created'])
  })

  it('refuses a page that cannot be', async () => {
    const { audit } = (await testAuth()).auth
    for (const filter of [{ limit: 0 }, { limit: 201 }, { limit: 1.5 }, { cursor: 'no cursor' }, { cursor: '' }]) {
      await expect(audit.list(filter)).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  it('is whole over two instances and a rotation of keys; after a key that was replaced outright nobody vouches for it', async () => {
    const shared = sharedSettings()
    const [former, next] = ['former-Key-8Zt5yWc8rNb2kQm7xHs4vLd', 'next-Key-5kR2vXq9TzLw4sYh8mPc6nBd3']
    const first = await testAuth({ ...shared, encryptionKey: former })
    await first.auth.users.create(ada)
    const second = await testAuth({ ...shared, encryptionKey: [next, former] }, first.runtime)
    await second.auth.users.create({ email: 'grace@example.test' })
    expect(await second.auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
    const third = await testAuth({ ...shared, encryptionKey: next }, first.runtime)
    expect(await third.auth.audit.verify()).toEqual({ ok: true, brokenAt: null })

    const replaced = await testAuth({ ...shared, encryptionKey: [former] }, first.runtime)
    await replaced.auth.users.create({ email: 'mary@example.test' })
    const oldest = (await replaced.auth.audit.list()).items.at(-1)
    expect(await replaced.auth.audit.verify()).toEqual({ ok: false, brokenAt: oldest?.id })
  })
})
