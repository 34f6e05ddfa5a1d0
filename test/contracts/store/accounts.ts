import { expect, test } from 'vitest'
import type { UserRecord } from '../../../src/model/user.js'
import type { Users } from '../../../src/store/users.js'
import type { TestStore } from '../../support/databases.js'
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
  listingContract(current)
}

const aStep = stepOf('account_updated')

function updatingContract(current: () => TestStore): void {
  test('an update sets what is given, raises the version and tells every process; sessions and tokens stay', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const token = await keptToken(store, aReset(user))

    const roles = await store.users.updateAccount(user.id, { roles: ['ADMIN', 'EDITOR'] }, aStep())
    expect(roles).toEqual({ ...user, roles: ['ADMIN', 'EDITOR'], version: 2, lastLoginAt: now })
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
    expect(await users.updateAccount('unknown', { roles: ['ADMIN'] }, aStep())).toBeNull()
    expect(await users.disable('unknown', { at: now, until: null }, aStep({ mail: aMail() }))).toBeNull()
    expect(await users.enable('unknown', aStep())).toBeNull()
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
    const disabled = await store.users.disable(user.id, { at: now, until: now + 60 }, aStep({ audit }))
    const span = { disabledAt: now, disabledUntil: now + 60 }
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
    const user = await createdUser(store, { disabledAt: now, disabledUntil: null })
    const enabled = await store.users.enable(user.id, aStep())
    expect(enabled).toEqual({ ...user, disabledAt: null, version: 2 })
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    await openedSession(store, { ...user, version: 2 })
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
}
