import { expect, test } from 'vitest'
import type { UserRecord } from '../../../src/model/user.js'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  anIdentity,
  anOtp,
  aReset,
  aSession,
  aTotp,
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

const factors = [aTotp({ sealedSecret: 'key1.seed' })]

export function firstProofContract(current: () => TestStore): void {
  provingContract(current)
  refusingContract(current)
  racingContract(current)
}

const aStep = stepOf('email_verified')

function provingContract(current: () => TestStore): void {
  test('a first proof verifies the address, and keeps nothing that may have been planted', async () => {
    const { store, changes } = current()
    const [plantedUser, other] = [await createdUser(store, { factors }), await createdUser(store, { factors })]
    const [session, kept] = [await openedSession(store, plantedUser), await openedSession(store, other)]
    const device = {
      id: 'device',
      userId: plantedUser.id,
      tokenHash: 'key1.device',
      createdAt: now,
      expiresAt: now + 900,
    }
    await store.devices.add(device, { keep: 5, now })
    await keptToken(store, aVerification(plantedUser))
    await keptToken(store, aReset(plantedUser))
    const foreign = await keptToken(store, aReset(other))
    const token = await keptToken(store, anOtp(plantedUser))
    const mail = aMail()

    const proved = await store.users.proveMailbox(token.id, 'otp', now, aStep({ mail }))
    const proof = { emailVerified: true, verifiedBy: 'mailbox' }
    const clean = { ...proof, version: 2, passwordHash: null, name: null, fields: {}, factors: [] }
    expect(proved).toEqual({ ...plantedUser, ...clean, lastLoginAt: now })
    expect(await store.users.findById(plantedUser.id)).toEqual(proved)
    expect(await store.users.findById(other.id)).toEqual({ ...other, lastLoginAt: now })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(kept.id)).not.toBeNull()
    expect(await store.devices.find(['key1.device'], now)).toBeNull()
    for (const purpose of ['otp', 'email_verification', 'password_reset'] as const) {
      expect(await store.oneTimeTokens.listByEmail(purpose, plantedUser.emailCanonical, now)).toEqual([])
    }
    expect(await store.oneTimeTokens.listByEmail('password_reset', other.emailCanonical, now)).toEqual([foreign])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: plantedUser.id, version: 2, until })])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('email_verified')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('a proof of an address that was verified before consumes the token and changes nothing', async () => {
    const { store, changes } = current()
    const user = await createdUser(store, { emailVerified: true, factors })
    const session = await openedSession(store, user)
    const reset = await keptToken(store, aReset(user))
    const token = await keptToken(store, anOtp(user))
    const before = await auditedEvents(store)

    const proved = await store.users.proveMailbox(token.id, 'otp', now, aStep({ mail: aMail({ id: 'notice' }) }))
    expect(proved).toEqual({ ...user, lastLoginAt: now })
    expect(await store.users.findById(user.id)).toEqual(proved)
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.oneTimeTokens.listByEmail('otp', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([reset])
    expect([changes, await auditedEvents(store)]).toEqual([[], before])
    expect(await waitingMails(store)).not.toContain('notice')
    expect(await store.users.proveMailbox(token.id, 'otp', now, aStep())).toBeNull()
  })

  test('a first proof of an invited account keeps the name, unless a stranger can have chosen it', async () => {
    const { store } = current()
    const invitation = { verifiedBy: 'invitation', passwordHash: null } as const
    const prove = async (changes: Partial<UserRecord>) => {
      const user = await createdUser(store, { ...invitation, ...changes })
      const token = await keptToken(store, anOtp(user))
      return store.users.proveMailbox(token.id, 'otp', now, aStep({ audit: anEvent() }))
    }
    const kept = { name: 'Ada', roles: ['EDITOR'], emailVerified: true, verifiedBy: 'mailbox', version: 2 }
    expect(await prove({})).toMatchObject(kept)
    expect(await prove({ passwordHash: '$hash$1' })).toMatchObject({ ...kept, name: null, passwordHash: null })
    expect(await prove({ verifiedBy: null })).toMatchObject({ ...kept, name: null })
    const linked = await createdUser(store, invitation)
    const session = await openedSession(store, linked)
    await store.identities.link(
      { identity: anIdentity(linked.id), by: { sessionId: session.id } },
      aStep({ audit: anEvent() }),
    )
    const token = await keptToken(store, anOtp(linked))
    const proved = await store.users.proveMailbox(token.id, 'otp', now, aStep())
    expect(proved).toMatchObject({ ...kept, name: null, identities: [] })
  })

  test.each([null, 'trusted_provider'] as const)(
    'a strict proof of an address that was verified by %s removes what signs in without the mailbox',
    async (verifiedBy) => {
      const { store, changes } = current()
      const user = await createdUser(store, { emailVerified: true, verifiedBy, factors })
      const session = await openedSession(store, user)
      const identity = anIdentity(user.id)
      await store.identities.link({ identity, by: { sessionId: session.id } }, aStep({ audit: anEvent() }))
      await keptToken(store, aReset(user))
      const token = await keptToken(store, anOtp(user))

      const proved = await store.users.proveMailbox(token.id, 'otp', now, { ...aStep(), strict: true })
      const left = { verifiedBy: 'mailbox', version: 2, passwordHash: null, identities: [], lastLoginAt: now }
      expect(proved).toEqual({ ...user, ...left })
      expect(await store.users.findById(user.id)).toEqual(proved)
      expect(await store.identities.find(identity.provider, identity.subject)).toBeNull()
      expect(await store.sessions.find(session.id)).toBeNull()
      expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
      expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
      expect(await auditedEvents(store)).toContain('email_verified')
    },
  )

  test.each(['mailbox', 'provider', 'application'] as const)(
    'a strict proof of an address that was proved by %s before changes nothing',
    async (verifiedBy) => {
      const { store, changes } = current()
      const user = await createdUser(store, { emailVerified: true, verifiedBy, factors })
      const session = await openedSession(store, user)
      const token = await keptToken(store, anOtp(user))
      const proved = await store.users.proveMailbox(token.id, 'otp', now, { ...aStep(), strict: true })
      expect(proved).toEqual({ ...user, lastLoginAt: now })
      expect(await store.sessions.find(session.id)).not.toBeNull()
      expect(changes).toEqual([])
    },
  )

  test('a strict reset proves the address, too, and unlinks the providers', async () => {
    const { store } = current()
    const user = await createdUser(store, { emailVerified: true, factors })
    const session = await openedSession(store, user)
    const identity = anIdentity(user.id)
    await store.identities.link({ identity, by: { sessionId: session.id } }, aStep({ audit: anEvent() }))
    const mild = await keptToken(store, aReset(user))
    const kept = await store.users.resetPassword(mild.id, 'password_reset', '$hash$2', now, aStep({ audit: anEvent() }))
    expect(kept).toMatchObject({ verifiedBy: null, identities: [{ provider: identity.provider }] })
    const strict = await keptToken(store, aReset(user))
    const reset = await store.users.resetPassword(strict.id, 'password_reset', '$hash$3', now, {
      ...aStep(),
      strict: true,
    })
    expect(reset).toMatchObject({ verifiedBy: 'mailbox', passwordHash: '$hash$3', identities: [], factors })
  })
}

function refusingContract(current: () => TestStore): void {
  test.each([false, true])(
    'a token that is unknown, expired, foreign or of nobody proves nothing (verified: %s)',
    async (emailVerified) => {
      const { store, changes } = current()
      const user = await createdUser(store, { emailVerified, factors })
      const session = await openedSession(store, user)
      const expiring = await keptToken(store, anOtp(user, { expiresAt: now + 10 }))
      const otherPurpose = await keptToken(store, aVerification(user))
      const decoy = await keptToken(store, anOtp(user, { subject: user.emailCanonical, userId: null }))
      const former = await keptToken(store, anOtp(user, { email: 'former@example.com' }))
      const before = await auditedEvents(store)
      const prove = (id: string, at: number) => store.users.proveMailbox(id, 'otp', at, aStep())
      expect(await prove('unknown', now)).toBeNull()
      expect(await prove(expiring.id, now + 10)).toBeNull()
      for (const { id } of [otherPurpose, decoy, former]) expect(await prove(id, now)).toBeNull()

      expect(await store.users.findById(user.id)).toEqual({ ...user, lastLoginAt: now })
      expect(await store.sessions.find(session.id)).not.toBeNull()
      expect([changes, await auditedEvents(store)]).toEqual([[], before])
      // A refused one is not used up.
      expect(await store.oneTimeTokens.listByEmail('otp', 'former@example.com', now)).toEqual([former])
      expect(await prove(expiring.id, now + 9)).not.toBeNull()
    },
  )

  test.each([false, true])(
    'a token of a disabled user proves nothing until they are enabled (verified: %s)',
    async (emailVerified) => {
      const { store, changes } = current()
      const user = await createdUser(store, { emailVerified, disabledAt: now - 10, disabledUntil: now + 1 })
      const token = await keptToken(store, anOtp(user))
      expect(await store.users.proveMailbox(token.id, 'otp', now, aStep())).toBeNull()
      expect(await store.users.findById(user.id)).toEqual(user)
      expect(changes).toEqual([])
      expect(await store.users.proveMailbox(token.id, 'otp', now + 1, aStep())).not.toBeNull()
    },
  )
}

function racingContract(current: () => TestStore): void {
  test.each([false, true])(
    'ATK-025 of many who bring one token at once exactly one gets the user (verified: %s)',
    async (emailVerified) => {
      const { store, changes } = current()
      const user = await createdUser(store, { emailVerified })
      const token = await keptToken(store, anOtp(user))
      const results = await atOnce(() => store.users.proveMailbox(token.id, 'otp', now, aStep({ audit: anEvent() })))
      const [winner, ...others] = results.filter((result) => result !== null)
      expect(others).toEqual([])
      expect(await store.users.findById(user.id)).toEqual(winner)
      expect([winner?.version, changes.length]).toEqual(emailVerified ? [1, 0] : [2, 1])
    },
  )

  test('of a mailed code and a mailed reset at once, one is the first proof, and what it leaves is whole', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const [otp, reset] = [await keptToken(store, anOtp(user)), await keptToken(store, aReset(user))]
    const [proved, changed] = await Promise.all([
      store.users.proveMailbox(otp.id, 'otp', now, aStep()),
      store.users.resetPassword(reset.id, 'password_reset', '$hash$2', now, aStep({ audit: anEvent() })),
    ])
    expect([proved, changed].filter((result) => result !== null)).toHaveLength(1)
    expect(await store.users.findById(user.id)).toEqual(proved ?? changed)
    expect((proved ?? changed)?.passwordHash).toBe(proved ? null : '$hash$2')
  })

  test('ATK-029 a sign-in with the planted password finds another version after a first proof, or ends by it', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, anOtp(user))
    const ids = Array.from({ length: crowd }, (_, index) => `session-${index}`)
    const limit = { maxSessions: 50, until }
    const opening = ids.map((id) => store.sessions.open(aSession(user.id, { id }), 1, limit, anEvent()))
    const [proved] = await Promise.all([store.users.proveMailbox(token.id, 'otp', now, aStep()), ...opening])
    expect(proved).toMatchObject({ emailVerified: true, passwordHash: null })
    const left = await Promise.all(ids.map((id) => store.sessions.find(id)))
    expect(left.filter((state) => state !== null)).toEqual([])
  })
}
