import { expect, test } from 'vitest'
import type { AuditEvent } from '../../../src/model/audit-event.js'
import { impersonationMailId } from '../../../src/model/outbox-mail.js'
import type { ImpersonatedSession } from '../../../src/model/session.js'
import type { Impersonation } from '../../../src/store/sessions.js'
import type { Store } from '../../../src/store/store.js'
import type { AccountStep } from '../../../src/store/users.js'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  aReset,
  aSession,
  aTotp,
  atOnce,
  auditedEvents,
  createdUser,
  keptToken,
  now,
  openedSession,
  until,
} from './rows.js'

/** When the impersonations of these tests end: after a minute. */
const endedMs = 1_000 * (now + 60)

/** A user, an administrator with a session, and the session in which one acts as the other. */
async function prepared({ store }: TestStore) {
  const user = await createdUser(store, { version: 4, factors: [aTotp()] })
  const administrator = await createdUser(store, { version: 7 })
  const own = aSession(administrator.id)
  await store.sessions.open(own, 7, { maxSessions: 50, until }, anEvent({ event: 'login' }))
  const actor = { userId: administrator.id, sessionId: own.id }
  const session: ImpersonatedSession = {
    ...aSession(user.id, { amr: ['imp'], authTime: 0, expiresAt: now + 1_800, refreshExpiresAt: now + 1_800 }),
    actor,
  }
  const held = aMail({ id: impersonationMailId(session.id), template: 'impersonated', createdAt: now + 1_800 })
  const impersonation: Impersonation = {
    version: 4,
    actorVersion: 7,
    until,
    audit: anEvent({ event: 'impersonation_started' }),
  }
  return { user, administrator, own, session, impersonation, held }
}

export function impersonationContract(current: () => TestStore): void {
  test('an impersonation leaves the user as they are and expires the session of the administrator', async () => {
    const { store, changes } = current()
    const { user, administrator, own, session, impersonation } = await prepared(current())
    const reset = aReset(user)
    await keptToken(store, reset)
    changes.length = 0
    expect(await store.sessions.impersonate(session, impersonation)).toBe(true)

    expect(await store.sessions.find(session.id)).toMatchObject({ session, user })
    expect(await store.users.findById(user.id)).toEqual(user)
    expect(await store.oneTimeTokens.findByHash('password_reset', [reset.tokenHash], now)).toEqual(reset)
    expect(await store.users.findById(administrator.id)).toMatchObject({ version: 8 })
    const anchor = await store.sessions.find(own.id)
    // Over for every clock, but not yet forgotten.
    expect(anchor?.session).toMatchObject({ expiresAt: 0, refreshExpiresAt: now })
    expect(changes).toMatchObject([{ kind: 'user', subject: administrator.id, version: 8, until }])
    expect(await auditedEvents(store)).toContain('impersonation_started')
  })

  test('an impersonation does not begin when one of both accounts or the own session has changed', async () => {
    const { store, changes } = current()
    const { own, session, impersonation, administrator } = await prepared(current())
    const disabled = await createdUser(store, { disabledAt: now - 10 })
    changes.length = 0
    const begin = (other: Partial<ImpersonatedSession>, versions: Partial<Impersonation> = {}) =>
      store.sessions.impersonate({ ...session, ...other }, { ...impersonation, ...versions })
    expect(await begin({}, { version: 5 })).toBe(false)
    expect(await begin({}, { actorVersion: 6 })).toBe(false)
    expect(await begin({ userId: 'unknown' })).toBe(false)
    expect(await begin({ userId: disabled.id }, { version: 1 })).toBe(false)
    expect(await begin({ actor: { userId: 'unknown', sessionId: own.id } })).toBe(false)
    expect(await begin({ actor: { userId: administrator.id, sessionId: 'unknown' } })).toBe(false)
    const later = own.expiresAt + 1
    expect(await begin({ createdAt: later })).toBe(false)

    expect(await store.sessions.find(own.id)).toMatchObject({ session: own })
    expect(await store.users.findById(administrator.id)).toMatchObject({ version: 7 })
    expect(await store.sessions.impersonated(10)).toEqual([])
    expect(changes).toEqual([])
    expect(await auditedEvents(store)).not.toContain('impersonation_started')
  })

  test('of many impersonations at once from one session exactly one begins', async () => {
    const { store } = current()
    const { session, impersonation } = await prepared(current())
    const outcomes = await atOnce((index) =>
      store.sessions.impersonate(
        { ...session, id: `${session.id}-${index}` },
        { ...impersonation, audit: anEvent({ event: 'impersonation_started' }) },
      ),
    )
    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect(await store.sessions.impersonated(50)).toHaveLength(1)
  })

  test('impersonated sessions are listed, the oldest first, and no others', async () => {
    const { store } = current()
    const first = await prepared(current())
    const second = await prepared(current())
    await store.sessions.impersonate({ ...second.session, createdAt: now + 5 }, second.impersonation)
    await store.sessions.impersonate(first.session, first.impersonation)
    const found = await store.sessions.impersonated(10)
    expect(found).toEqual([first.session, { ...second.session, createdAt: now + 5 }])
    expect(await store.sessions.impersonated(1)).toEqual([first.session])
  })

  test('an impersonated session takes no place of the sessions of the user', async () => {
    const { store } = current()
    const { user, session, impersonation } = await prepared(current())
    const oldest = await openedSession(store, user, { createdAt: now - 10 })
    await store.sessions.impersonate(session, impersonation)
    const limit = { maxSessions: 2, until }
    for (const id of [1, 2]) {
      await store.sessions.open(aSession(user.id, { createdAt: now + id }), 4, limit, anEvent({ event: 'login' }))
    }
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect(await store.sessions.find(oldest.id)).toBeNull()
    expect(await store.sessions.list(user.id, now)).toHaveLength(3)
  })

  test('an end makes the held mail due, once, and tells when it was', async () => {
    const { store, changes } = current()
    const { session, impersonation, held } = await prepared(current())
    await store.sessions.impersonate(session, { ...impersonation, mail: held })
    expect(await store.outbox.lease(5, now, now + 60)).toEqual([])
    changes.length = 0
    const audits = await atOnce(() => {
      const audit = anEvent({ event: 'impersonation_stopped', atMs: endedMs })
      return store.sessions.end(session.id, session.userId, { until, impersonated: session, audit })
    })
    expect(audits.filter(Boolean)).toHaveLength(1)
    expect(changes.map(({ subject }) => subject)).toEqual([session.id])
    expect((await auditedEvents(store)).filter((event) => event === 'impersonation_stopped')).toHaveLength(1)
    expect(await store.outbox.lease(5, now + 59, now + 90)).toEqual([])
    expect(await store.outbox.lease(5, now + 60, now + 90)).toMatchObject([{ id: held.id, createdAt: now + 60 }])
  })

  test('a held mail that is being sent stays as it is', async () => {
    const { store } = current()
    const { session, impersonation, held } = await prepared(current())
    await store.sessions.impersonate(session, { ...impersonation, mail: held })
    const [leased] = await store.outbox.lease(5, now + 1_800, now + 1_900)
    const audit = anEvent({ event: 'impersonation_stopped', atMs: endedMs })
    expect(await store.sessions.end(session.id, null, { until, impersonated: session, audit })).toBe(true)
    expect(leased && (await store.outbox.sent(leased))).toBe(true)
    expect(await store.outbox.list({ after: null, limit: 5 })).toEqual([])
  })

  test.each<[AuditEvent['event'], (store: Store, session: ImpersonatedSession, step: AccountStep) => Promise<unknown>]>(
    [
      [
        'refresh_token_reuse',
        ({ sessions }, impersonated, step) => sessions.end(impersonated.id, null, { ...step, impersonated }),
      ],
      ['sessions_revoked', ({ sessions }, { userId }, step) => sessions.endAll(userId, null, step)],
      [
        'account_disabled',
        ({ users }, { userId }, step) => users.disable(userId, { at: now, until: null, reason: null }, step),
      ],
      ['two_factor_disabled', ({ users }, { userId }, step) => users.updateAccount(userId, { twoFactor: false }, step)],
      ['account_deleted', ({ users }, { userId }, { until, audit }) => users.delete(userId, until, audit)],
    ],
  )('the step of %s also records the end of the impersonation and makes the mail due', async (event, end) => {
    const { store, changes } = current()
    const { session, impersonation, held } = await prepared(current())
    await store.sessions.impersonate(session, { ...impersonation, mail: held })
    changes.length = 0
    const audit = anEvent({ event, atMs: endedMs, actor: { kind: 'application' }, userId: session.userId })
    await end(store, session, { until, audit })

    expect(await store.sessions.impersonated(5)).toEqual([])
    const [stopped, step, ...earlier] = await store.audit.list({ limit: 10 })
    expect(step).toEqual(audit)
    expect(stopped).toEqual({
      ...audit,
      id: stopped?.id,
      event: 'impersonation_stopped',
      sessionId: session.id,
      detail: { reason: 'revoked', seconds: 60 },
    })
    expect(earlier.map((entry) => entry.event)).not.toContain('impersonation_stopped')
    expect(changes.filter(({ kind }) => kind === 'session')).toMatchObject([{ subject: session.id, until }])
    expect(await store.outbox.lease(5, now + 60, now + 90)).toMatchObject([{ id: held.id, createdAt: now + 60 }])
    expect(await store.audit.verify()).toMatchObject({ ok: true })
  })
}
