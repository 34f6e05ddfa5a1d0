import { expect, test } from 'vitest'
import type { UserRecord } from '../../../src/model/user.js'
import type { Replacement } from '../../../src/store/sessions.js'
import type { TestStore } from '../../support/databases.js'
import { anEvent, aPasskey, aSession, atOnce, createdUser, now, openedSession, stepOf, until } from './rows.js'

export function replacedSessionsContract(current: () => TestStore): void {
  test('one session takes the place of another, whose tokens are revoked; the others stay', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const former = await openedSession(store, user)
    const other = await openedSession(store, user)
    const replacement = replacementOf(user, former.id)
    expect(await store.sessions.replace(replacement)).toBe(true)
    expect(await store.sessions.find(former.id)).toBeNull()
    const live = (await store.sessions.list(user.id, now)).map(({ id }) => id)
    expect(live.sort()).toEqual([other.id, replacement.session.id].sort())
    expect(changes).toMatchObject([{ kind: 'session', subject: former.id }])
    expect((await store.users.findById(user.id))?.version).toBe(user.version)
  })

  test('of many that replace one session, one does', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const former = await openedSession(store, user)
    const results = await atOnce(() => store.sessions.replace(replacementOf(user, former.id)))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.sessions.list(user.id, now)).toHaveLength(1)
  })

  test('of many that use one proof, one does', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const sessions = await Promise.all([1, 2, 3].map(() => openedSession(store, user)))
    const passkey = aPasskey(user.id, { signCount: 5 })
    await store.passkeys.add({ passkey, fromSessionId: sessions[0]?.id ?? '', max: 20 }, stepOf('account_updated')())
    const facts = { kind: 'passkey', id: passkey.id, seenCount: 5, signCount: 6 } as const
    const proof = { ...facts, backedUp: true, userVerified: true }
    const results = await Promise.all(
      sessions.map(({ id }) => store.sessions.replace({ ...replacementOf(user, id), proof })),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.passkeys.list(user.id)).toMatchObject([{ signCount: 6, lastUsedAt: now }])
  })

  test('no session takes the place of one that is over, impersonated or of another user', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const stranger = await openedSession(store, await createdUser(store))
    const over = await openedSession(store, user, { expiresAt: now })
    const actor = { userId: 'administrator', sessionId: 'theirs' }
    const impersonated = await openedSession(store, user, { actor })
    const former = await openedSession(store, user)
    const replace = (id: string, version = user.version) =>
      store.sessions.replace({ ...replacementOf(user, id), version })
    expect(await replace(stranger.id)).toBe(false)
    expect(await replace(over.id)).toBe(false)
    expect(await replace(impersonated.id)).toBe(false)
    expect(await replace('unknown')).toBe(false)
    expect(await replace(former.id, user.version + 1)).toBe(false)
    expect(await store.sessions.find(stranger.id)).not.toBeNull()
    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toContain(former.id)
  })

  test('no session takes the place of one of a disabled user', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const former = await openedSession(store, user)
    await store.users.disable(user.id, { at: now, until: null, reason: null }, stepOf('account_disabled')())
    const disabled = await store.users.findById(user.id)
    expect(await store.sessions.replace(replacementOf(disabled ?? user, former.id))).toBe(false)
  })
}

function replacementOf(user: UserRecord, fromSessionId: string): Replacement {
  const session = aSession(user.id)
  return { fromSessionId, session, version: user.version, proof: null, until, audit: anEvent() }
}
