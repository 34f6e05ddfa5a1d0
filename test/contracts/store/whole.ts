import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import { keptApiToken, replacement } from './api-tokens.js'
import {
  aMail,
  anEvent,
  aRegistration,
  auditedEvents,
  createdUser,
  keptToken,
  now,
  openedSession,
  until,
} from './rows.js'

export function wholeStoreContract(current: () => TestStore): void {
  test('the installation has an unguessable id, the same for every process', async () => {
    const { store, openSecond } = current()
    expect(store.installationId).toMatch(/^[\w-]{22}$/)
    const second = await openSecond?.()
    if (second) expect(second.installationId).toBe(store.installationId)
  })

  test('what one process wrote, another reads', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const user = await createdUser(store)
    const session = await openedSession(second, user)
    expect((await store.sessions.find(session.id))?.session).toEqual(session)
    await store.sessions.end(session.id, null, { until, audit: anEvent() })
    expect(await second.sessions.find(session.id)).toBeNull()
  })

  test('the keys in use are those that live tokens and waiting mails name', async () => {
    const { store } = current()
    expect(await store.keysInUse(now)).toEqual([])
    const digests = { tokenHash: 'k1.x', codeHash: 'k2.x', handleHash: 'k3.x', payload: 'k4.x.y' }
    await store.oneTimeTokens.put(aRegistration('ada@example.com', digests), aMail({ sealedValues: 'k5.x' }), {
      keep: 3,
      now,
    })
    const bare = { tokenHash: 'k1.y', codeHash: null, handleHash: null, payload: null }
    await store.oneTimeTokens.put(aRegistration('grace@example.com', bare), aMail({ sealedValues: 'k5.y' }), {
      keep: 3,
      now,
    })
    expect(await store.keysInUse(now)).toEqual(['k1', 'k2', 'k3', 'k4', 'k5'])
  })

  test('an expired token, a sent mail and one that was set aside need no key', async () => {
    const { store } = current()
    await keptToken(store, aRegistration('ada@example.com', { expiresAt: now + 5 }))
    const [sent, refused] = [aMail({ sealedValues: 'k6.x' }), aMail({ sealedValues: 'k7.x' })]
    await store.outbox.put(sent)
    await store.outbox.put(refused)
    for (const lease of await store.outbox.lease(10, now, now + 1)) {
      if (lease.id === refused.id) await store.outbox.failed(lease, 'EENVELOPE', null)
      else await store.outbox.sent(lease)
    }
    expect(await store.keysInUse(now)).toEqual(['key1'])
    expect(await store.keysInUse(now + 5)).toEqual([])
  })

  test('this process hears of a change only once it can be read, and of none that was refused', async () => {
    const opened = current()
    const user = await createdUser(opened.store)
    const session = await openedSession(opened.store, user)
    const ending = opened.store.sessions.end(session.id, null, { until, audit: anEvent() })
    expect(opened.changes).toEqual([])
    await ending
    expect((await opened.store.changes.recent(60_000)).changes).toEqual(opened.changes)
    await opened.store.sessions.end(session.id, null, { until, audit: anEvent() })
    expect(opened.changes).toHaveLength(1)
  })

  test('an id with a blank after it is nobody’s, also where a database compares without it', async () => {
    const { store, changes } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const token = await keptApiToken(store)
    const step = () => ({ until, audit: anEvent() })
    const before = await auditedEvents(store)
    expect(await store.sessions.end(`${session.id} `, null, step())).toBe(false)
    expect(await store.users.updateAccount(`${user.id} `, { roles: ['OWNER'] }, step())).toBeNull()
    expect(await store.users.setPassword(`${user.id} `, 'hash', step())).toBeNull()
    expect(await store.users.disable(`${user.id} `, { at: now, until: null, reason: null }, step())).toBeNull()
    expect(await store.users.delete(`${user.id} `, until, anEvent())).toBe(false)
    expect(await store.apiTokens.remove(`${token.id} `, step())).toBe(false)
    expect(await store.apiTokens.rotate(replacement(`${token.id} `), step())).toBeNull()

    expect(await store.sessions.find(session.id)).toMatchObject({
      session,
      user: { version: user.version, roles: user.roles },
    })
    expect(await store.apiTokens.findByHash([token.tokenHash])).toEqual(token)
    expect([changes, await auditedEvents(store)]).toEqual([[], before])
  })

  test('a step that fails in the middle has not happened, and nobody is told', async () => {
    const { store, changes, mailSignals } = current()
    const session = await openedSession(store, await createdUser(store))
    const audit = anEvent()
    await store.audit.record(audit)
    const again = store.sessions.end(session.id, null, { until, audit, mail: aMail() })
    await expect(again).rejects.toMatchObject({ name: 'AuthError', code: 'store_unavailable', status: 503 })
    expect((await store.sessions.find(session.id))?.session).toEqual(session)
    expect((await store.changes.recent(60_000)).changes).toEqual([])
    expect([changes, mailSignals()]).toEqual([[], 0])
  })

  test('the message of a failure holds neither SQL nor values; the cause is kept', async () => {
    const { store } = current()
    const audit = anEvent()
    await store.audit.record(audit)
    const error: unknown = await store.audit.record(audit).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ cause: expect.any(Error), details: { retryAfterSeconds: 1 } })
    expect(String(error)).toBe('AuthError: The service is temporarily unavailable. Try again shortly.')
  })

  test('closing waits for what is under way, may be repeated, and refuses what comes later', async () => {
    const { store, openSecond } = current()
    const user = await createdUser(store)
    const opening = openedSession(store, user)
    await Promise.all([store.close(), store.close()])
    const session = await opening
    await expect(store.users.findById(user.id)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.audit.record(anEvent())).rejects.toMatchObject({ code: 'store_unavailable' })
    const second = await openSecond?.()
    if (second) expect((await second.sessions.find(session.id))?.session).toEqual(session)
  })
}
