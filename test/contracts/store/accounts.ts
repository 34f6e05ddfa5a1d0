import { expect, test } from 'vitest'
import type { AccountState } from '../../../src/model/account.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Users } from '../../../src/store/users.js'
import type { TestStore } from '../../support/databases.js'
import { lastAdminContract } from './last-admin.js'
import {
  aMail,
  anEvent,
  aReset,
  atOnce,
  auditedEvents,
  aVerification,
  createdUser,
  crowd,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
  waitingMails,
} from './rows.js'

export function accountsContract(current: () => TestStore): void {
  updatingContract(current)
  disablingContract(current)
  lastAdminContract(current)
  listingContract(current)
}

const aStep = stepOf('account_updated')

function updatingContract(current: () => TestStore): void {
  test('an update sets what is given, raises the version and tells every process; sessions and tokens stay', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const token = await keptToken(store, aReset(user))

    const roles = await store.users.updateAccount(user.id, { roles: ['OWNER', 'EDITOR'] }, aStep())
    expect(roles).toEqual({ ...user, roles: ['OWNER', 'EDITOR'], version: 2, lastLoginAt: now })
    const both = await store.users.updateAccount(user.id, { name: null, roles: [] }, aStep({ audit: anEvent() }))
    expect(both).toEqual({ ...roles, name: null, roles: [], version: 3 })
    expect(await store.users.findById(user.id)).toEqual(both)

    expect((await store.sessions.find(session.id))?.user.version).toBe(3)
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([token])
    expect(changes).toEqual([
      expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until }),
      expect.objectContaining({ kind: 'user', subject: user.id, version: 3, until }),
    ])
    expect(await auditedEvents(store)).toContain('account_updated')
  })

  test('no update at once with others is lost to the version', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await atOnce(() => store.users.updateAccount(user.id, { roles: [] }, aStep({ audit: anEvent() })))
    expect((await store.users.findById(user.id))?.version).toBe(1 + crowd)
  })

  test('an unknown user is not updated, disabled or enabled, and nothing is written down', async () => {
    const { store, changes } = current()
    const { users } = store
    expect(await users.updateAccount('unknown', { roles: ['OWNER'] }, aStep())).toBeNull()
    expect(await users.disable('unknown', { at: now, until: null, reason: null }, aStep({ mail: aMail() }))).toBeNull()
    expect(await users.enable('unknown', now, aStep())).toBeNull()
    expect([changes, await auditedEvents(store), await waitingMails(store)]).toEqual([[], [], []])
  })
}

function disablingContract(current: () => TestStore): void {
  test('disabling ends every session and token of that user and of no other, and kills access tokens', async () => {
    const { store, changes } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    const [session, kept] = [await openedSession(store, user), await openedSession(store, other)]
    await keptToken(store, aReset(user))
    await keptToken(store, aVerification(user))
    const foreign = await keptToken(store, aReset(other))

    const audit = anEvent({ event: 'account_disabled' })
    const disabled = await store.users.disable(
      user.id,
      { at: now, until: now + 60, reason: 'chargeback' },
      aStep({ audit }),
    )
    const span = { disabledAt: now, disabledUntil: now + 60, disabledReason: 'chargeback' }
    expect(disabled).toEqual({ ...user, ...span, version: 2, lastLoginAt: now })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(kept.id)).not.toBeNull()
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('password_reset', other.emailCanonical, now)).toEqual([foreign])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect(await auditedEvents(store)).toContain('account_disabled')
  })

  test('an enabled user may sign in again, at a version of its own', async () => {
    const { store, changes } = current()
    const user = await createdUser(store, { disabledAt: now, disabledUntil: null, disabledReason: 'chargeback' })
    const enabled = await store.users.enable(user.id, now, aStep())
    expect(enabled).toEqual({ ...user, disabledAt: null, disabledReason: null, version: 2 })
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    await openedSession(store, { ...user, version: 2 })
  })

  test('what an account is already is not written again: of many at once, one call changes it', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const disabling = { at: now, until: now + 60, reason: 'chargeback' }
    const disable = (more = {}) => {
      const audit = anEvent({ event: 'account_disabled' })
      return store.users.disable(user.id, { ...disabling, ...more }, aStep({ audit }))
    }
    const enable = (at = now) =>
      store.users.enable(user.id, at, aStep({ audit: anEvent({ event: 'account_enabled' }) }))
    expect(await enable()).toEqual(user)

    const disabled = await atOnce(() => disable())
    expect(new Set(disabled.map((account) => account && typeof account === 'object' && account.version))).toEqual(
      new Set([2]),
    )
    expect(await disable({ at: now + 5 })).toMatchObject({ version: 2, disabledAt: now })
    expect(await enable(now + 60)).toMatchObject({ version: 2 })
    expect(await disable({ reason: 'fraud' })).toMatchObject({ version: 3, disabledReason: 'fraud' })
    expect(await disable({ reason: 'fraud', until: null })).toMatchObject({ version: 4, disabledUntil: null })
    await atOnce(() => enable())
    expect(await store.users.findById(user.id)).toEqual({ ...user, version: 5 })
    expect(changes.map(({ version }) => version)).toEqual([2, 3, 4, 5])
    const events = (await auditedEvents(store)).filter((event) => event !== 'account_created')
    expect(events).toEqual(['account_disabled', 'account_disabled', 'account_disabled', 'account_enabled'])
  })
}

function listingContract(current: () => TestStore): void {
  const ids = async (filter: Partial<Parameters<Users['list']>[0]>) => {
    const users = await current().store.users.list({ query: null, after: null, limit: 50, ...filter })
    return users.map(({ id }) => id)
  }

  test('users are listed newest first, page after page, each once', async () => {
    const { store } = current()
    const moments = [now, now, now - 1, now + 1, now - 1]
    const created: UserRecord[] = []
    for (const createdAt of moments) created.push(await createdUser(store, { createdAt }))
    const all = await ids({})
    expect([...all].sort()).toEqual(created.map(({ id }) => id).sort())
    const times = all.map((id) => created.find((user) => user.id === id)?.createdAt)
    expect(times).toEqual([now + 1, now, now, now - 1, now - 1])

    const paged: string[] = []
    for (let after = null as { createdAt: number; id: string } | null; ; ) {
      const [user] = await store.users.list({ query: null, after, limit: 1 })
      if (!user) break
      paged.push(user.id)
      after = { createdAt: user.createdAt, id: user.id }
    }
    expect(paged).toEqual(all)
  })

  test('users are counted, where the store can count', async () => {
    const { users } = current().store
    const counted = async () =>
      (await users.count()) ?? (await users.list({ query: null, after: null, limit: 9 })).length
    expect(await counted()).toBe(0)
    for (let made = 1; made <= 3; made += 1) await createdUser(current().store)
    expect(await counted()).toBe(3)
  })

  test('a user in a list has every field as it was given', async () => {
    const { store } = current()
    const user = await createdUser(store, { roles: ['A'], fields: { plan: 'pro' }, disabledAt: now })
    expect(await store.users.list({ query: null, after: null, limit: 50 })).toEqual([user])
  })

  test('a query finds a part of the address or the name, without wildcards and with ASCII letters in either case', async () => {
    const { store } = current()
    const ada = await createdUser(store, { emailCanonical: 'ada@example.com', name: 'Ada Lovelace' })
    const zo = await createdUser(store, { emailCanonical: 'zo@example.org', name: 'Żółć' })
    const bare = await createdUser(store, { emailCanonical: 'bare_100%@example.org', name: null })
    expect(await ids({ query: 'LOVE' })).toEqual([ada.id])
    expect(await ids({ query: 'Ada@Example' })).toEqual([ada.id])
    expect(await ids({ query: 'Żół' })).toEqual([zo.id])
    expect((await ids({ query: 'example.org' })).sort()).toEqual([zo.id, bare.id].sort())
    expect(await ids({ query: '_' })).toEqual([bare.id])
    expect(await ids({ query: '%' })).toEqual([bare.id])
    expect(await ids({ query: "'; drop table latchkey_users; --\\" })).toEqual([])
    expect(await ids({ query: 'nobody' })).toEqual([])
    expect(await ids({ query: 'example', after: { createdAt: now - 1, id: 'z' } })).toEqual([])
  })

  test('a role finds the users who have exactly that role', async () => {
    const { store } = current()
    const roles = ['EDITOR', 'editor', 'EDIT', 'a"b', '","EDITOR', '["EDITOR"]', 'x"EDITOR', '%', 'back\\slash', 'Ünï']
    const users = []
    for (const role of roles) users.push(await createdUser(store, { roles: ['FIRST', role] }))
    const alone = await createdUser(store, { roles: ['EDITOR'] })
    await createdUser(store, { roles: [] })
    expect((await ids({ role: 'EDITOR' })).sort()).toEqual([users[0]?.id, alone.id].sort())
    for (const [index, role] of roles.entries()) {
      if (index > 0) expect([role, await ids({ role })]).toEqual([role, [users[index]?.id]])
    }
    expect(await ids({ role: 'FIRST' })).toHaveLength(roles.length)
    for (const role of ['', 'EDITO', 'EDITOR"', '"EDITOR"', '_DITOR']) expect(await ids({ role })).toEqual([])
  })

  test('every user is active, disabled or unverified, by that moment', async () => {
    const { store } = current()
    const emailVerified = true
    const active = await createdUser(store, { emailVerified })
    const unverified = await createdUser(store, { emailVerified: false })
    const disabled = await createdUser(store, { emailVerified, disabledAt: now - 9 })
    const forNow = await createdUser(store, { emailVerified: false, disabledAt: now - 9, disabledUntil: now + 1 })
    const again = await createdUser(store, { emailVerified, disabledAt: now - 9, disabledUntil: now })
    const never = await createdUser(store, { emailVerified: false, disabledAt: now - 9, disabledUntil: now })
    const inState = async (is: AccountState, at = now) => (await ids({ state: { is, at } })).sort()
    expect(await inState('active')).toEqual([active.id, again.id].sort())
    expect(await inState('unverified')).toEqual([unverified.id, never.id].sort())
    expect(await inState('disabled')).toEqual([disabled.id, forNow.id].sort())
    expect(await inState('unverified', now + 1)).toEqual([unverified.id, never.id, forNow.id].sort())
  })

  test('an address finds its user alone, and a list of addresses those who proved one of them', async () => {
    const { store } = current()
    const proved = { emailVerified: true, verifiedBy: 'mailbox' } as const
    const ada = await createdUser(store, { emailCanonical: 'ada@example.com', ...proved })
    const more = await createdUser(store, {
      emailCanonical: 'xada@example.com',
      ...proved,
      roles: ['EDITOR'],
    })
    await createdUser(store, { emailCanonical: 'bob@example.com', emailVerified: false })
    await createdUser(store, { emailCanonical: 'dan@example.com', emailVerified: true, verifiedBy: null })
    expect(await ids({ email: 'ada@example.com' })).toEqual([ada.id])
    expect(await ids({ email: 'ada@example' })).toEqual([])
    const verifiedAs = ['ada', 'bob', 'dan', 'xada', 'gone'].map((name) => `${name}@example.com`)
    expect((await ids({ verifiedAs })).sort()).toEqual([ada.id, more.id].sort())
    expect(await ids({ verifiedAs, email: 'xada@example.com' })).toEqual([more.id])
    expect(await ids({ verifiedAs, email: 'bob@example.com' })).toEqual([])
    expect(await ids({ verifiedAs: ['ada@example.com'], email: 'xada@example.com' })).toEqual([])
    expect(await ids({ verifiedAs: [] })).toEqual([])
  })

  test('conditions of a list hold together, page after page', async () => {
    const { store } = current()
    const wanted = []
    for (const createdAt of [now - 1, now, now, now + 1]) {
      wanted.push(await createdUser(store, { createdAt, name: 'Lovelace', roles: ['EDITOR'], emailVerified: true }))
      await createdUser(store, { createdAt, name: 'Lovelace', roles: ['READER'], emailVerified: true })
      await createdUser(store, { createdAt, name: 'Lovelace', roles: ['EDITOR'], emailVerified: false })
      await createdUser(store, { createdAt, name: 'Hopper', roles: ['EDITOR'], emailVerified: true })
    }
    const filter = { query: 'love', role: 'EDITOR', state: { is: 'active', at: now } } as const
    const paged: string[] = []
    for (let after: UserRecord | null = null; ; ) {
      const [user]: UserRecord[] = await store.users.list({ ...filter, after, limit: 1 })
      if (!user) break
      paged.push(user.id)
      after = user
    }
    expect(paged).toEqual(await ids(filter))
    expect([...paged].sort()).toEqual(wanted.map(({ id }) => id).sort())
  })
}
