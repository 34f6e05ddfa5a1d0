import { expect, test } from 'vitest'
import type { OneTimeToken } from '../../../src/model/one-time-token.js'
import type { FactorProof } from '../../../src/model/second-factor.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { TurningOff } from '../../../src/store/second-factors.js'
import type { Store } from '../../../src/store/store.js'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEnrolment,
  anEvent,
  anUndo,
  aSession,
  aTotp,
  atOnce,
  auditedEvents,
  aVerification,
  backupCodesOf,
  createdUser,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
  waitingMails,
} from './rows.js'

export function secondFactorsContract(current: () => TestStore): void {
  turningOnContract(current)
  turningOffContract(current)
  enrollingContract(current)
  backupCodesContract(current)
  undoingContract(current)
  undoingLaterContract(current)
  administeringContract(current)
}

const aStep = stepOf('two_factor_enabled')

/** A user whose factor is on, at step 100, with the backup codes `a` and `b`, and a session of theirs. */
async function secured(store: Store, overrides: Partial<UserRecord> = {}) {
  const user = await createdUser(store, { emailVerified: true, ...overrides })
  const session = await openedSession(store, user)
  const enrolment = await keptToken(store, anEnrolment(user))
  const next = aSession(user.id)
  const change = { userId: user.id, version: user.version, fromSessionId: session.id, session: next }
  const on = { ...change, enrolmentId: enrolment.id, factor: aTotp(), backupCodes: backupCodesOf('a', 'b') }
  const changed = await store.secondFactors.turnOn(on, aStep({ audit: anEvent() }))
  if (!changed) throw new Error('The factor could not be turned on.')
  return { user: changed, session: next }
}

function turningOnContract(current: () => TestStore): void {
  async function enrolling() {
    const { store } = current()
    const user = await createdUser(store, { emailVerified: true })
    const session = await openedSession(store, user)
    const enrolment = await keptToken(store, anEnrolment(user))
    const next = aSession(user.id, { amr: ['pwd', 'otp', 'mfa'] })
    const change = {
      userId: user.id,
      version: 1,
      fromSessionId: session.id,
      session: next,
      enrolmentId: enrolment.id,
      factor: aTotp(),
      backupCodes: backupCodesOf('a', 'b'),
    }
    return { store, user, session, enrolment, next, change }
  }

  test('turned on, a factor is in the row, raises the version, ends every session and begins the new one', async () => {
    const { store, user, session, next, change } = await enrolling()
    const other = await openedSession(store, user)
    const mail = aMail()
    const on = await store.secondFactors.turnOn(change, aStep({ mail }))
    expect(on).toEqual({ ...user, factors: [aTotp()], version: 2, lastLoginAt: now })
    expect(await store.users.findById(user.id)).toEqual(on)
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.sessions.find(other.id)).toBeNull()
    expect(await store.sessions.find(next.id)).toMatchObject({ session: next, user: on })
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBe(change.backupCodes[0]?.id)
    expect(await store.oneTimeTokens.listByEmail('two_factor_enrolment', user.emailCanonical, now)).toEqual([])

    const { changes } = current()
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: user.id, version: 2, until })])
    expect(await auditedEvents(store)).toContain('two_factor_enabled')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('another one takes the place of the first, and its backup codes that of all others', async () => {
    const { store } = current()
    const { user, session } = await secured(store)
    const enrolment = await keptToken(store, anEnrolment(user))
    const factor = aTotp({ sealedSecret: 'key1.other', lastStep: 7 })
    const change = { userId: user.id, version: 2, fromSessionId: session.id, session: aSession(user.id) }
    const backupCodes = backupCodesOf('c')
    const on = await store.secondFactors.turnOn({ ...change, enrolmentId: enrolment.id, factor, backupCodes }, aStep())
    expect(on).toMatchObject({ factors: [factor], version: 3 })
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])).toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.c'])).toBe(backupCodes[0]?.id)
  })

  test('without a live enrolment of that user, from another version or an ended session nothing changes', async () => {
    const { store, user, session, enrolment, change } = await enrolling()
    const foreign = await createdUser(store)
    const foreignEnrolment = await keptToken(store, anEnrolment(foreign))
    const foreignSession = await openedSession(store, foreign)
    const verification = await keptToken(store, aVerification(user))
    const expired = await keptToken(store, anEnrolment(user, { expiresAt: now + 5 }))
    const shut = await createdUser(store, { disabledAt: now })
    const attempt = (overrides: Partial<typeof change>) =>
      store.secondFactors.turnOn({ ...change, ...overrides }, aStep({ mail: aMail() }))
    const late = aSession(user.id, { createdAt: now + 5 })
    expect(await attempt({ enrolmentId: 'unknown' })).toBeNull()
    expect(await attempt({ enrolmentId: foreignEnrolment.id })).toBeNull()
    expect(await attempt({ enrolmentId: verification.id })).toBeNull()
    expect(await attempt({ enrolmentId: expired.id, session: late })).toBeNull()
    expect(await attempt({ version: 2 })).toBeNull()
    expect(await attempt({ fromSessionId: 'unknown' })).toBeNull()
    expect(await attempt({ fromSessionId: foreignSession.id })).toBeNull()
    expect(await attempt({ userId: foreign.id })).toBeNull()
    expect(await attempt({ userId: shut.id })).toBeNull()

    expect(await store.users.findById(user.id)).toMatchObject({ factors: [], version: 1 })
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBeNull()
    expect(current().changes).toEqual([])
    expect(await attempt({ enrolmentId: enrolment.id })).not.toBeNull()
  })

  test('of many with one enrolment at once, exactly one happens, and one session is left', async () => {
    const { store, user, change } = await enrolling()
    const results = await atOnce((index) =>
      store.secondFactors.turnOn(
        { ...change, session: aSession(user.id), backupCodes: backupCodesOf(`code-${index}`) },
        aStep({ audit: anEvent(), mail: aMail() }),
      ),
    )
    const winners = results.flatMap((result, index) => (result === null ? [] : [index]))
    expect(winners).toHaveLength(1)
    expect(await store.sessions.list(user.id, now)).toHaveLength(1)
    const kept = await atOnce((index) => store.secondFactors.findBackupCode(user.id, [`key1.code-${index}`]))
    expect(kept.flatMap((id, index) => (id === null ? [] : [index]))).toEqual(winners)
    expect(current().changes).toHaveLength(1)
  })
}

function turningOffContract(current: () => TestStore): void {
  const totp = { kind: 'totp', step: 101 } as const

  test('turned off, a factor is gone with codes and enrolments, every session ends and the new one begins', async () => {
    const { store, changes } = current()
    const { user, session } = await secured(store)
    await keptToken(store, anEnrolment(user))
    const next = aSession(user.id)
    const change = { userId: user.id, version: 2, fromSessionId: session.id, session: next, proof: totp }
    const mail = aMail()
    const audit = anEvent({ event: 'two_factor_disabled' })
    const off = await store.secondFactors.turnOff(change, aStep({ audit, mail }))
    expect(off).toEqual({ ...user, factors: [], version: 3 })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect((await store.sessions.find(next.id))?.session).toEqual(next)
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('two_factor_enrolment', user.emailCanonical, now)).toEqual([])
    expect(changes.at(-1)).toMatchObject({ kind: 'user', subject: user.id, version: 3, until })
    expect(await auditedEvents(store)).toContain('two_factor_disabled')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('with a proof that is used up or foreign, from another version or an ended session it stays on', async () => {
    const { store } = current()
    const { user, session } = await secured(store)
    const other = await secured(store)
    const foreign = (await store.secondFactors.findBackupCode(other.user.id, ['key1.a'])) ?? ''
    const change = { userId: user.id, version: 2, fromSessionId: session.id, session: aSession(user.id), proof: totp }
    const attempt = (overrides: Partial<TurningOff>) =>
      store.secondFactors.turnOff({ ...change, ...overrides }, aStep())
    expect(await attempt({ proof: { kind: 'totp', step: 100 } })).toBeNull()
    expect(await attempt({ proof: { kind: 'backup_code', id: foreign } })).toBeNull()
    expect(await attempt({ version: 1 })).toBeNull()
    expect(await attempt({ fromSessionId: other.session.id })).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.secondFactors.findBackupCode(other.user.id, ['key1.a'])).toBe(foreign)
  })

  test('of many with one proof at once, exactly one turns it off', async () => {
    const { store } = current()
    for (const kind of ['totp', 'backup_code'] as const) {
      const { user, session } = await secured(store)
      const id = (await store.secondFactors.findBackupCode(user.id, ['key1.b'])) ?? ''
      const proof = kind === 'totp' ? totp : { kind, id }
      const results = await atOnce(() => {
        const change = { userId: user.id, version: 2, fromSessionId: session.id, session: aSession(user.id), proof }
        return store.secondFactors.turnOff(change, aStep({ audit: anEvent() }))
      })
      expect(results.filter((result) => result !== null)).toHaveLength(1)
      expect(await store.sessions.list(user.id, now)).toHaveLength(1)
    }
  })
}

function enrollingContract(current: () => TestStore): void {
  test('an enrolment takes the place of the one before, and needs no proof where no factor is on', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const [first, second] = [anEnrolment(user), anEnrolment(user)]
    expect(await store.secondFactors.beginEnrolment(first, now, null)).toBe(true)
    expect(await store.secondFactors.beginEnrolment(second, now, null)).toBe(true)
    expect(await store.oneTimeTokens.listByEmail('two_factor_enrolment', user.emailCanonical, now)).toEqual([second])
  })

  test('the proof of an enrolment is used up by it: of many at once, exactly one begins', async () => {
    const { store } = current()
    for (const kind of ['totp', 'backup_code'] as const) {
      const { user } = await secured(store)
      const id = (await store.secondFactors.findBackupCode(user.id, ['key1.a'])) ?? ''
      const proof: FactorProof = kind === 'totp' ? { kind, step: 101 } : { kind, id }
      const proved = { userId: user.id, version: 2, proof }
      expect(await store.secondFactors.beginEnrolment(anEnrolment(user), now, { ...proved, version: 1 })).toBe(false)
      const results = await atOnce(() => store.secondFactors.beginEnrolment(anEnrolment(user), now, proved))
      expect(results.filter(Boolean)).toHaveLength(1)
      const after = await store.users.findById(user.id)
      expect(after).toEqual({ ...user, factors: [aTotp({ lastStep: kind === 'totp' ? 101 : 100 })] })
      expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBe(kind === 'totp' ? id : null)
    }
  })
}

function backupCodesContract(current: () => TestStore): void {
  test('a backup code is found by any of its possible digests, of its own user only', async () => {
    const { store } = current()
    const { user } = await secured(store)
    const other = await createdUser(store)
    const { findBackupCode } = store.secondFactors
    expect(await findBackupCode(user.id, ['key2.a', 'key1.a'])).toEqual(expect.any(String))
    expect(await findBackupCode(user.id, ['key1.a'])).toEqual(await findBackupCode(user.id, ['key1.a']))
    expect(await findBackupCode(user.id, ['key1.A'])).toBeNull()
    expect(await findBackupCode(user.id, ['key1.c'])).toBeNull()
    expect(await findBackupCode(user.id, [])).toBeNull()
    expect(await findBackupCode(other.id, ['key1.a'])).toBeNull()
    expect(await store.secondFactors.countBackupCodes(user.id)).toBe(2)
    expect(await store.secondFactors.countBackupCodes(other.id)).toBe(0)
  })

  test('new ones take the place of all others, and end no session', async () => {
    const { store, changes } = current()
    const { user, session } = await secured(store)
    changes.length = 0
    const mail = aMail()
    const proof: FactorProof = { kind: 'totp', step: 105 }
    const change = { userId: user.id, version: 2, proof, backupCodes: backupCodesOf('c', 'd') }
    const told = { audit: anEvent({ event: 'backup_codes_replaced' }), mail }
    expect(await store.secondFactors.replaceBackupCodes(change, now, told)).toBe(true)
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])).toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.d'])).toBe(change.backupCodes[1]?.id)
    expect(await store.users.findById(user.id)).toEqual({ ...user, factors: [aTotp({ lastStep: 105 })] })
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(changes).toEqual([])
    expect(await auditedEvents(store)).toContain('backup_codes_replaced')
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('of many with one proof at once, exactly one replaces them; without a live proof, none does', async () => {
    const { store } = current()
    const { user } = await secured(store)
    const told = () => ({ audit: anEvent(), mail: aMail() })
    const { replaceBackupCodes } = store.secondFactors
    const old = { userId: user.id, version: 2, proof: { kind: 'totp', step: 100 } as const }
    expect(await replaceBackupCodes({ ...old, backupCodes: backupCodesOf('x') }, now, told())).toBe(false)
    const stale = { ...old, version: 1, proof: { kind: 'totp', step: 101 } as const }
    expect(await replaceBackupCodes({ ...stale, backupCodes: backupCodesOf('x') }, now, told())).toBe(false)
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.x'])).toBeNull()

    const fresh = { ...old, proof: { kind: 'totp', step: 101 } as const }
    const results = await atOnce((index) =>
      replaceBackupCodes({ ...fresh, backupCodes: backupCodesOf(`n${index}`) }, now, told()),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    const kept = await atOnce((index) => store.secondFactors.findBackupCode(user.id, [`key1.n${index}`]))
    expect(kept.map((id) => id !== null)).toEqual(results)
  })
}

function undoingContract(current: () => TestStore): void {
  test('an address is taken back by a proof where the factor of then is on, which is used up; of many at once, one happens', async () => {
    const { store } = current()
    for (const kind of ['totp', 'backup_code'] as const) {
      const { user } = await secured(store)
      const undo = await keptToken(store, anUndo(user))
      const id = (await store.secondFactors.findBackupCode(user.id, ['key1.a'])) ?? ''
      const proof: FactorProof = kind === 'totp' ? { kind, step: 101 } : { kind, id }
      const take = (by: FactorProof | null) =>
        store.users.undoEmail(
          undo.id,
          { email: user.email, factorSince: now, proof: by },
          now,
          aStep({ audit: anEvent() }),
        )
      expect(await take(null)).toBeNull()
      expect(await take({ kind: 'totp', step: 100 })).toBeNull()
      expect(await take({ kind: 'backup_code', id: 'unknown' })).toBeNull()
      expect(await store.users.findById(user.id)).toEqual(user)

      const results = await atOnce(() => take(proof))
      const lastStep = kind === 'totp' ? 101 : 100
      expect(results.filter((result) => result !== null)).toMatchObject([{ factors: [{ lastStep }], version: 3 }])
      expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBe(kind === 'totp' ? id : null)
    }
  })
}

function undoingLaterContract(current: () => TestStore): void {
  const taking =
    (store: Store, user: UserRecord, undo: OneTimeToken) => (since: number | null, proof: FactorProof | null) =>
      store.users.undoEmail(undo.id, { email: user.email, factorSince: since, proof }, now, aStep({ audit: anEvent() }))

  test('a factor that was turned on after the change goes with the undo, with its backup codes and enrolments', async () => {
    for (const since of [null, now - 1]) {
      const { store } = current()
      const { user } = await secured(store)
      await keptToken(store, anEnrolment(user))
      const other = await secured(store)
      const undo = await keptToken(store, anUndo(user))
      expect(await taking(store, user, undo)(since, null)).toMatchObject({ factors: [], version: 3 })
      const left = await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])
      expect([left, await store.users.findById(other.user.id)]).toEqual([null, other.user])
      expect(await store.secondFactors.findBackupCode(other.user.id, ['key1.a'])).not.toBeNull()
      expect(await store.oneTimeTokens.listByEmail('two_factor_enrolment', user.emailCanonical, now)).toEqual([])
    }
  })

  test('a proof of another factor than that of the change takes no address back', async () => {
    const { store } = current()
    const { user } = await secured(store)
    const take = taking(store, user, await keptToken(store, anUndo(user)))
    const id = (await store.secondFactors.findBackupCode(user.id, ['key1.a'])) ?? ''
    for (const proof of [
      { kind: 'totp', step: 101 },
      { kind: 'backup_code', id },
    ] as const) {
      for (const since of [null, now - 1]) expect(await take(since, proof)).toBeNull()
    }
    expect(await store.users.findById(user.id)).toEqual(user)
  })

  test('of an undo without a proof and the turning on of a factor, at once, none stays', async () => {
    const { store } = current()
    const user = await createdUser(store, { emailVerified: true })
    const take = taking(store, user, await keptToken(store, anUndo(user)))
    const session = await openedSession(store, user)
    const enrolment = await keptToken(store, anEnrolment(user))
    const on = { userId: user.id, version: 1, fromSessionId: session.id, enrolmentId: enrolment.id, factor: aTotp() }
    const turning = { ...on, backupCodes: backupCodesOf('a'), session: aSession(user.id) }
    const step = aStep({ audit: anEvent() })
    const [restored] = await Promise.all([take(null, null), store.secondFactors.turnOn(turning, step)])
    expect(restored).toMatchObject({ factors: [] })
    expect(await store.users.findById(user.id)).toEqual(restored)
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBeNull()
  })
}

function administeringContract(current: () => TestStore): void {
  test('taken away by the application, a factor goes with its codes, its enrolments and every session', async () => {
    const { store, changes } = current()
    const { user, session } = await secured(store)
    await keptToken(store, anEnrolment(user))
    const mail = aMail()
    const updated = await store.users.updateAccount(user.id, { twoFactor: false, name: 'Grace' }, aStep({ mail }))
    expect(updated).toEqual({ ...user, factors: [], name: 'Grace', version: 3 })
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('two_factor_enrolment', user.emailCanonical, now)).toEqual([])
    expect(changes.at(-1)).toMatchObject({ kind: 'user', subject: user.id, version: 3 })
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('of many that take a factor away at once, exactly one does; where none is on, nothing is written', async () => {
    const { store } = current()
    const { user } = await secured(store)
    const remove = () =>
      store.users.updateAccount(user.id, { twoFactor: false }, aStep({ audit: anEvent({ event: 'account_updated' }) }))
    const removed = await atOnce(remove)
    expect(removed.filter((account) => account !== null)).toHaveLength(1)
    expect(await remove()).toBeNull()
    expect((await store.users.findById(user.id))?.version).toBe(user.version + 1)
    expect((await auditedEvents(store)).filter((event) => event === 'account_updated')).toHaveLength(1)
  })

  test('other changes of an account leave its factor alone', async () => {
    const { store } = current()
    const { user, session } = await secured(store)
    const updated = await store.users.updateAccount(user.id, { roles: ['OWNER'] }, aStep())
    expect(updated).toMatchObject({ factors: user.factors, roles: ['OWNER'] })
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).not.toBeNull()
  })

  test('with the user, the backup codes are deleted', async () => {
    const { store } = current()
    const { user } = await secured(store)
    await store.users.delete(user.id, until, anEvent())
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a', 'key1.b'])).toBeNull()
  })

  test('the keys in use are also those of secrets and backup codes', async () => {
    const { store } = current()
    const user = await createdUser(store, { factors: [aTotp({ sealedSecret: 'k8.secret' })] })
    expect(await store.keysInUse(now)).toEqual(['k8'])
    const codes = backupCodesOf('a').map((code) => ({ ...code, codeHash: 'k9.digest' }))
    const told = { audit: anEvent(), mail: aMail({ sealedValues: 'k7.values' }) }
    const change = { userId: user.id, version: 1, proof: { kind: 'totp', step: 101 } as const, backupCodes: codes }
    await store.secondFactors.replaceBackupCodes(change, now, told)
    expect(await store.keysInUse(now)).toEqual(['k7', 'k8', 'k9'])
  })
}
