import { expect, test } from 'vitest'
import type { OneTimePurpose, ResetPurpose } from '../../../src/model/one-time-token.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { TestStore } from '../../support/databases.js'
import {
  aChallenge,
  aMail,
  anEvent,
  anOtp,
  anUndo,
  aReset,
  aSession,
  aTotp,
  atOnce,
  aUser,
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

const limit = { maxSessions: 50, until }

export function passwordsContract(current: () => TestStore): void {
  resettingContract(current)
  resettingOnceContract(current)
  demandingContract(current)
  changingContract(current)
  settingContract(current)
  entrustingContract(current)
  signInContract(current)
}

const aStep = stepOf('password_reset')

function verified(store: TestStore['store'], overrides: Partial<UserRecord> = {}): Promise<UserRecord> {
  return createdUser(store, { emailVerified: true, ...overrides })
}

function resettingContract(current: () => TestStore): void {
  test('a reset sets the hash, raises the version, ends sessions and tokens, and tells everybody', async () => {
    const { store, changes } = current()
    const [user, other] = [await verified(store), await verified(store)]
    const [session, kept] = [await openedSession(store, user), await openedSession(store, other)]
    await keptToken(store, aVerification(user))
    const foreign = await keptToken(store, aReset(other))
    const token = await keptToken(store, aReset(user))
    const mail = aMail({ template: 'password-changed' })

    const reset = await store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep({ mail }))
    expect(reset).toEqual({ ...user, passwordHash: '$hash$2', version: 2, lastLoginAt: now })
    expect(await store.users.findById(user.id)).toEqual(reset)
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(kept.id)).not.toBeNull()
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('password_reset', other.emailCanonical, now)).toEqual([foreign])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('password_reset')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('a reset of an account that was never verified verifies it and keeps nothing that may have been planted', async () => {
    const { store } = current()
    const factors = [aTotp({ sealedSecret: 'key1.seed' })]
    const plantedUser = await createdUser(store, {
      name: 'Eve',
      fields: { plan: 'pro' },
      roles: ['EDITOR'],
      factors,
    })
    const token = await keptToken(store, aReset(plantedUser))
    const reset = await store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep())
    const clean = {
      name: null,
      fields: {},
      factors: [],
      emailVerified: true,
      verifiedBy: 'mailbox',
      passwordHash: '$hash$2',
      version: 2,
    }
    expect(reset).toEqual({ ...plantedUser, ...clean })
    expect(await store.users.findById(plantedUser.id)).toEqual(reset)
  })

  test('ATK-039 a reset of a verified account leaves its second factor on', async () => {
    const { store } = current()
    const user = await verified(store, { factors: [aTotp({ sealedSecret: 'key1.seed' })] })
    const token = await keptToken(store, aReset(user))
    const reset = await store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep())
    expect(reset).toEqual({ ...user, passwordHash: '$hash$2', version: 2 })
  })

  test('a reset of an account without a password gives it one, and its profile stays', async () => {
    const { store } = current()
    const user = await verified(store, { passwordHash: null })
    const token = await keptToken(store, aReset(user))
    const reset = await store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep())
    expect(reset).toEqual({ ...user, passwordHash: '$hash$2', version: 2 })
  })
}

function demandingContract(current: () => TestStore): void {
  test('a demanded reset marks the account, keeps its token and mail, and removes every hold', async () => {
    const { store, changes } = current()
    const factors = [aTotp({ sealedSecret: 'key1.seed' })]
    const [user, other] = [await createdUser(store, { factors }), await createdUser(store)]
    const [session, kept] = [await openedSession(store, user), await openedSession(store, other)]
    await store.devices.add(
      { id: 'device', userId: user.id, tokenHash: 'key1.device', createdAt: now, expiresAt: now + 900 },
      { keep: 5, now },
    )
    for (const token of [aReset(user), anOtp(user), aChallenge(user)]) await keptToken(store, token)
    const undo = await keptToken(store, anUndo(user))
    const [reset, mail] = [aReset(user), aMail()]
    const audit = anEvent({ event: 'password_reset_requested' })

    const demanded = await store.users.demandReset(user.id, reset, aStep({ audit, mail }))
    expect(demanded).toEqual({ ...user, mustReset: true, version: 2, lastLoginAt: now })
    expect(await store.users.findById(user.id)).toEqual(demanded)
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(kept.id)).not.toBeNull()
    expect(await store.devices.find(['key1.device'], now)).toBeNull()
    const live = (purpose: OneTimePurpose) => store.oneTimeTokens.listByEmail(purpose, user.emailCanonical, now)
    expect(await live('password_reset')).toEqual([reset])
    expect([await live('otp'), await live('two_factor')]).toEqual([[], []])
    expect(await store.oneTimeTokens.listByEmail('email_undo', undo.email, now)).toEqual([undo])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect(await auditedEvents(store)).toContain('password_reset_requested')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('a reset and a password that is set end what was demanded; a change by the user does not', async () => {
    const { store } = current()
    const user = await createdUser(store, { mustReset: true, emailVerified: true })
    const token = await keptToken(store, aReset(user))
    const reset = await store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep())
    expect(reset?.mustReset).toBe(false)
    await store.users.demandReset(user.id, aReset(user), aStep({ audit: anEvent() }))
    expect((await store.users.setPassword(user.id, '$hash$3', aStep({ audit: anEvent() })))?.mustReset).toBe(false)

    await store.users.demandReset(user.id, aReset(user), aStep({ audit: anEvent() }))
    const { version } = (await store.users.findById(user.id)) ?? { version: 0 }
    const session = aSession(user.id)
    await store.sessions.open(session, version, { maxSessions: 5, until }, anEvent())
    const change = { userId: user.id, version, fromSessionId: session.id, passwordHash: '$hash$4' }
    const changed = await store.users.changePassword(
      { ...change, session: aSession(user.id) },
      aStep({ audit: anEvent() }),
    )
    expect(changed?.mustReset).toBe(true)
  })

  test('an unknown user is not asked for a reset, and nothing is written', async () => {
    const { store, changes } = current()
    const user = aUser()
    expect(await store.users.demandReset(user.id, aReset(user), aStep({ mail: aMail() }))).toBeNull()
    expect([changes, await auditedEvents(store), await waitingMails(store)]).toEqual([[], [], []])
  })

  test('an invitation sets a password, is no reset, and is not replaced by one', async () => {
    const { store } = current()
    const user = await createdUser(store, { passwordHash: null, verifiedBy: 'invitation' })
    const invite = await keptToken(store, aReset(user, { purpose: 'invite' }))
    const reset = await keptToken(store, aReset(user))
    const use = (purpose: ResetPurpose, id: string) =>
      store.users.resetPassword(id, purpose, '$hash$2', now, aStep({ audit: anEvent() }))
    expect([await use('password_reset', invite.id), await use('invite', reset.id)]).toEqual([null, null])
    expect(await use('invite', invite.id)).toMatchObject({ passwordHash: '$hash$2', emailVerified: true, version: 2 })
    expect([await use('invite', invite.id), await use('password_reset', reset.id)]).toEqual([null, null])
  })
}

function resettingOnceContract(current: () => TestStore): void {
  test('a token that is unknown, expired, of another purpose or of nobody resets nothing', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const expiring = await keptToken(store, aReset(user, { expiresAt: now + 10 }))
    const otherPurpose = await keptToken(store, aVerification(user))
    const decoy = await keptToken(store, aReset(user, { subject: user.emailCanonical, userId: null }))
    const reset = (id: string, at: number) =>
      store.users.resetPassword(id, 'password_reset', '$hash$2', at, aStep({ mail: aMail() }))
    expect(await reset('unknown', now)).toBeNull()
    expect(await reset(expiring.id, now + 10)).toBeNull()
    expect(await reset(otherPurpose.id, now)).toBeNull()
    expect(await reset(decoy.id, now)).toBeNull()

    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await auditedEvents(store)).not.toContain('password_reset')
    expect(changes).toEqual([])
    expect(await reset(expiring.id, now + 9)).not.toBeNull()
  })

  test('a token for another address than the user has now, or of a disabled user, resets nothing', async () => {
    const { store, changes } = current()
    const moved = await createdUser(store)
    const disabled = await createdUser(store, { disabledAt: now - 10, disabledUntil: now + 1 })
    const former = await keptToken(store, aReset(moved, { email: 'former@example.com' }))
    const shut = await keptToken(store, aReset(disabled))
    expect(await store.users.resetPassword(former.id, 'password_reset', '$hash$2', now, aStep())).toBeNull()
    expect(await store.users.resetPassword(shut.id, 'password_reset', '$hash$2', now, aStep())).toBeNull()
    expect(await store.users.findById(moved.id)).toEqual(moved)
    expect(await store.users.findById(disabled.id)).toEqual(disabled)
    expect(changes).toEqual([])
    expect(await store.users.resetPassword(shut.id, 'password_reset', '$hash$2', now + 1, aStep())).not.toBeNull()
  })

  test('of many who use one reset at once, exactly one sets its password, mails once and raises the version once', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aReset(user))
    const before = (await waitingMails(store)).length
    const results = await atOnce((index) =>
      store.users.resetPassword(
        token.id,
        'password_reset',
        `$hash$${index}`,
        now,
        aStep({ audit: anEvent(), mail: aMail() }),
      ),
    )
    const [winner, ...others] = results.filter((result) => result !== null)
    expect(others).toEqual([])
    expect(await store.users.findById(user.id)).toEqual(winner)
    expect(winner?.version).toBe(2)
    expect(changes).toHaveLength(1)
    expect(await waitingMails(store)).toHaveLength(before + 1)
  })

  test('a sign-in with what was checked before a reset finds another version and does not open', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aReset(user))
    const ids = Array.from({ length: crowd }, (_, index) => `session-${index}`)
    const opening = ids.map((id) => store.sessions.open(aSession(user.id, { id }), 1, limit, anEvent()))
    const [reset] = await Promise.all([
      store.users.resetPassword(token.id, 'password_reset', '$hash$2', now, aStep()),
      ...opening,
    ])
    const left = (await Promise.all(ids.map((id) => store.sessions.find(id)))).filter((state) => state !== null)
    // Either the reset came first and nothing opened, or a sign-in did and took the reset with it.
    expect(reset ? left.length : crowd - left.length).toBe(0)
  })
}

function changingContract(current: () => TestStore): void {
  async function signedIn() {
    const { store } = current()
    const user = await verified(store)
    const session = await openedSession(store, user)
    const next = aSession(user.id)
    const change = { userId: user.id, version: 1, fromSessionId: session.id, passwordHash: '$hash$2', session: next }
    return { store, user, session, next, change }
  }

  test('a change sets the hash, raises the version, ends every session, begins the new one and drops resets', async () => {
    const { store, user, session, next, change } = await signedIn()
    const other = await openedSession(store, user)
    await keptToken(store, aReset(user))
    const verification = await keptToken(store, aVerification(user))
    const mail = aMail()
    const audit = anEvent({ event: 'password_changed' })

    const changed = await store.users.changePassword(change, aStep({ audit, mail }))
    expect(changed).toEqual({ ...user, passwordHash: '$hash$2', version: 2, lastLoginAt: now })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(other.id)).toBeNull()
    expect((await store.sessions.find(next.id))?.session).toEqual(next)
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([
      verification,
    ])
    const { changes } = current()
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(await auditedEvents(store)).toContain('password_changed')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('a change from another version, an ended or foreign session or a disabled user changes nothing', async () => {
    const { store, user, session, next, change } = await signedIn()
    const foreign = await openedSession(store, await verified(store))
    const shut = await verified(store, { disabledAt: now })
    const attempt = (overrides: Partial<typeof change>) =>
      store.users.changePassword({ ...change, ...overrides }, aStep({ mail: aMail() }))
    expect(await attempt({ version: 2 })).toBeNull()
    expect(await attempt({ version: 0 })).toBeNull()
    expect(await attempt({ fromSessionId: 'unknown' })).toBeNull()
    expect(await attempt({ fromSessionId: foreign.id })).toBeNull()
    expect(await attempt({ userId: 'unknown' })).toBeNull()
    expect(await attempt({ userId: shut.id })).toBeNull()

    expect(await store.users.findById(user.id)).toMatchObject({ passwordHash: '$hash$1', version: 1 })
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.sessions.find(foreign.id)).not.toBeNull()
    expect(await store.sessions.find(next.id)).toBeNull()
    expect(current().changes).toEqual([])
    expect(await waitingMails(store)).toEqual([])
  })

  test('of many changes from one session at once, exactly one happens, and one session is left', async () => {
    const { store, user, change } = await signedIn()
    const results = await atOnce((index) =>
      store.users.changePassword(
        { ...change, passwordHash: `$hash$${index}`, session: aSession(user.id) },
        aStep({ audit: anEvent() }),
      ),
    )
    const winners = results.filter((result) => result !== null)
    expect(winners).toHaveLength(1)
    expect(await store.users.findById(user.id)).toEqual(winners[0])
    expect(await store.sessions.list(user.id, now)).toHaveLength(1)
  })

  test('of a change and a reset at once, exactly one happens', async () => {
    const { store, user, change } = await signedIn()
    const token = await keptToken(store, aReset(user))
    const [changed, reset] = await Promise.all([
      store.users.changePassword(change, aStep({ audit: anEvent() })),
      store.users.resetPassword(token.id, 'password_reset', '$hash$3', now, aStep()),
    ])
    expect([changed, reset].filter((result) => result !== null)).toHaveLength(1)
    expect(await store.users.findById(user.id)).toEqual(changed ?? reset)
    expect(await store.sessions.list(user.id, now)).toHaveLength(changed ? 1 : 0)
  })
}

function settingContract(current: () => TestStore): void {
  test('a password that is set ends every session and reset, raises the version and leaves verification alone', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    await keptToken(store, aReset(user))
    const verification = await keptToken(store, aVerification(user))
    const mail = aMail()

    const audit = anEvent({ event: 'password_changed' })
    const set = await store.users.setPassword(user.id, '$hash$2', aStep({ audit, mail }))
    expect(set).toEqual({ ...user, passwordHash: '$hash$2', version: 2, lastLoginAt: now })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([
      verification,
    ])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('a password for an unknown user is set nowhere and written down nowhere', async () => {
    const { store, changes } = current()
    expect(await store.users.setPassword('unknown', '$hash$2', aStep({ mail: aMail() }))).toBeNull()
    expect([changes, await auditedEvents(store), await waitingMails(store)]).toEqual([[], [], []])
  })
}

function signInContract(current: () => TestStore): void {
  test('a sign-in drops the user’s pending resets and nothing else', async () => {
    const { store } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    await keptToken(store, aReset(user))
    const verification = await keptToken(store, aVerification(user))
    const foreign = await keptToken(store, aReset(other))
    expect(await store.sessions.open(aSession(user.id), 2, limit, anEvent())).toBe(false)
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toHaveLength(1)

    await openedSession(store, user)
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.oneTimeTokens.listByEmail('email_verification', user.emailCanonical, now)).toEqual([
      verification,
    ])
    expect(await store.oneTimeTokens.listByEmail('password_reset', other.emailCanonical, now)).toEqual([foreign])
  })
}

function entrustingContract(current: () => TestStore): void {
  const entrustStep = stepOf('account_updated')
  const given = { passwordHash: '$hash$9', invitation: null, now }
  const proof = { emailVerified: true, verifiedBy: 'application', mustReset: false } as const

  test('a proved account that is entrusted loses its sessions and tokens, and keeps what its owner set up', async () => {
    const { store, changes } = current()
    const factors = [aTotp({ sealedSecret: 'key1.seed' })]
    const user = await verified(store, { verifiedBy: 'mailbox', factors })
    const session = await openedSession(store, user)
    await keptToken(store, aReset(user))
    const entrusted = await store.users.entrust(user, given, entrustStep())
    expect(entrusted).toMatchObject({ ...proof, passwordHash: '$hash$9', version: 2, factors, name: user.name })
    expect(await store.users.findById(user.id)).toEqual(entrusted)
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(changes.some(({ kind, subject }) => kind === 'user' && subject === user.id)).toBe(true)
  })

  test('an undo of an address change does not survive: its former owner cannot take the account back', async () => {
    const { store } = current()
    for (const verifiedBy of ['mailbox', 'trusted_provider'] as const) {
      const user = await verified(store, { verifiedBy })
      const undo = await keptToken(store, anUndo(user, { email: `former-${user.emailCanonical}` }))
      expect(await store.users.entrust(user, given, entrustStep())).toMatchObject(proof)
      const back = { email: undo.email, factorSince: null, proof: null }
      expect(await store.users.undoEmail(undo.id, back, now, entrustStep())).toBeNull()
      expect((await store.users.findById(user.id))?.emailCanonical).toBe(user.emailCanonical)
    }
  })

  test('an account that was never confirmed is entrusted without password, name and second factor', async () => {
    const { store } = current()
    const user = await createdUser(store, { factors: [aTotp({ sealedSecret: 'key1.seed' })] })
    const invitation = aReset(user, { purpose: 'invite' })
    const mail = aMail({ template: 'invited' })
    const entrusted = await store.users.entrust(
      user,
      { ...given, passwordHash: null, invitation },
      entrustStep({ mail }),
    )
    expect(entrusted).toMatchObject({ ...proof, passwordHash: null, name: null, factors: [] })
    expect(await waitingMails(store)).toEqual([mail.id])
    const set = await store.users.resetPassword(invitation.id, 'invite', '$hash$3', now, aStep())
    expect(set).toMatchObject({ passwordHash: '$hash$3' })
  })

  test('an address that was verified but not proved is entrusted without what a stranger may have set', async () => {
    const { store } = current()
    const factors = [aTotp({ sealedSecret: 'key1.seed' })]
    const user = await verified(store, { verifiedBy: 'trusted_provider', factors, name: 'Mallory' })
    const entrusted = await store.users.entrust(user, given, entrustStep())
    expect(entrusted).toMatchObject({ ...proof, passwordHash: '$hash$9', factors: [], name: null, identities: [] })
  })

  test('nothing changes where the user is gone, is disabled or has another address', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const entrust = (who: { id: string; emailCanonical: string }) => store.users.entrust(who, given, entrustStep())
    expect(await entrust({ id: 'gone', emailCanonical: user.emailCanonical })).toBeNull()
    expect(await entrust({ id: user.id, emailCanonical: 'other@example.org' })).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(user)
    const disabled = await store.users.disable(user.id, { at: now, until: null, reason: null }, entrustStep())
    expect(await entrust(user)).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(disabled)
  })
}
