import { expect, test } from 'vitest'
import type { UserRecord } from '../../../src/model/user.js'
import type { Store } from '../../../src/store/store.js'
import type { TestStore } from '../../support/databases.js'
import {
  aChallenge,
  aMail,
  anEvent,
  anUndo,
  aPasskey,
  aReset,
  aSession,
  aTotp,
  atOnce,
  aUser,
  createdUser,
  crowd,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
} from './rows.js'

export function passkeysContract(current: () => TestStore): void {
  addingContract(current)
  usingContract(current)
  removingContract(current)
  losingContract(current)
}

const changed = stepOf('account_updated')

/** A user with a verified address who is signed in. */
async function signedIn(store: Store, overrides: Partial<UserRecord> = {}) {
  const user = await createdUser(store, { emailVerified: true, ...overrides })
  return { user, session: await openedSession(store, user) }
}

/** The same with a passkey of these facts. */
async function withPasskey(
  store: Store,
  { user: facts, passkey: own }: { user?: Partial<UserRecord>; passkey?: Partial<ReturnType<typeof aPasskey>> } = {},
) {
  const { user, session } = await signedIn(store, facts)
  const passkey = aPasskey(user.id, own)
  await store.passkeys.add({ passkey, fromSessionId: session.id, max: 20 }, changed())
  return { user, session, passkey }
}

function shown({ id, rpId, createdAt }: { id: string; rpId: string; createdAt: number }) {
  return { kind: 'passkey', id, rpId, enabledAt: createdAt } as const
}

function addingContract(current: () => TestStore): void {
  test('a passkey is added, found by its credential and RP id, listed, and shown by the user at once', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    const found = await store.passkeys.find('example.test', passkey.credentialId)
    expect(found?.passkey).toEqual(passkey)
    expect(found?.user).toEqual(await store.users.findById(user.id))
    expect(found?.user.factors).toEqual([shown(passkey)])
    expect(found?.user.version).toBe(user.version)
    expect(await store.passkeys.list(user.id)).toEqual([passkey])
    expect(await store.passkeys.find('other.test', passkey.credentialId)).toBeNull()
    expect(await store.passkeys.find('example.test', 'unknown')).toBeNull()
  })

  test('a user keeps the first handle for all passkeys', async () => {
    const { store } = current()
    const { user } = await signedIn(store)
    const handles = await atOnce((index) => store.passkeys.handleOf(user.id, `handle-${index}`))
    expect(new Set(handles).size).toBe(1)
    expect(await store.passkeys.handleOf(user.id, 'late')).toBe(handles[0])
    expect(await store.passkeys.handleOf(user.id)).toBe(handles[0])
    expect(await store.passkeys.handleOf('nobody', 'fresh')).toBeNull()
  })

  test('without a fresh handle, asking for the handle makes none', async () => {
    const { store } = current()
    const { user } = await signedIn(store)
    expect(await store.passkeys.handleOf(user.id)).toBeNull()
    expect(await store.passkeys.handleOf(user.id)).toBeNull()
  })

  test('a credential belongs to one account: of many that claim it at once, one gets it', async () => {
    const { store } = current()
    const owners = await Promise.all(Array.from({ length: 5 }, () => signedIn(store)))
    const results = await Promise.all(
      owners.map(({ user, session }) => {
        const passkey = aPasskey(user.id, { credentialId: 'shared' })
        return store.passkeys.add({ passkey, fromSessionId: session.id, max: 20 }, changed())
      }),
    )
    expect(results.filter((result) => result === 'taken')).toHaveLength(4)
  })

  test('accounts are made with passkeys, and of many with the same one, one is made and nothing is left of the others', async () => {
    const { store } = current()
    const newcomers = Array.from({ length: 5 }, () => {
      const user = aUser()
      const passkeys = [aPasskey(user.id, { userHandle: null }), aPasskey(user.id, { credentialId: 'imported' })]
      return { user: { ...user, factors: passkeys.map(shown) }, passkeys }
    })
    const results = await Promise.all(
      newcomers.map(({ user, passkeys }) => store.users.createWithPasskeys(user, passkeys, anEvent())),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    for (const [index, { user, passkeys }] of newcomers.entries()) {
      const isMade = results[index] === true
      expect(await store.users.findById(user.id)).toEqual(isMade ? user : null)
      const found = await store.passkeys.list(user.id)
      expect(found).toHaveLength(isMade ? 2 : 0)
      if (isMade) expect(found).toEqual(expect.arrayContaining(passkeys))
    }
    const emailCanonical = newcomers[results.indexOf(true)]?.user.emailCanonical ?? ''
    expect(await store.users.createWithPasskeys(aUser({ emailCanonical }), [], anEvent())).toBe(false)
  })

  test('imported passkeys of one user name are of the same user as later ones', async () => {
    const { store } = current()
    const handles = [['one', 'one'], ['one', 'two'], ['one', null], ['x'.repeat(65)], []]
    for (const [index, each] of handles.entries()) {
      const user = aUser()
      const passkeys = each.map((userHandle) => aPasskey(user.id, { userHandle }))
      expect(await store.users.createWithPasskeys(user, passkeys, anEvent())).toBe(true)
      expect(await store.passkeys.handleOf(user.id)).toBe(index === 0 ? 'one' : null)
    }
  })

  test('no user gets more than the limit, also at once', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const results = await atOnce(() =>
      store.passkeys.add({ passkey: aPasskey(user.id), fromSessionId: session.id, max: 3 }, changed()),
    )
    expect(results.filter((result) => result === 'limit')).toHaveLength(crowd - 3)
    expect(await store.passkeys.list(user.id)).toHaveLength(3)
  })

  test('nothing is added from a session that has ended', async () => {
    const { store } = current()
    const { user } = await signedIn(store)
    const passkey = aPasskey(user.id)
    expect(await store.passkeys.add({ passkey, fromSessionId: 'ended', max: 20 }, changed())).toBeNull()
    expect(await store.passkeys.list(user.id)).toEqual([])
  })

  test('passkeys of other RP ids are counted', async () => {
    const { store } = current()
    const before = await store.passkeys.countOfOthers('counted.test')
    await withPasskey(store, { passkey: { rpId: 'counted.test' } })
    expect(await store.passkeys.countOfOthers('counted.test')).toBe(before)
    await withPasskey(store)
    expect(await store.passkeys.countOfOthers('counted.test')).toBe(before + 1)
  })

  test('a passkey gets another name, but not by another user', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    const other = await createdUser(store)
    expect(await store.passkeys.rename(other.id, passkey.id, 'Mine', anEvent())).toBeNull()
    expect(await store.passkeys.rename(user.id, passkey.id, 'Phone', anEvent())).toEqual({ ...passkey, name: 'Phone' })
  })
}

function usingContract(current: () => TestStore): void {
  test('of many sign-ins that saw one counter, one opens a session and keeps what the authenticator said', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store, { user: { factors: [aTotp()] }, passkey: { signCount: 5 } })
    const results = await atOnce(async () => {
      const challenge = aChallenge(user)
      const facts = { kind: 'passkey', id: passkey.id, seenCount: 5, signCount: 6 } as const
      await store.oneTimeTokens.put(challenge, null, { keep: crowd, now })
      const secondStep = { challengeId: challenge.id, proof: { ...facts, backedUp: true, userVerified: true } }
      const session = aSession(user.id)
      return store.sessions.open(session, user.version, { maxSessions: 50, until, secondStep }, anEvent())
    })
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.passkeys.list(user.id)).toEqual([{ ...passkey, signCount: 6, backedUp: true, lastUsedAt: now }])
  })

  test('without a first step, too: of many that saw one counter, one opens a session', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store, { passkey: { signCount: 5 } })
    const facts = { kind: 'passkey', id: passkey.id, seenCount: 5, signCount: 6 } as const
    const limit = { maxSessions: 50, until, proof: { ...facts, backedUp: true, userVerified: true } }
    const results = await atOnce(() => store.sessions.open(aSession(user.id), user.version, limit, anEvent()))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.passkeys.list(user.id)).toEqual([{ ...passkey, signCount: 6, backedUp: true, lastUsedAt: now }])
  })

  test('an authenticator that counts nothing opens as many sessions as it signs for', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    const facts = { kind: 'passkey', id: passkey.id, seenCount: 0, signCount: 0 } as const
    const limit = { maxSessions: 50, until, proof: { ...facts, backedUp: true, userVerified: true } }
    const results = await atOnce(() => store.sessions.open(aSession(user.id), user.version, limit, anEvent()), 3)
    expect(results).toEqual([true, true, true])
  })

  test('a synced passkey, whose counter may go back, opens as many sessions as it signs for', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store, { passkey: { signCount: 5 } })
    let last = 9
    const results = await atOnce(() => {
      last -= 1
      const facts = { kind: 'passkey', id: passkey.id, seenCount: null, signCount: last } as const
      const limit = { maxSessions: 50, until, proof: { ...facts, backedUp: true, userVerified: true } }
      return store.sessions.open(aSession(user.id), user.version, limit, anEvent())
    }, 3)
    expect(results).toEqual([true, true, true])
  })

  test('a passkey of another user opens nothing', async () => {
    const { store } = current()
    const { passkey } = await withPasskey(store)
    const other = await createdUser(store)
    const facts = { kind: 'passkey', id: passkey.id, seenCount: 0, signCount: 0 } as const
    const limit = { maxSessions: 50, until, proof: { ...facts, backedUp: true, userVerified: true } }
    expect(await store.sessions.open(aSession(other.id), other.version, limit, anEvent())).toBe(false)
  })

  test('a suspended passkey stays in the list, opens nothing, and the user no longer shows it', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store, { user: { factors: [aTotp()] } })
    const results = await atOnce(() => store.passkeys.suspend(user.id, passkey.id, now, changed({ mail: aMail() })))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.passkeys.list(user.id)).toEqual([{ ...passkey, suspendedAt: now }])
    expect(await store.users.findById(user.id)).toMatchObject({ factors: [aTotp()], version: user.version + 1 })

    const challenge = await keptToken(store, aChallenge(user))
    const proof = { kind: 'passkey', id: passkey.id, seenCount: 0, signCount: 0 } as const
    const secondStep = { challengeId: challenge.id, proof: { ...proof, backedUp: true, userVerified: true } }
    const limit = { maxSessions: 50, until, secondStep }
    expect(await store.sessions.open(aSession(user.id), user.version + 1, limit, anEvent())).toBe(false)
    const synced = { ...secondStep.proof, seenCount: null }
    const alone = { maxSessions: 50, until, proof: synced }
    expect(await store.sessions.open(aSession(user.id), user.version + 1, alone, anEvent())).toBe(false)
  })

  test('the suspension of a passkey ends every session, pending second steps and older access tokens', async () => {
    const { store, changes } = current()
    const { user, passkey } = await withPasskey(store)
    const challenge = await keptToken(store, aChallenge(user))
    expect(await store.passkeys.suspend(user.id, passkey.id, now, changed())).toBe(true)
    expect(await store.sessions.list(user.id, now)).toEqual([])
    expect(await store.oneTimeTokens.findByHash('two_factor', [challenge.tokenHash], now)).toBeNull()
    expect(changes).toMatchObject([{ kind: 'user', subject: user.id, version: user.version + 1 }])
  })
}

function removingContract(current: () => TestStore): void {
  test('a removal ends every session, starts the new one and raises the version', async () => {
    const { store } = current()
    const { user, session, passkey } = await withPasskey(store)
    await openedSession(store, user)
    const by = { fromSessionId: session.id, session: aSession(user.id), rpId: 'example.test' }
    const removed = await store.passkeys.remove({ userId: user.id, id: passkey.id, by }, changed())
    expect(removed).toMatchObject({ version: user.version + 1, factors: [] })
    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toEqual([by.session.id])
    expect(await store.passkeys.remove({ userId: user.id, id: passkey.id, by: null }, changed())).toBeNull()
  })

  test('the last way in stays, unless the application removes it', async () => {
    const { store } = current()
    const { user, session, passkey } = await withPasskey(store, { user: { passwordHash: null } })
    const by = { fromSessionId: session.id, session: aSession(user.id), rpId: 'example.test' }
    expect(await store.passkeys.remove({ userId: user.id, id: passkey.id, by }, changed())).toBe('last')
    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toEqual([session.id])
    expect(await store.passkeys.remove({ userId: user.id, id: passkey.id, by: null }, changed())).not.toBeNull()
    expect(await store.passkeys.list(user.id)).toEqual([])
  })

  test('a passkey of a former RP id is no way in: it may go, and the last one of the current RP id stays', async () => {
    const { store } = current()
    const { user, session, passkey } = await withPasskey(store, { user: { passwordHash: null } })
    const former = aPasskey(user.id, { rpId: 'former.test' })
    await store.passkeys.add({ passkey: former, fromSessionId: session.id, max: 20 }, changed())
    const by = { fromSessionId: session.id, session: aSession(user.id), rpId: 'example.test' }
    expect(await store.passkeys.remove({ userId: user.id, id: passkey.id, by }, changed())).toBe('last')
    const after = await store.passkeys.remove({ userId: user.id, id: former.id, by }, changed())
    expect(after).toMatchObject({ factors: [shown(passkey)] })
  })

  test('another user removes nothing', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    const other = await signedIn(store)
    const by = { fromSessionId: other.session.id, session: aSession(other.user.id), rpId: 'example.test' }
    expect(await store.passkeys.remove({ userId: other.user.id, id: passkey.id, by }, changed())).toBeNull()
    expect(await store.passkeys.list(user.id)).toEqual([passkey])
  })
}

function losingContract(current: () => TestStore): void {
  test('a passkey from before the first proof of the mailbox is thrown away', async () => {
    const { store } = current()
    const { user } = await withPasskey(store, { user: { emailVerified: false } })
    const reset = await keptToken(store, aReset(user))
    const proved = await store.users.proveMailbox(reset.id, 'password_reset', now, changed())
    expect(proved?.factors).toEqual([])
    expect(await store.passkeys.list(user.id)).toEqual([])
  })

  test('a reset of the password leaves passkeys', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    const reset = await keptToken(store, aReset(user))
    const after = await store.users.resetPassword(reset.id, 'password_reset', '$hash$2', now, changed())
    expect(after?.factors).toEqual([shown(passkey)])
    expect(await store.passkeys.list(user.id)).toEqual([passkey])
  })

  test('the undo of an address removes those that were added since', async () => {
    const { store } = current()
    const { user, session, passkey } = await withPasskey(store, { passkey: { createdAt: now - 10 } })
    const undo = await keptToken(store, anUndo(user))
    const later = aPasskey(user.id, { createdAt: undo.createdAt })
    await store.passkeys.add({ passkey: later, fromSessionId: session.id, max: 20 }, changed())
    const input = { email: user.email, factorSince: null, proof: null }
    const restored = await store.users.undoEmail(undo.id, input, now, changed())
    expect(restored?.factors).toEqual([shown(passkey)])
    expect(await store.passkeys.list(user.id)).toEqual([passkey])
  })

  test('passkeys go with the account', async () => {
    const { store } = current()
    const { user, passkey } = await withPasskey(store)
    expect(await store.users.delete(user.id, until, anEvent())).toBe(true)
    expect(await store.passkeys.find('example.test', passkey.credentialId)).toBeNull()
  })
}
