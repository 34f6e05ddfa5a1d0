import { expect, test } from 'vitest'
import type { Session } from '../../../src/model/session.js'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  aSession,
  atOnce,
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

const limit = { maxSessions: 50, until }

export function sessionsContract(current: () => TestStore): void {
  openingContract(current)
  surplusContract(current)
  readingContract(current)
  endingContract(current)
  endingAllContract(current)
  pruningContract(current)
}

function openingContract(current: () => TestStore): void {
  test('an opened session is found with its user, every field as it was given', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const session = aSession(user.id, { mode: 'token', amr: ['pwd', 'otp'], ip: null, userAgent: null })
    expect(await store.sessions.open(session, 1, limit, anEvent({ event: 'login' }))).toBe(true)
    const state = await store.sessions.find(session.id)
    expect(state?.session).toEqual(session)
    expect(state?.user).toEqual({ ...user, lastLoginAt: now })
    expect(await auditedEvents(store)).toEqual(['account_created', 'login'])
  })

  test('a session of an administrator who acts for the user names them and their session', async () => {
    const { store } = current()
    const user = await createdUser(store, { mustReset: true, verifiedBy: 'mailbox', disabledReason: 'earlier' })
    const actor = { userId: 'administrator', sessionId: 'of-the-administrator' }
    const session = aSession(user.id, { actor, amr: ['imp'], authTime: 0 })
    expect(await store.sessions.open(session, 1, limit, anEvent({ event: 'login' }))).toBe(true)
    const state = await store.sessions.find(session.id)
    expect(state?.session).toEqual(session)
    expect(state?.user).toEqual({ ...user, lastLoginAt: now })
    expect(await store.sessions.list(user.id, now)).toEqual([session])
  })

  test('a session does not open for a user who is gone, disabled or at another version', async () => {
    const { store, changes } = current()
    const user = await createdUser(store, { version: 3 })
    const disabled = await createdUser(store, { disabledAt: now - 10 })
    const disabledForNow = await createdUser(store, { disabledAt: now - 10, disabledUntil: now + 1 })
    const open = (userId: string, version: number) =>
      store.sessions.open(aSession(userId), version, limit, anEvent({ event: 'login' }))
    expect(await open('unknown', 1)).toBe(false)
    expect(await open(user.id, 2)).toBe(false)
    expect(await open(user.id, 4)).toBe(false)
    expect(await open(disabled.id, 1)).toBe(false)
    expect(await open(disabledForNow.id, 1)).toBe(false)

    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await auditedEvents(store)).not.toContain('login')
    expect(changes).toEqual([])
  })

  test('the notice of a sign-in goes out if and only if the session opened', async () => {
    const { store, mailSignals } = current()
    const user = await createdUser(store)
    const mail = aMail()
    expect(await store.sessions.open(aSession(user.id), 2, { ...limit, mail }, anEvent())).toBe(false)
    expect([mailSignals(), await waitingMails(store)]).toEqual([0, []])
    expect(await store.sessions.open(aSession(user.id), 1, { ...limit, mail }, anEvent())).toBe(true)
    expect([mailSignals(), await waitingMails(store)]).toEqual([1, [mail.id]])
  })

  test('a session opens for a user whose time of being disabled is over', async () => {
    const { store } = current()
    const user = await createdUser(store, { disabledAt: now - 10, disabledUntil: now })
    expect(await store.sessions.open(aSession(user.id), 1, limit, anEvent())).toBe(true)
  })

  test('a sign-in whose user changed since the check does not open a session', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const token = await keptToken(store, aVerification(user))
    const [opened] = await Promise.all([
      atOnce(() => store.sessions.open(aSession(user.id), user.version, limit, anEvent())),
      store.users.verifyEmail(token.id, now, until, anEvent()),
    ])
    const live = await store.sessions.list(user.id, now)
    expect(live).toHaveLength(opened.filter(Boolean).length)
    expect(await store.sessions.open(aSession(user.id), user.version, limit, anEvent())).toBe(false)
  })
}

function surplusContract(current: () => TestStore): void {
  test('the oldest sessions beyond the limit end, and every process is told of each', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const sessions = []
    for (let index = 0; index < 4; index += 1) sessions.push(await openedSession(store, user))
    const newest = aSession(user.id)
    await store.sessions.open(newest, 1, { maxSessions: 2, until }, anEvent())

    const live = await store.sessions.list(user.id, now)
    expect(live.map(({ id }) => id)).toEqual([newest.id, sessions[3]?.id])
    expect(changes.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual(
      sessions
        .slice(0, 3)
        .map(({ id }) => `session ${id}`)
        .sort(),
    )
    expect((await store.changes.recent(60_000)).changes).toHaveLength(3)
  })

  test('with a limit of one, the new session is the only one', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await openedSession(store, user)
    const newest = aSession(user.id)
    await store.sessions.open(newest, 1, { maxSessions: 1, until }, anEvent())
    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toEqual([newest.id])
  })

  test('expired sessions take no place from live ones', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const live = await openedSession(store, user)
    await openedSession(store, user, { refreshExpiresAt: now })
    await openedSession(store, user, { expiresAt: now })
    const newest = aSession(user.id)
    await store.sessions.open(newest, 1, { maxSessions: 2, until }, anEvent())
    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toEqual([newest.id, live.id])
    expect(changes).toEqual([])
  })

  test('of many sign-ins at once no more than the limit stay', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const opened = await atOnce(() => store.sessions.open(aSession(user.id), 1, { maxSessions: 5, until }, anEvent()))
    expect(opened).toEqual(opened.map(() => true))
    expect(await store.sessions.list(user.id, now)).toHaveLength(5)
    expect(changes).toHaveLength(crowd - 5)
  })
}

function readingContract(current: () => TestStore): void {
  test('an expired session is still found, so that the reason can be named', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user, { expiresAt: now - 1, refreshExpiresAt: now - 1 })
    expect((await store.sessions.find(session.id))?.session).toEqual(session)
    expect(await store.sessions.find('unknown')).toBeNull()
  })

  test('the list has the live sessions of that user, newest sign-in first', async () => {
    const { store } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    const old = await openedSession(store, user, { createdAt: now - 50 })
    const second = await openedSession(store, user)
    const third = await openedSession(store, user)
    await openedSession(store, user, { expiresAt: now })
    await openedSession(store, user, { refreshExpiresAt: now })
    await openedSession(store, other)
    expect(await store.sessions.list(user.id, now)).toEqual([third, second, old])
    expect(await store.sessions.list('unknown', now)).toEqual([])
  })

  test('the live sessions of all users are listed newest first with the address of their user', async () => {
    const { store } = current()
    const ada = await createdUser(store, { email: 'Ada@Example.com' })
    const grace = await createdUser(store)
    const old = await openedSession(store, ada, { createdAt: now - 50 })
    const newest = await openedSession(store, grace, { createdAt: now + 1, mode: 'token', ip: null, userAgent: null })
    const middle = await openedSession(store, ada, { amr: ['pwd', 'otp'] })
    await openedSession(store, ada, { expiresAt: now })
    await openedSession(store, grace, { refreshExpiresAt: now })
    expect(await store.sessions.recent({ after: null, limit: 10, now })).toEqual([
      { session: newest, email: grace.email },
      { session: middle, email: 'Ada@Example.com' },
      { session: old, email: 'Ada@Example.com' },
    ])
    await store.sessions.end(middle.id, null, { until, audit: anEvent() })
    await store.users.delete(grace.id, until, anEvent())
    expect(await store.sessions.recent({ after: null, limit: 10, now })).toMatchObject([{ session: old }])
  })

  test('live sessions are counted, where the store can count', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const counted = async () =>
      (await store.sessions.count(now)) ?? (await store.sessions.recent({ after: null, limit: 9, now })).length
    expect(await counted()).toBe(0)
    await openedSession(store, user)
    await openedSession(store, user, { refreshExpiresAt: now + 1, expiresAt: now + 1 })
    await openedSession(store, user, { refreshExpiresAt: now })
    expect(await counted()).toBe(2)
  })

  test('the list of all sessions goes on page after page, each once, also within one second', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const moments = [now, now - 1, now, now, now - 1, now + 1]
    const opened = []
    for (const createdAt of moments) opened.push(await openedSession(store, user, { createdAt }))
    await openedSession(store, user, { expiresAt: now })
    const all = await store.sessions.recent({ after: null, limit: 10, now })
    expect(all.map(({ session }) => session.createdAt)).toEqual([now + 1, now, now, now, now - 1, now - 1])

    const paged: string[] = []
    for (let after: Session | null = null; ; ) {
      const [next] = await store.sessions.recent({ after, limit: 1, now })
      if (!next) break
      paged.push(next.session.id)
      after = next.session
    }
    expect(paged).toEqual(all.map(({ session }) => session.id))
    expect([...paged].sort()).toEqual(opened.map(({ id }) => id).sort())
  })
}

function endingContract(current: () => TestStore): void {
  test('ending a session removes it, audits it, mails the notice and tells every process', async () => {
    const { store, changes, mailSignals } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const mail = aMail()
    const audit = anEvent({ event: 'logout' })
    expect(await store.sessions.end(session.id, user.id, { until, audit, mail })).toBe(true)
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(changes).toEqual([
      { id: expect.any(String), atMs: expect.any(Number), kind: 'session', subject: session.id, version: null, until },
    ])
    expect((await store.changes.recent(60_000)).changes).toEqual(changes)
    expect(mailSignals()).toBe(1)
    expect(await waitingMails(store)).toEqual([mail.id])
    expect(await auditedEvents(store)).toContain('logout')
  })

  test("another user's session and an unknown one do not end, and leave no trace", async () => {
    const { store, changes, mailSignals } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    const session = await openedSession(store, user)
    const options = { until, audit: anEvent({ event: 'logout' }), mail: aMail() }
    expect(await store.sessions.end(session.id, other.id, options)).toBe(false)
    expect(await store.sessions.end('unknown', null, options)).toBe(false)
    expect((await store.sessions.find(session.id))?.session).toEqual(session)
    expect([changes, mailSignals(), await waitingMails(store)]).toEqual([[], 0, []])
    expect(await auditedEvents(store)).not.toContain('logout')
    expect(await store.sessions.end(session.id, null, { until, audit: anEvent() })).toBe(true)
  })

  test('of many who end one session at once, exactly one does: one event, one mail, one change', async () => {
    const { store, changes } = current()
    const session = await openedSession(store, await createdUser(store))
    const results = await atOnce(() =>
      store.sessions.end(session.id, null, { until, audit: anEvent({ event: 'refresh_token_reuse' }), mail: aMail() }),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(changes).toHaveLength(1)
    expect(await waitingMails(store)).toHaveLength(1)
    expect(await store.audit.list({ event: 'refresh_token_reuse', limit: 100 })).toHaveLength(1)
  })
}

function endingAllContract(current: () => TestStore): void {
  test('ending all leaves the excepted session and those of others', async () => {
    const { store, changes } = current()
    const [user, other] = [await createdUser(store), await createdUser(store)]
    const mine = [await openedSession(store, user), await openedSession(store, user), await openedSession(store, user)]
    const foreign = await openedSession(store, other)
    const kept = mine[1]?.id ?? ''
    const options = { until, audit: anEvent({ event: 'sessions_revoked' }), mail: aMail() }
    expect(await store.sessions.endAll(user.id, kept, options)).toBe(2)

    expect((await store.sessions.list(user.id, now)).map(({ id }) => id)).toEqual([kept])
    expect(await store.sessions.list(other.id, now)).toEqual([foreign])
    expect(changes.map(({ subject }) => subject).sort()).toEqual([mine[0]?.id, mine[2]?.id].sort())
    expect(await waitingMails(store)).toHaveLength(1)
    expect(await store.audit.list({ event: 'sessions_revoked', limit: 10 })).toHaveLength(1)
  })

  test('where nothing ends, nothing is mailed and nobody is told', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const options = { until, audit: anEvent({ event: 'sessions_revoked' }), mail: aMail() }
    expect(await store.sessions.endAll(user.id, session.id, options)).toBe(0)
    expect(await store.sessions.endAll('unknown', null, options)).toBe(0)
    expect([changes, await waitingMails(store)]).toEqual([[], []])
    expect(await auditedEvents(store)).not.toContain('sessions_revoked')
  })

  test('of many who end all at once, each session is counted by exactly one', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await atOnce(() => openedSession(store, user), 5)
    const counts = await atOnce(() => store.sessions.endAll(user.id, null, { until, audit: anEvent(), mail: aMail() }))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5)
    expect(await waitingMails(store)).toHaveLength(counts.filter((count) => count > 0).length)
    expect(await store.sessions.list(user.id, now)).toEqual([])
  })
}

function pruningContract(current: () => TestStore): void {
  test('sessions that ended long ago are forgotten, the longest ended first, and nobody is told', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const sessions: Session[] = []
    for (const end of [3, 1, 2, 9]) sessions.push(await openedSession(store, user, { refreshExpiresAt: now + end }))
    const left = async () => Promise.all(sessions.map(async ({ id }) => (await store.sessions.find(id)) !== null))
    expect(await store.sessions.prune(now + 3, 1)).toBe(1)
    expect(await left()).toEqual([true, false, true, true])
    expect(await store.sessions.prune(now + 3, 10)).toBe(1)
    expect(await store.sessions.prune(now + 4, 10)).toBe(1)
    expect(await store.sessions.prune(now + 4, 10)).toBe(0)
    expect(await left()).toEqual([false, false, false, true])
    expect(changes).toEqual([])
  })

  test('of many who prune at once, each session is counted by exactly one', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await atOnce(() => openedSession(store, user, { refreshExpiresAt: now + 1 }))
    const counts = await atOnce(() => store.sessions.prune(now + 2, 7))
    const rest = await store.sessions.prune(now + 2, crowd)
    expect(counts.reduce((sum, count) => sum + count, rest)).toBe(crowd)
  })
}
