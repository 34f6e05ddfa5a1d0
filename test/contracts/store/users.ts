import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  aRegistration,
  atOnce,
  aUser,
  auditedEvents,
  aVerification,
  createdUser,
  crowd,
  keptToken,
  now,
  openedSession,
  until,
  waitingMails,
} from './rows.js'

export function usersContract(current: () => TestStore): void {
  creationContract(current)
  registrationContract(current)
  verificationContract(current)
  profileContract(current)
  deletionContract(current)
}

function creationContract(current: () => TestStore): void {
  test('a created user is found by id and by canonical address, every field as it was given', async () => {
    const { users } = current().store
    const user = aUser({
      email: 'Ada@Example.com',
      emailCanonical: 'ada@example.com',
      emailVerified: true,
      verifiedBy: 'trusted_provider',
      name: 'Ada — "Countess" ✓',
      roles: ['OWNER', 'EDITOR'],
      fields: { plan: 'pro', nested: { list: [1, null, 'two'] } },
      version: 7,
      disabledAt: now - 5,
      disabledUntil: now + 5,
      disabledReason: 'Chargeback — "again" ✓',
      mustReset: true,
      lastLoginAt: now - 100,
    })
    expect(await users.create(user, anEvent())).toBe(true)
    expect(await users.findById(user.id)).toEqual(user)
    expect(await users.findByEmail('ada@example.com')).toEqual(user)
  })

  test('ATK-115 a role ADMIN that was written into the store is not read', async () => {
    const { store } = current()
    const user = await createdUser(store, { roles: ['EDITOR', 'ADMIN'] })
    expect((await store.users.findById(user.id))?.roles).toEqual(['EDITOR'])
    const session = await openedSession(store, user)
    expect((await store.sessions.find(session.id))?.user.roles).toEqual(['EDITOR'])
    expect((await store.users.list({ query: null, after: null, limit: 1 }))[0]?.roles).toEqual(['EDITOR'])
  })

  test('a user without name, password, roles and fields stays without', async () => {
    const { users } = current().store
    const user = aUser({ name: null, passwordHash: null, roles: [], fields: {} })
    await users.create(user, anEvent())
    expect(await users.findById(user.id)).toEqual(user)
  })

  test('an unknown id and an unknown address find nobody', async () => {
    const { store } = current()
    await createdUser(store)
    expect(await store.users.findById('unknown')).toBeNull()
    expect(await store.users.findByEmail('nobody@example.com')).toBeNull()
  })

  test('ids and addresses are compared byte by byte', async () => {
    const { store } = current()
    await createdUser(store, { id: 'abcDEF', emailCanonical: 'straße@example.com' })
    expect(await store.users.findById('ABCdef')).toBeNull()
    expect(await store.users.findByEmail('strasse@example.com')).toBeNull()
    expect(await store.users.findByEmail('STRAßE@example.com')).toBeNull()
    expect(await store.users.create(aUser({ id: 'abcdef', emailCanonical: 'STRASSE@example.com' }), anEvent())).toBe(
      true,
    )
  })

  test('a taken address creates nobody and leaves no token, mail or event behind', async () => {
    const { store } = current()
    const owner = await createdUser(store, { emailCanonical: 'ada@example.com' })
    const intruder = aUser({ emailCanonical: 'ada@example.com' })
    const confirm = { token: aVerification(intruder), mail: aMail() }
    expect(await store.users.create(intruder, anEvent(), confirm)).toBe(false)

    expect(await store.users.findByEmail('ada@example.com')).toEqual(owner)
    expect(await store.users.findById(intruder.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('email_verification', 'ada@example.com', now)).toEqual([])
    expect(await waitingMails(store)).toEqual([])
    expect(await auditedEvents(store)).toEqual(['account_created'])
  })

  test('creating a user keeps the token and the mail that confirm the address', async () => {
    const { store, mailSignals } = current()
    const user = aUser()
    const confirm = { token: aVerification(user), mail: aMail() }
    expect(await store.users.create(user, anEvent({ event: 'account_created' }), confirm)).toBe(true)
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([
      confirm.token,
    ])
    expect(mailSignals()).toBe(1)
    expect(await waitingMails(store)).toEqual([confirm.mail.id])
    expect(await auditedEvents(store)).toEqual(['account_created'])
  })

  test('creating a user ends the registrations that wait for the address, and no others', async () => {
    const { store } = current()
    const user = aUser()
    await keptToken(store, aRegistration(user.emailCanonical))
    const other = await keptToken(store, aRegistration('grace@example.com'))
    await store.users.create(user, anEvent())
    expect(await store.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('registration', 'grace@example.com', now)).toEqual([other])
  })

  test('of many who create an account for one address at once, exactly one does', async () => {
    const { store } = current()
    const results = await atOnce(() => store.users.create(aUser({ emailCanonical: 'ada@example.com' }), anEvent()))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await auditedEvents(store)).toHaveLength(1)
  })
}

function registrationContract(current: () => TestStore): void {
  test('a registration becomes its user once, and takes the other registrations for that address with it', async () => {
    const { store } = current()
    const user = aUser({ emailVerified: true })
    const registration = await keptToken(store, aRegistration(user.emailCanonical))
    await keptToken(store, aRegistration(user.emailCanonical))
    const other = await keptToken(store, aRegistration('grace@example.com'))

    const audit = anEvent({ event: 'account_created', userId: user.id })
    expect(await store.users.createFromRegistration(user, registration.id, now, audit)).toBe(true)
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('registration', 'grace@example.com', now)).toEqual([other])
    expect(await auditedEvents(store)).toEqual(['account_created'])
    expect(await store.users.createFromRegistration(user, registration.id, now, anEvent())).toBe(false)
  })

  test('a registration that is gone, expired, for another address or no registration creates nobody', async () => {
    const { store } = current()
    const user = aUser()
    const owner = await createdUser(store)
    const expired = await keptToken(store, aRegistration(user.emailCanonical, { expiresAt: now + 10 }))
    const foreign = await keptToken(store, aRegistration('grace@example.com'))
    const otherPurpose = await keptToken(store, aVerification(owner, { email: user.emailCanonical }))
    const from = (id: string, at: number) => store.users.createFromRegistration(user, id, at, anEvent())
    expect(await from('unknown', now)).toBe(false)
    expect(await from(expired.id, now + 10)).toBe(false)
    expect(await from(foreign.id, now)).toBe(false)
    expect(await from(otherPurpose.id, now)).toBe(false)

    expect(await store.users.findById(user.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).toEqual([expired])
    expect(await from(expired.id, now + 9)).toBe(true)
  })

  test('a registration for an address that was taken meanwhile creates nobody and stays', async () => {
    const { store } = current()
    await createdUser(store, { emailCanonical: 'ada@example.com' })
    const registration = await keptToken(store, aRegistration('ada@example.com'))
    const user = aUser({ emailCanonical: 'ada@example.com' })
    expect(await store.users.createFromRegistration(user, registration.id, now, anEvent())).toBe(false)
    expect(await store.oneTimeTokens.listByEmail('registration', 'ada@example.com', now)).toEqual([registration])
  })

  test('of many who confirm one registration at once, exactly one creates its user', async () => {
    const { store } = current()
    const registration = await keptToken(store, aRegistration('ada@example.com'))
    const results = await atOnce(() =>
      store.users.createFromRegistration(aUser({ emailCanonical: 'ada@example.com' }), registration.id, now, anEvent()),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
  })

  test('of many registrations for one address confirmed at once, exactly one creates its user', async () => {
    const { store } = current()
    const registrations = await atOnce(() => keptToken(store, aRegistration('ada@example.com')))
    const results = await Promise.all(
      registrations.map(({ id }) =>
        store.users.createFromRegistration(aUser({ emailCanonical: 'ada@example.com' }), id, now, anEvent()),
      ),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.oneTimeTokens.listByEmail('registration', 'ada@example.com', now)).toEqual([])
  })
}

function verificationContract(current: () => TestStore): void {
  test('verifying marks the address, raises the version, ends the token and tells every process', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aVerification(user))
    const audit = anEvent({ event: 'email_verified', userId: user.id })
    const verified = await store.users.verifyEmail(token.id, now, until, audit)

    expect(verified).toEqual({ ...user, emailVerified: true, verifiedBy: 'mailbox', version: 2 })
    expect(await store.users.findById(user.id)).toEqual(verified)
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('email_verified')
    expect(await store.users.verifyEmail(token.id, now, until, anEvent())).toBeNull()
  })

  test('a token that is unknown, expired or of another purpose verifies nothing', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aVerification(user, { expiresAt: now + 10 }))
    const registration = await keptToken(store, aRegistration(user.emailCanonical, { userId: user.id }))
    expect(await store.users.verifyEmail('unknown', now, until, anEvent())).toBeNull()
    expect(await store.users.verifyEmail(token.id, now + 10, until, anEvent())).toBeNull()
    expect(await store.users.verifyEmail(registration.id, now, until, anEvent())).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(changes).toEqual([])
  })

  test('a token for another address than the user has now verifies nothing and stays', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aVerification(user, { email: 'former@example.com' }))
    expect(await store.users.verifyEmail(token.id, now, until, anEvent({ event: 'email_verified' }))).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.oneTimeTokens.listByEmail('email_verification', 'former@example.com', now)).toEqual([token])
    expect(await auditedEvents(store)).not.toContain('email_verified')
    expect(changes).toEqual([])
  })

  test('of many who use one confirmation at once, exactly one verifies and the version rises once', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aVerification(user))
    const results = await atOnce(() => store.users.verifyEmail(token.id, now, until, anEvent()))
    expect(results.filter((result) => result !== null)).toHaveLength(1)
    expect((await store.users.findById(user.id))?.version).toBe(2)
    expect(changes).toHaveLength(1)
  })
}

function profileContract(current: () => TestStore): void {
  test('a stronger hash replaces exactly the hash it was made for', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await store.users.upgradePasswordHash(user.id, '$hash$other', '$hash$2')
    expect(await store.users.findById(user.id)).toEqual(user)
    await store.users.upgradePasswordHash(user.id, '$hash$1', '$hash$2')
    expect(await store.users.findById(user.id)).toEqual({ ...user, passwordHash: '$hash$2' })
  })

  test('a profile change sets what is given and nothing else', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const audit = anEvent({ event: 'profile_changed' })
    const renamed = { ...user, name: null }
    expect(await store.users.updateProfile(user.id, { name: null }, audit)).toEqual(renamed)
    expect(await store.users.updateProfile(user.id, { fields: { plan: 'pro' } }, anEvent())).toEqual({
      ...renamed,
      fields: { plan: 'pro' },
    })
    expect(await store.users.updateProfile(user.id, {}, anEvent())).toEqual({ ...renamed, fields: { plan: 'pro' } })
    expect(await auditedEvents(store)).toContain('profile_changed')
    expect(changes).toEqual([])
  })

  test('the profile of nobody is null, and not audited', async () => {
    const { store } = current()
    expect(await store.users.updateProfile('unknown', { name: 'Eve' }, anEvent())).toBeNull()
    expect(await auditedEvents(store)).toEqual([])
  })
}

function deletionContract(current: () => TestStore): void {
  test('deleting a user takes sessions and tokens along and kills every access token', async () => {
    const { store, changes } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    const session = await openedSession(store, user)
    const kept = await openedSession(store, other)
    await keptToken(store, aVerification(user))

    expect(await store.users.delete(user.id, until, anEvent({ event: 'account_deleted' }))).toBe(true)
    expect(await store.users.findById(user.id)).toBeNull()
    expect(await store.sessions.find(session.id)).toBeNull()
    expect((await store.sessions.find(kept.id))?.user).toMatchObject({ id: other.id })
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([])
    expect(changes).toEqual([
      expect.objectContaining({ kind: 'user', subject: user.id, version: Number.MAX_SAFE_INTEGER, until }),
    ])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('account_deleted')
    expect(await store.users.create(aUser({ emailCanonical: user.emailCanonical }), anEvent())).toBe(true)
  })

  test('of many who delete one user at once, exactly one does, and nobody deletes an unknown one', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const results = await atOnce(() => store.users.delete(user.id, until, anEvent()))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(changes).toHaveLength(1)
    expect(await store.users.delete('unknown', until, anEvent())).toBe(false)
    expect(changes).toHaveLength(1)
  })

  test('a user who is deleted while sign-ins arrive has no session afterwards', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const ids = Array.from({ length: crowd }, (_, index) => `session-${index}`)
    const opening = ids.map((id) =>
      openedSession(store, user, { id }).then(
        () => true,
        () => false,
      ),
    )
    await Promise.all([...opening, store.users.delete(user.id, until, anEvent())])
    expect(await Promise.all(ids.map((id) => store.sessions.find(id)))).toEqual(ids.map(() => null))
  })
}
