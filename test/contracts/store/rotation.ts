import { expect, test } from 'vitest'
import type { Session } from '../../../src/model/session.js'
import type { Rotation, SessionState } from '../../../src/store/sessions.js'
import type { TestStore } from '../../support/databases.js'
import { anEvent, atOnce, createdUser, now, openedSession, until } from './rows.js'

function rotationOf(
  { id, userId, mode }: Pick<Session, 'id' | 'userId' | 'mode'>,
  overrides: Partial<Rotation> = {},
): Rotation {
  return {
    sessionId: id,
    userId,
    mode,
    counter: 0,
    issuedAt: now + 100,
    expiresAt: now + 2_000_000,
    provenForMs: 30_000,
    now: now + 100,
    ...overrides,
  }
}

const isWon = (state: SessionState | null) => state !== null

export function rotationContract(current: () => TestStore): void {
  raisingContract(current)
  provingContract(current)
  provingManyContract(current)
  racingContract(current)
}

function raisingContract(current: () => TestStore): void {
  test('the first rotation needs no proof; the successor is unproven and carries its own times', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const state = await store.sessions.rotate(rotationOf(session))
    expect(state?.session).toEqual({
      ...session,
      counter: 1,
      provenAtMs: null,
      refreshIssuedAt: now + 100,
      refreshExpiresAt: now + 2_000_000,
    })
    expect(state?.user).toEqual({ ...user, lastLoginAt: now })
    expect((await store.sessions.find(session.id))?.session).toEqual(state?.session)
  })

  test('a counter that is not the current one does not rotate', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    await store.sessions.rotate(rotationOf(session))
    expect(await store.sessions.rotate(rotationOf(session, { counter: 0 }))).toBeNull()
    expect(await store.sessions.rotate(rotationOf(session, { counter: 2 }))).toBeNull()
    expect(await store.sessions.rotate(rotationOf({ ...session, id: 'unknown' }))).toBeNull()
    expect((await store.sessions.find(session.id))?.session.counter).toBe(1)
  })

  test('a session of another user, or of the other mode, does not rotate', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    const mode = session.mode === 'cookie' ? 'token' : 'cookie'
    expect(await store.sessions.rotate(rotationOf({ ...session, userId: 'another' }))).toBeNull()
    expect(await store.sessions.rotate(rotationOf({ ...session, mode }))).toBeNull()
    expect((await store.sessions.find(session.id))?.session).toEqual(session)
  })

  test('a successor expires no later than its session', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    const late = { expiresAt: session.expiresAt + 1 }
    const state = await store.sessions.rotate(rotationOf(session, late))
    expect(state?.session.refreshExpiresAt).toBe(session.expiresAt)
  })

  test('only the current counter rotates, also where the proof is old enough', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store), { counter: 4 })
    await store.sessions.prove([{ sessionId: session.id, counter: 4, ageMs: 90_000 }])
    for (const counter of [0, 3, 5]) expect(await store.sessions.rotate(rotationOf(session, { counter }))).toBeNull()
    expect((await store.sessions.rotate(rotationOf(session, { counter: 4 })))?.session.counter).toBe(5)
  })

  test('an unproven rotation does not rotate again, however late', async () => {
    const { store, age } = current()
    const session = await openedSession(store, await createdUser(store), { counter: 1 })
    await age(1_000_000)
    expect(await store.sessions.rotate(rotationOf(session, { counter: 1 }))).toBeNull()
  })

  test('a session or refresh token that has expired does not rotate', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const old = await openedSession(store, user, { expiresAt: now + 100 })
    const unused = await openedSession(store, user, { refreshExpiresAt: now + 100 })
    expect(await store.sessions.rotate(rotationOf(old))).toBeNull()
    expect(await store.sessions.rotate(rotationOf(unused))).toBeNull()
    expect(await store.sessions.rotate(rotationOf(unused, { now: now + 99 }))).not.toBeNull()
  })

  test('the session of a user who is disabled by now does not rotate', async () => {
    const { store } = current()
    const user = await createdUser(store, { disabledAt: now, disabledUntil: now + 200 })
    const session = await openedSession(store, user, { createdAt: now + 200 })
    expect(await store.sessions.rotate(rotationOf(session, { now: now + 199 }))).toBeNull()
    expect(await store.sessions.rotate(rotationOf(session, { now: now + 200 }))).not.toBeNull()
  })
}

function provingContract(current: () => TestStore): void {
  test("a proof is written as the store's clock less its age", async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    const before = await store.sessions.find(session.id)
    await store.sessions.prove([{ sessionId: session.id, counter: 0, ageMs: 4_000.75 }])
    const after = await store.sessions.find(session.id)
    expect(after?.session.provenAtMs).toBeGreaterThanOrEqual((before?.storeNowMs ?? 0) - 4_000)
    expect(after?.session.provenAtMs).toBeLessThanOrEqual((after?.storeNowMs ?? 0) - 4_000)
  })

  test('a rotation rises once its proof is old enough by the clock of the store, and not before', async () => {
    const { store, age } = current()
    const session = await openedSession(store, await createdUser(store), { counter: 4 })
    await store.sessions.prove([{ sessionId: session.id, counter: 4, ageMs: 0 }])
    expect(await store.sessions.rotate(rotationOf(session, { counter: 4 }))).toBeNull()
    await age(20_000)
    expect(await store.sessions.rotate(rotationOf(session, { counter: 4 }))).toBeNull()
    await age(10_000)
    const state = await store.sessions.rotate(rotationOf(session, { counter: 4 }))
    expect(state?.session).toMatchObject({ counter: 5, provenAtMs: null })
  })

  test('the age of a proof counts: seen 30 seconds ago, the rotation may rise at once', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const young = await openedSession(store, user, { counter: 1 })
    const old = await openedSession(store, user, { counter: 1 })
    await store.sessions.prove([
      { sessionId: young.id, counter: 1, ageMs: 20_000 },
      { sessionId: old.id, counter: 1, ageMs: 30_000 },
    ])
    expect(await store.sessions.rotate(rotationOf(young, { counter: 1 }))).toBeNull()
    expect(await store.sessions.rotate(rotationOf(old, { counter: 1 }))).not.toBeNull()
  })

  test('a proof of another rotation, or after the first, changes nothing', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store), { counter: 2 })
    await store.sessions.prove([{ sessionId: session.id, counter: 1, ageMs: 0 }])
    await store.sessions.prove([{ sessionId: session.id, counter: 3, ageMs: 0 }])
    expect((await store.sessions.find(session.id))?.session.provenAtMs).toBeNull()

    await store.sessions.prove([{ sessionId: session.id, counter: 2, ageMs: 9_000 }])
    const first = (await store.sessions.find(session.id))?.session.provenAtMs
    await store.sessions.prove([{ sessionId: session.id, counter: 2, ageMs: 90_000 }])
    await store.sessions.prove([{ sessionId: session.id, counter: 2, ageMs: 0 }])
    expect((await store.sessions.find(session.id))?.session.provenAtMs).toBe(first)
  })

  test('the last sight moves forward with any proof, and never back', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store), { lastSeenAt: 1_000 })
    const storeNow = (await store.sessions.find(session.id))?.storeNowMs ?? 0
    await store.sessions.prove([{ sessionId: session.id, counter: 7, ageMs: 10_000 }])
    const seenAt = (await store.sessions.find(session.id))?.session.lastSeenAt ?? 0
    expect(seenAt).toBeGreaterThanOrEqual(Math.floor((storeNow - 10_000) / 1_000))
    expect(seenAt).toBeLessThan(Math.floor(storeNow / 1_000))

    await store.sessions.prove([{ sessionId: session.id, counter: 7, ageMs: 500_000 }])
    expect((await store.sessions.find(session.id))?.session.lastSeenAt).toBe(seenAt)
  })
}

function provingManyContract(current: () => TestStore): void {
  test('a batch of proofs may name sessions that ended, and none at all', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    await store.sessions.prove([])
    await store.sessions.prove([
      { sessionId: 'ended', counter: 0, ageMs: 5 },
      { sessionId: session.id, counter: 0, ageMs: 5 },
    ])
    expect((await store.sessions.find(session.id))?.session.provenAtMs).not.toBeNull()
    expect(await store.sessions.find('ended')).toBeNull()
  })

  test('each of many proofs at once counts for its own session and rotation', async () => {
    const { store } = current()
    const users = [await createdUser(store), await createdUser(store)]
    const sessions = (
      await Promise.all(users.map((user) => atOnce((index) => openedSession(store, user, { counter: index % 3 }), 28)))
    ).flat()
    const ages = sessions.map((_, index) => (index % 7) * 100_000)
    const storeNow = (await store.sessions.find(sessions[0]?.id ?? ''))?.storeNowMs ?? 0
    await store.sessions.prove(
      sessions.map(({ id }, index) => ({ sessionId: id, counter: 1, ageMs: ages[index] ?? 0 })),
    )
    const found = await Promise.all(sessions.map(async ({ id }) => (await store.sessions.find(id))?.session))
    const proven = found.map((session) => session?.provenAtMs ?? null)
    expect(proven.map((atMs) => atMs !== null)).toEqual(sessions.map(({ counter }) => counter === 1))
    // The clock of a server has gone on since.
    const told = proven.map((atMs) => (atMs === null ? null : Math.floor((storeNow + 99_999 - atMs) / 100_000)))
    expect(told).toEqual(sessions.map(({ counter }, index) => (counter === 1 ? index % 7 : null)))
  })

  test('batches that meet from many sides at once all arrive', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const sessions = await atOnce(() => openedSession(store, user), 5)
    const proofs = sessions.map(({ id }) => ({ sessionId: id, counter: 0, ageMs: 5 }))
    await atOnce((index) => store.sessions.prove(index % 2 === 0 ? proofs : [...proofs].reverse()))
    const proven = await Promise.all(
      sessions.map(async ({ id }) => (await store.sessions.find(id))?.session.provenAtMs),
    )
    expect(proven).toEqual(sessions.map(() => expect.any(Number)))
  })
}

function racingContract(current: () => TestStore): void {
  test('of many refreshes at once exactly one raises the counter', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    const results = await atOnce((index) => store.sessions.rotate(rotationOf(session, { issuedAt: now + index })))
    const won = results.filter(isWon)
    expect(won).toHaveLength(1)
    expect((await store.sessions.find(session.id))?.session).toEqual(won[0]?.session)
  })

  test('of many refreshes in two processes at once exactly one raises the counter', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const session = await openedSession(store, await createdUser(store))
    const results = await atOnce((index) =>
      (index % 2 === 0 ? store : second).sessions.rotate(rotationOf(session, { issuedAt: now + index })),
    )
    expect(results.filter(isWon)).toHaveLength(1)
    expect((await second.sessions.find(session.id))?.session.counter).toBe(1)
  })

  test('refreshes of many sessions at once are decided each for itself', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const first = await openedSession(store, user)
    const second = await openedSession(store, user, { counter: 1 })
    const still = await openedSession(store, user)
    await store.sessions.prove([{ sessionId: second.id, counter: 1, ageMs: 60_000 }])
    const wishes = [
      rotationOf(first, { issuedAt: now + 1 }),
      rotationOf(still, { counter: 7 }),
      rotationOf(second, { counter: 1, issuedAt: now + 2, expiresAt: now + 1_000 }),
      rotationOf({ ...first, id: 'unknown' }),
    ]
    const states = await Promise.all(wishes.map((wish) => store.sessions.rotate(wish)))
    expect(states.map((state) => state?.session.id ?? null)).toEqual([first.id, null, second.id, null])
    expect(states[0]?.session).toMatchObject({ counter: 1, refreshIssuedAt: now + 1 })
    expect(states[2]?.session).toMatchObject({ counter: 2, refreshIssuedAt: now + 2, refreshExpiresAt: now + 1_000 })
    expect((await store.sessions.find(still.id))?.session).toEqual(still)
  })

  test('a refresh that meets a sign-out leaves no session', async () => {
    const { store } = current()
    const session = await openedSession(store, await createdUser(store))
    await Promise.all([
      atOnce(() => store.sessions.rotate(rotationOf(session))),
      store.sessions.end(session.id, null, { until, audit: anEvent() }),
    ])
    expect(await store.sessions.find(session.id)).toBeNull()
  })
}
