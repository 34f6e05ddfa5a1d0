import { expect, test } from 'vitest'
import type { OneTimeToken } from '../../../src/model/one-time-token.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { EmailChange, EmailUndo } from '../../../src/store/users.js'
import type { TestStore } from '../../support/databases.js'
import {
  aChange,
  aMail,
  anEvent,
  anUndo,
  aRegistration,
  aReset,
  atOnce,
  aUser,
  auditedEvents,
  aVerification,
  createdUser,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
  waitingMails,
} from './rows.js'

type Store = TestStore['store']

export function emailsContract(current: () => TestStore): void {
  changingContract(current)
  refusalContract(current)
  changingOnceContract(current)
  reservationContract(current)
  survivalContract(current)
  undoingContract(current)
  undoingOrderContract(current)
}

const next = 'Grace@Example.com'
const nextCanonical = 'grace@example.com'

const aStep = stepOf('email_changed')

function verified(store: Store, overrides: Partial<UserRecord> = {}): Promise<UserRecord> {
  return createdUser(store, { emailVerified: true, ...overrides })
}

function undoOf(email: string, overrides: Partial<EmailUndo> = {}): EmailUndo {
  return { email, factorSince: null, proof: null, ...overrides }
}

function changeOf(user: UserRecord, overrides: Partial<EmailChange> = {}): EmailChange {
  const undo = { token: anUndo(user), mail: aMail({ template: 'email-changed' }) }
  return { email: next, verifiedBy: 'mailbox', version: user.version, undo, ...overrides }
}

/** A user who has moved on, and the undo that their former address holds. */
async function moved(store: Store, user: UserRecord, email = nextCanonical, undo: Partial<OneTimeToken> = {}) {
  const token = await keptToken(store, aChange(user, email))
  const change = changeOf(user, { email, undo: { token: anUndo(user, undo), mail: aMail() } })
  const after = await store.users.changeEmail(token.id, change, now, aStep())
  if (after === null || typeof after === 'string') throw new Error('The address could not be changed.')
  return { user: after, undo: change.undo.token }
}

async function tokensOf(store: Store, email: string): Promise<string[]> {
  const purposes = [
    'registration',
    'email_verification',
    'password_reset',
    'otp',
    'email_change',
    'email_undo',
  ] as const
  const live = await Promise.all(purposes.map((purpose) => store.oneTimeTokens.listByEmail(purpose, email, now)))
  return live.flat().map(({ purpose }) => purpose)
}

function changingContract(current: () => TestStore): void {
  test('a change gives the user the address, verified, raises the version and tells everybody; sessions stay', async () => {
    const { store, changes } = current()
    const user = await verified(store)
    const session = await openedSession(store, user)
    const token = await keptToken(store, aChange(user, nextCanonical))
    const change = changeOf(user)

    const changed = await store.users.changeEmail(token.id, change, now, aStep())
    const address = { email: next, emailCanonical: nextCanonical, verifiedBy: 'mailbox' }
    expect(changed).toEqual({ ...user, ...address, version: 2, lastLoginAt: now })
    expect(await store.users.findByEmail(nextCanonical)).toEqual(changed)
    expect(await store.users.findByEmail(user.emailCanonical)).toBeNull()
    expect((await store.sessions.find(session.id))?.user).toEqual(changed)
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('email_changed')
    expect(await store.oneTimeTokens.listByEmail('email_undo', user.emailCanonical, now)).toEqual([change.undo.token])
    expect(await waitingMails(store)).toContain(change.undo.mail.id)
    expect(await store.users.changeEmail(token.id, changeOf(user), now, aStep())).toBeNull()
  })

  test('a change from an address that nobody had verified leaves no undo there and mails nothing', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aChange(user, nextCanonical))
    const change = changeOf(user)
    const changed = await store.users.changeEmail(token.id, change, now, aStep())
    expect(changed).toMatchObject({ emailCanonical: nextCanonical, emailVerified: true })
    expect(await tokensOf(store, user.emailCanonical)).toEqual([])
    expect(await waitingMails(store)).not.toContain(change.undo.mail.id)
    await createdUser(store, { emailCanonical: user.emailCanonical })
  })

  test('a change ends what was mailed to the former address, and registrations for the new one', async () => {
    const { store } = current()
    const [user, other] = [await verified(store), await verified(store)]
    const token = await keptToken(store, aChange(user, nextCanonical))
    await keptToken(store, aChange(user, 'elsewhere@example.com'))
    await keptToken(store, aVerification(user))
    await keptToken(store, aReset(user))
    await keptToken(store, aVerification(user, { purpose: 'otp' }))
    await keptToken(store, aRegistration(nextCanonical))
    const foreign = await keptToken(store, aReset(other))

    await store.users.changeEmail(token.id, changeOf(user), now, aStep())
    expect(await tokensOf(store, user.emailCanonical)).toEqual(['email_undo'])
    expect(await tokensOf(store, nextCanonical)).toEqual([])
    expect(await tokensOf(store, 'elsewhere@example.com')).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('password_reset', other.emailCanonical, now)).toEqual([foreign])
  })
}

function refusalContract(current: () => TestStore): void {
  test('a token that is unknown, expired or of another purpose changes nothing', async () => {
    const { store, changes } = current()
    const user = await verified(store)
    const token = await keptToken(store, aChange(user, nextCanonical, { expiresAt: now + 10 }))
    const other = await keptToken(store, aVerification(user, { email: nextCanonical }))
    const attempt = (id: string, at: number) => store.users.changeEmail(id, changeOf(user), at, aStep())
    expect(await attempt('unknown', now)).toBeNull()
    expect(await attempt(other.id, now)).toBeNull()
    expect(await attempt(token.id, now + 10)).toBeNull()

    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await tokensOf(store, user.emailCanonical)).toEqual([])
    expect([changes, await auditedEvents(store)]).toEqual([[], ['account_created']])
    expect(await attempt(token.id, now + 9)).not.toBeNull()
  })

  test('a user who is disabled, or has left the address meanwhile, keeps what they have', async () => {
    const { store } = current()
    const shut = await verified(store, { disabledAt: now - 10, disabledUntil: now + 1 })
    const gone = await verified(store)
    const shutToken = await keptToken(store, aChange(shut, nextCanonical))
    const goneToken = await keptToken(store, aChange(gone, 'elsewhere@example.com'))
    const former = { ...gone, emailCanonical: 'former@example.com' }
    expect(await store.users.changeEmail(shutToken.id, changeOf(shut), now, aStep())).toBeNull()
    expect(await store.users.changeEmail(goneToken.id, changeOf(former), now, aStep())).toBeNull()
    expect(await store.users.findById(shut.id)).toEqual(shut)
    expect(await store.users.findById(gone.id)).toEqual(gone)
    expect(await store.users.changeEmail(shutToken.id, changeOf(shut), now + 1, aStep())).not.toBeNull()
  })

  test('a change holds for the version that it was asked for at, also where its token was written later', async () => {
    const { store } = current()
    const user = await verified(store)
    const session = await openedSession(store, user)
    const change = { userId: user.id, version: 1, fromSessionId: session.id, passwordHash: '$hash$2', session }
    const after = await store.users.changePassword(change, aStep({ audit: anEvent() }))
    const token = await keptToken(store, aChange(user, nextCanonical))
    expect(await store.users.changeEmail(token.id, changeOf(user), now, aStep())).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(after)
    expect(await store.oneTimeTokens.listByEmail('email_change', nextCanonical, now)).toEqual([token])
    const fresh = changeOf(user, { version: 2 })
    expect(await store.users.changeEmail(token.id, fresh, now, aStep())).toMatchObject({ version: 3 })
  })

  test('an address that was taken meanwhile is told apart, and nothing has changed, not even the token', async () => {
    const { store, changes } = current()
    const user = await verified(store)
    const owner = await verified(store, { emailCanonical: nextCanonical })
    const token = await keptToken(store, aChange(user, nextCanonical))
    const change = changeOf(user)
    const mails = await waitingMails(store)
    expect(await store.users.changeEmail(token.id, change, now, aStep())).toBe('taken')
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.users.findByEmail(nextCanonical)).toEqual(owner)
    expect(await store.oneTimeTokens.listByEmail('email_change', nextCanonical, now)).toEqual([token])
    expect(await tokensOf(store, user.emailCanonical)).toEqual([])
    expect([changes, await waitingMails(store)]).toEqual([[], mails])
  })
}

function changingOnceContract(current: () => TestStore): void {
  test('of many who use one change at once, exactly one does; one undo, one mail, and the version rises once', async () => {
    const { store, changes } = current()
    const user = await verified(store)
    const token = await keptToken(store, aChange(user, nextCanonical))
    const before = (await waitingMails(store)).length
    const results = await atOnce(() =>
      store.users.changeEmail(token.id, changeOf(user), now, aStep({ audit: anEvent() })),
    )
    expect(results.filter((result) => result !== null)).toHaveLength(1)
    expect(await store.users.findById(user.id)).toMatchObject({ emailCanonical: nextCanonical, version: 2 })
    expect(await tokensOf(store, user.emailCanonical)).toEqual(['email_undo'])
    expect([changes.length, (await waitingMails(store)).length]).toEqual([1, before + 1])
  })

  test('of many users who change to one address at once, exactly one gets it', async () => {
    const { store } = current()
    const users = await atOnce(() => verified(store))
    const tokens = await Promise.all(users.map((user) => keptToken(store, aChange(user, nextCanonical))))
    const results = await Promise.all(
      users.map((user, index) =>
        store.users.changeEmail(tokens[index]?.id ?? '', changeOf(user), now, aStep({ audit: anEvent() })),
      ),
    )
    const winners = results.filter((result) => result !== 'taken')
    expect(winners).toEqual([await store.users.findByEmail(nextCanonical)])
    for (const user of users) {
      if (user.id === (await store.users.findByEmail(nextCanonical))?.id) continue
      expect(await store.users.findById(user.id)).toEqual(user)
    }
  })

  test('of changes to an address, registrations and new accounts for it at once, exactly one gets it', async () => {
    const { store } = current()
    const users = await atOnce(() => verified(store), 5)
    const tokens = await Promise.all(users.map((user) => keptToken(store, aChange(user, nextCanonical))))
    const registrations = await atOnce(() => keptToken(store, aRegistration(nextCanonical)), 5)
    const newcomer = () => aUser({ emailCanonical: nextCanonical })
    const results = await Promise.all([
      ...users.map(async (user, index) => {
        const step = aStep({ audit: anEvent() })
        const changed = await store.users.changeEmail(tokens[index]?.id ?? '', changeOf(user), now, step)
        return changed !== null && changed !== 'taken'
      }),
      ...registrations.map(({ id }) => store.users.createFromRegistration(newcomer(), id, now, anEvent())),
      ...registrations.map(() => store.users.create(newcomer(), anEvent())),
    ])
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.oneTimeTokens.listByEmail('registration', nextCanonical, now)).toEqual([])
  })
}

function reservationContract(current: () => TestStore): void {
  test('an address that can be taken back is nobody else’s: no account, registration or change gets it', async () => {
    const { store } = current()
    const user = await verified(store)
    await moved(store, user)
    const email = user.emailCanonical
    const other = await verified(store)
    const token = await keptToken(store, aChange(other, email))
    const registration = await keptToken(store, aRegistration(email))
    const newcomer = aUser({ emailCanonical: email })

    expect(await store.users.create(newcomer, anEvent())).toBe(false)
    expect(await store.users.createFromRegistration(newcomer, registration.id, now, anEvent())).toBe(false)
    expect(await store.users.changeEmail(token.id, changeOf(other), now, aStep())).toBe('taken')
    expect(await store.users.findByEmail(email)).toBeNull()
    expect(await store.users.findById(other.id)).toEqual(other)
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([registration])
  })

  test('its user may change back to it, and the undo stays', async () => {
    const { store } = current()
    const user = await verified(store)
    const { user: away, undo } = await moved(store, user)
    const token = await keptToken(store, aChange(away, user.emailCanonical))
    const change = changeOf(away, { email: user.email })
    expect(await store.users.changeEmail(token.id, change, now, aStep({ audit: anEvent() }))).toMatchObject({
      emailCanonical: user.emailCanonical,
    })
    expect(await store.oneTimeTokens.listByEmail('email_undo', user.emailCanonical, now)).toEqual([undo])
    expect(await tokensOf(store, nextCanonical)).toEqual(['email_undo'])
  })

  test('it is free from the second on in which the undo expires, and with the account’s deletion', async () => {
    const { store } = current()
    const [user, deleted] = [await verified(store), await verified(store)]
    await moved(store, user, nextCanonical, { expiresAt: now + 10 })
    await moved(store, deleted, 'elsewhere@example.com')
    const { emailCanonical } = user
    const registration = await keptToken(store, aRegistration(emailCanonical))
    const at = (second: number) => anEvent({ atMs: (now + second) * 1000 + 999 })
    expect(await store.users.create(aUser({ emailCanonical }), at(9))).toBe(false)
    const from = (second: number) =>
      store.users.createFromRegistration(aUser({ emailCanonical }), registration.id, now + second, anEvent())
    expect([await from(9), await from(10)]).toEqual([false, true])

    await store.users.delete(deleted.id, until, anEvent())
    expect(await store.users.create(aUser({ emailCanonical: deleted.emailCanonical }), at(0))).toBe(true)
  })

  test('nobody gets an address that is being left at the same moment', async () => {
    const { store } = current()
    const user = await verified(store)
    const { emailCanonical } = user
    const token = await keptToken(store, aChange(user, nextCanonical))
    const registrations = await atOnce(() => keptToken(store, aRegistration(emailCanonical)), 5)
    const [changed, ...others] = await Promise.all([
      store.users.changeEmail(token.id, changeOf(user), now, aStep()),
      ...registrations.map(({ id }) =>
        store.users.createFromRegistration(aUser({ emailCanonical }), id, now, anEvent()),
      ),
      ...registrations.map(() => store.users.create(aUser({ emailCanonical }), anEvent())),
    ])
    expect(changed).toMatchObject({ id: user.id, emailCanonical: nextCanonical })
    expect(others.filter(Boolean)).toEqual([])
    expect(await store.users.findByEmail(emailCanonical)).toBeNull()
  })
}

function survivalContract(current: () => TestStore): void {
  test('an undo outlives a reset, a change and a setting of the password, disabling, and a sign-in', async () => {
    const { store } = current()
    const { user, undo } = await moved(store, await verified(store))
    const kept = () => store.oneTimeTokens.listByEmail('email_undo', undo.email, now)
    const step = () => aStep({ audit: anEvent() })

    const reset = await keptToken(store, aReset(user))
    expect(await store.users.resetPassword(reset.id, 'password_reset', '$hash$2', now, step())).not.toBeNull()
    expect(await kept()).toEqual([undo])
    const session = await openedSession(store, { ...user, version: 3 })
    const change = { userId: user.id, version: 3, fromSessionId: session.id, passwordHash: '$hash$3', session }
    expect(await store.users.changePassword(change, step())).not.toBeNull()
    expect(await kept()).toEqual([undo])
    expect(await store.users.setPassword(user.id, '$hash$4', step())).not.toBeNull()
    expect(await store.users.disable(user.id, { at: now, until: null, reason: null }, step())).not.toBeNull()
    expect(await store.users.enable(user.id, now, step())).not.toBeNull()
    expect(await kept()).toEqual([undo])
  })

  test('a change that waits does not outlive a reset, a change or a setting of the password, or disabling', async () => {
    const { store } = current()
    const step = () => aStep({ audit: anEvent() })
    const waiting = async (user: UserRecord) => {
      await keptToken(store, aChange(user, nextCanonical))
      return user
    }
    const [first, second, third, fourth] = [
      await waiting(await verified(store)),
      await waiting(await verified(store)),
      await waiting(await verified(store)),
      await waiting(await verified(store)),
    ]
    await store.users.resetPassword(
      (await keptToken(store, aReset(first))).id,
      'password_reset',
      '$hash$2',
      now,
      step(),
    )
    const session = await openedSession(store, second)
    const change = { userId: second.id, version: 1, fromSessionId: session.id, passwordHash: '$hash$2', session }
    await store.users.changePassword(change, step())
    await store.users.setPassword(third.id, '$hash$2', step())
    await store.users.disable(fourth.id, { at: now, until: null, reason: null }, step())
    expect(await store.oneTimeTokens.listByEmail('email_change', nextCanonical, now)).toEqual([])
  })

  test('the key of an undo is in use for as long as it lives', async () => {
    const { store } = current()
    const user = await verified(store)
    await moved(store, user, nextCanonical, { tokenHash: 'k1.x', handleHash: null, payload: 'k2.x' })
    for (const lease of await store.outbox.lease(100, now, now + 60)) await store.outbox.sent(lease)
    expect(await store.keysInUse(now + 604_799)).toEqual(['k1', 'k2'])
    expect(await store.keysInUse(now + 604_800)).toEqual([])
  })
}

function undoingContract(current: () => TestStore): void {
  test('an undo gives the address back, verified, and ends every session, device and token', async () => {
    const { store, changes } = current()
    const before = await verified(store, { emailCanonical: 'ada@example.com' })
    const { user, undo } = await moved(store, before)
    const session = await openedSession(store, user)
    const device = { id: 'device', userId: user.id, tokenHash: 'k1.device', createdAt: now, expiresAt: now + 100 }
    await store.devices.add(device, { keep: 5, now })
    await keptToken(store, aChange(user, 'elsewhere@example.com'))
    await keptToken(store, aReset(user))
    await keptToken(store, aVerification(user, { purpose: 'two_factor' }))
    changes.length = 0

    const audit = anEvent({ event: 'email_restored' })
    const mails = { mail: aMail(), secondMail: aMail() }
    const waiting = (await store.outbox.depth()).waiting
    const restored = await store.users.undoEmail(undo.id, undoOf('Ada@example.com'), now, aStep({ audit, ...mails }))
    expect((await store.outbox.depth()).waiting).toBe(waiting + 2)
    const back = { email: 'Ada@example.com', emailCanonical: 'ada@example.com', emailVerified: true, verifiedBy: null }
    expect(restored).toEqual({ ...user, ...back, version: 3, lastLoginAt: now })
    expect(await store.users.findByEmail('ada@example.com')).toEqual(restored)
    expect(await store.users.findByEmail(nextCanonical)).toBeNull()
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.devices.find(['k1.device'], now)).toBeNull()
    expect(await tokensOf(store, 'ada@example.com')).toEqual([])
    expect(await tokensOf(store, nextCanonical)).toEqual([])
    expect(await tokensOf(store, 'elsewhere@example.com')).toEqual([])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 3, until })])
    expect(await auditedEvents(store)).toContain('email_restored')
    await createdUser(store, { emailCanonical: nextCanonical })
  })

  test('an undo that is unknown, used, expired or of another purpose changes nothing', async () => {
    const { store } = current()
    const { user, undo } = await moved(store, await verified(store))
    const session = await openedSession(store, user)
    const change = await keptToken(store, aChange(user, 'elsewhere@example.com'))
    const attempt = (id: string, at: number) => store.users.undoEmail(id, undoOf('x@example.com'), at, aStep())
    expect(await attempt('unknown', now)).toBeNull()
    expect(await attempt(change.id, now)).toBeNull()
    expect(await attempt(undo.id, undo.expiresAt)).toBeNull()
    expect(await store.users.findById(user.id)).toEqual({ ...user, lastLoginAt: now })
    expect(await store.sessions.find(session.id)).not.toBeNull()
    const last = undo.expiresAt - 1
    expect(await store.users.undoEmail(undo.id, undoOf(undo.email), last, aStep({ audit: anEvent() }))).not.toBeNull()
    expect(await attempt(undo.id, now)).toBeNull()
  })

  test('an undo works on a disabled user, who stays disabled', async () => {
    const { store } = current()
    const { user, undo } = await moved(store, await verified(store))
    await store.users.disable(user.id, { at: now, until: null, reason: null }, aStep({ audit: anEvent() }))
    const restored = await store.users.undoEmail(undo.id, undoOf(undo.email), now, aStep({ audit: anEvent() }))
    expect(restored).toMatchObject({ emailCanonical: undo.email, disabledAt: now })
  })

  test('of many who use one undo at once, exactly one does', async () => {
    const { store, changes } = current()
    const { undo } = await moved(store, await verified(store))
    changes.length = 0
    const results = await atOnce(() =>
      store.users.undoEmail(undo.id, undoOf(undo.email), now, aStep({ audit: anEvent() })),
    )
    expect(results.filter((result) => result !== null)).toHaveLength(1)
    expect(changes).toHaveLength(1)
  })
}

function undoingOrderContract(current: () => TestStore): void {
  /** From the first address over a second to a third. */
  async function movedTwice(store: Store) {
    const first = await moved(store, await verified(store), 'second@example.com')
    const second = await moved(store, first.user, 'third@example.com')
    return { first: first.undo, second: second.undo }
  }

  test('the undo of an earlier change ends those of later ones', async () => {
    const { store } = current()
    const { first, second } = await movedTwice(store)
    const restored = await store.users.undoEmail(first.id, undoOf(first.email), now, aStep({ audit: anEvent() }))
    expect(restored).toMatchObject({ emailCanonical: first.email })
    expect(await store.users.undoEmail(second.id, undoOf(second.email), now, aStep())).toBeNull()
    expect(await store.users.findById(restored?.id ?? '')).toEqual(restored)
    await createdUser(store, { emailCanonical: 'second@example.com' })
  })

  test('the undo of a later change leaves that of an earlier one: who had the address first has the last word', async () => {
    const { store } = current()
    const { first, second } = await movedTwice(store)
    const after = await store.users.undoEmail(second.id, undoOf(second.email), now, aStep({ audit: anEvent() }))
    expect(after).toMatchObject({ emailCanonical: 'second@example.com' })
    expect(await store.users.create(aUser({ emailCanonical: first.email }), anEvent())).toBe(false)
    const restored = await store.users.undoEmail(first.id, undoOf(first.email), now, aStep({ audit: anEvent() }))
    expect(restored).toMatchObject({ emailCanonical: first.email })
  })

  test('of an undo and a change that waits, at once, the undo holds', async () => {
    const { store } = current()
    const { user, undo } = await moved(store, await verified(store))
    const token = await keptToken(store, aChange(user, 'third@example.com'))
    const change = changeOf(user, { email: 'third@example.com' })
    await Promise.all([
      store.users.changeEmail(token.id, change, now, aStep({ audit: anEvent() })),
      store.users.undoEmail(undo.id, undoOf(undo.email), now, aStep({ audit: anEvent() })),
    ])
    expect(await store.users.findById(user.id)).toMatchObject({ emailCanonical: undo.email })
    expect(await tokensOf(store, 'third@example.com')).toEqual([])
    expect(await tokensOf(store, nextCanonical)).toEqual([])
  })
}
