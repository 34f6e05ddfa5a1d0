import { expect, test } from 'vitest'
import type { FactorProof } from '../../../src/model/second-factor.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Store } from '../../../src/store/store.js'
import type { TestStore } from '../../support/databases.js'
import {
  aChallenge,
  aMail,
  anEvent,
  aReset,
  aSession,
  aTotp,
  atOnce,
  aVerification,
  backupCodesOf,
  createdUser,
  keptToken,
  now,
  until,
} from './rows.js'

/** What `Sessions.open` promises of a sign-in's second step. */
export function secondStepContract(current: () => TestStore): void {
  openingContract(current)
  racingContract(current)
}

const totp: FactorProof = { kind: 'totp', step: 102 }

/** A user at step 101, with the backup codes `a` and `b`. */
async function secured(store: Store): Promise<UserRecord> {
  const user = await createdUser(store, { emailVerified: true, factors: [aTotp()] })
  const change = { userId: user.id, version: 1, proof: { kind: 'totp', step: 101 } as const }
  const told = { audit: anEvent(), mail: aMail() }
  await store.secondFactors.replaceBackupCodes({ ...change, backupCodes: backupCodesOf('a', 'b') }, now, told)
  return { ...user, factors: [aTotp({ lastStep: 101 })] }
}

function open(store: Store, user: UserRecord, secondStep: { challengeId: string; proof: FactorProof }, at = now) {
  const session = aSession(user.id, { createdAt: at })
  return store.sessions.open(session, user.version, { maxSessions: 50, until, secondStep }, anEvent())
}

async function backupCode(store: Store, user: UserRecord, name: string): Promise<FactorProof> {
  return { kind: 'backup_code', id: (await store.secondFactors.findBackupCode(user.id, [`key1.${name}`])) ?? '' }
}

function openingContract(current: () => TestStore): void {
  test('a session that opens uses up challenge and time step, and drops resets as any sign-in does', async () => {
    const { store } = current()
    const user = await secured(store)
    await keptToken(store, aReset(user))
    const challenge = await keptToken(store, aChallenge(user))
    expect(await open(store, user, { challengeId: challenge.id, proof: totp })).toBe(true)
    expect(await store.users.findById(user.id)).toEqual({
      ...user,
      factors: [aTotp({ lastStep: 102 })],
      lastLoginAt: now,
    })
    expect(await store.oneTimeTokens.findByHash('two_factor', [challenge.tokenHash], now)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('password_reset', user.emailCanonical, now)).toEqual([])
    expect(await store.sessions.list(user.id, now)).toHaveLength(1)
  })

  test('one that opens by a backup code uses that up and no other, and leaves the time step alone', async () => {
    const { store } = current()
    const user = await secured(store)
    const challenge = await keptToken(store, aChallenge(user))
    const proof = await backupCode(store, user, 'a')
    expect(await open(store, user, { challengeId: challenge.id, proof })).toBe(true)
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.a'])).toBeNull()
    expect(await store.secondFactors.findBackupCode(user.id, ['key1.b'])).not.toBeNull()
    expect(await store.secondFactors.countBackupCodes(user.id)).toBe(1)
    expect((await store.users.findById(user.id))?.factors).toEqual(user.factors)
  })

  test('without a live challenge and an unused proof of that user nothing opens, and nothing is used up', async () => {
    const { store } = current()
    const [user, other] = [await secured(store), await secured(store)]
    const challenge = await keptToken(store, aChallenge(user))
    const expiring = await keptToken(store, aChallenge(user, { expiresAt: now + 5 }))
    const foreign = await keptToken(store, aChallenge(other))
    const verification = await keptToken(store, aVerification(user))
    for (const challengeId of ['unknown', foreign.id, verification.id]) {
      expect(await open(store, user, { challengeId, proof: totp }), challengeId).toBe(false)
      expect(await open(store, user, { challengeId, proof: await backupCode(store, user, 'a') })).toBe(false)
    }
    expect(await open(store, user, { challengeId: expiring.id, proof: totp }, now + 5)).toBe(false)
    for (const proof of [
      { kind: 'totp', step: 101 } as const,
      { kind: 'totp', step: 3 } as const,
      { kind: 'backup_code', id: 'unknown' } as const,
      await backupCode(store, other, 'a'),
    ]) {
      expect(await open(store, user, { challengeId: challenge.id, proof }), JSON.stringify(proof)).toBe(false)
    }
    expect(await open(store, { ...user, version: 2 }, { challengeId: challenge.id, proof: totp })).toBe(false)

    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.sessions.list(user.id, now)).toEqual([])
    expect(await store.oneTimeTokens.findByHash('two_factor', [challenge.tokenHash], now)).toEqual(challenge)
    expect(await store.secondFactors.findBackupCode(other.id, ['key1.a'])).not.toBeNull()
    expect(await open(store, user, { challengeId: challenge.id, proof: totp })).toBe(true)
  })

  test('where no factor is on, no proof opens a session', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const challenge = await keptToken(store, aChallenge(user))
    expect(await open(store, user, { challengeId: challenge.id, proof: totp })).toBe(false)
    expect(await open(store, user, { challengeId: challenge.id, proof: { kind: 'backup_code', id: 'x' } })).toBe(false)
  })
}

function racingContract(current: () => TestStore): void {
  test('ATK-048 of many sessions with one time step at once, by many challenges and processes, one opens', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const user = await secured(store)
    const challenges = await atOnce(() => keptToken(store, aChallenge(user)))
    const opened = await atOnce((index) =>
      open(index % 2 === 0 ? store : second, user, { challengeId: challenges[index]?.id ?? '', proof: totp }),
    )
    expect(opened.filter(Boolean)).toHaveLength(1)
    expect(await store.sessions.list(user.id, now)).toHaveLength(1)
  })

  test('ATK-055 of many sessions with one backup code at once, by many challenges and processes, one opens', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const user = await secured(store)
    const proof = await backupCode(store, user, 'a')
    const challenges = await atOnce(() => keptToken(store, aChallenge(user)))
    const opened = await atOnce((index) =>
      open(index % 2 === 0 ? store : second, user, { challengeId: challenges[index]?.id ?? '', proof }),
    )
    expect(opened.filter(Boolean)).toHaveLength(1)
  })

  test('of many sessions with one challenge at once, each with a proof of its own, one opens', async () => {
    const { store } = current()
    const user = await secured(store)
    const challenge = await keptToken(store, aChallenge(user))
    const opened = await atOnce((index) =>
      open(store, user, { challengeId: challenge.id, proof: { kind: 'totp', step: 102 + index } }),
    )
    expect(opened.filter(Boolean)).toHaveLength(1)
    expect((await store.users.findById(user.id))?.factors).toMatchObject([{ lastStep: 102 + opened.indexOf(true) }])
  })

  test('of a second step and the end of the factor with the same code at once, exactly one happens', async () => {
    const { store } = current()
    const user = await secured(store)
    const session = aSession(user.id)
    await store.sessions.open(session, 1, { maxSessions: 50, until }, anEvent())
    const challenge = await keptToken(store, aChallenge(user))
    const off = { userId: user.id, version: 1, fromSessionId: session.id, session: aSession(user.id), proof: totp }
    const [opened, turnedOff] = await Promise.all([
      open(store, user, { challengeId: challenge.id, proof: totp }),
      store.secondFactors.turnOff(off, { until, audit: anEvent() }),
    ])
    expect([opened, turnedOff !== null].filter(Boolean)).toHaveLength(1)
  })

  test('a token may be kept without a mail', async () => {
    const { store, mailSignals } = current()
    const challenge = aChallenge(await createdUser(store))
    await store.oneTimeTokens.put(challenge, null, { keep: 1, now })
    expect(await store.oneTimeTokens.findByHash('two_factor', [challenge.tokenHash], now)).toEqual(challenge)
    expect(mailSignals()).toBe(0)
  })
}
