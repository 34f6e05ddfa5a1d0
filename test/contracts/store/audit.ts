import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import { anEvent, createdUser, now, until } from './rows.js'

export function auditContract(current: () => TestStore): void {
  test('an event is read as it was written', async () => {
    const { audit } = current().store
    const whole = anEvent({ userId: 'user', sessionId: 'session', outcome: 'failure' })
    const bare = anEvent({ ip: null, userAgent: null, detail: {} })
    await audit.record(whole)
    await audit.record(bare)
    expect(await audit.list({ limit: 10 })).toEqual([bare, whole])
  })

  test('events are listed newest first, those of one millisecond in the order they were written', async () => {
    const { audit } = current().store
    const events = [anEvent(), anEvent(), anEvent({ atMs: (now - 60) * 1_000 }), anEvent()]
    for (const event of events) await audit.record(event)
    expect(await audit.list({ limit: 3 })).toEqual([events[3], events[1], events[0]])
    expect(await audit.list({ limit: 10 })).toHaveLength(4)
  })

  test('events are listed by user, by name, and by both', async () => {
    const { audit } = current().store
    const events = [
      anEvent({ userId: 'ada', event: 'login' }),
      anEvent({ userId: 'ada', event: 'logout' }),
      anEvent({ userId: 'grace', event: 'login' }),
    ]
    for (const event of events) await audit.record(event)
    expect(await audit.list({ userId: 'ada', limit: 10 })).toEqual([events[1], events[0]])
    expect(await audit.list({ event: 'login', limit: 10 })).toEqual([events[2], events[0]])
    expect(await audit.list({ userId: 'grace', event: 'login', limit: 10 })).toEqual([events[2]])
    expect(await audit.list({ userId: 'nobody', limit: 10 })).toEqual([])
    expect(await audit.list({ event: 'no such event', limit: 10 })).toEqual([])
  })

  test('what happened to a user outlives the user', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await store.users.delete(user.id, until, anEvent({ userId: user.id, event: 'account_deleted' }))
    const events = await store.audit.list({ userId: user.id, limit: 10 })
    expect(events.map(({ event }) => event)).toEqual(['account_deleted', 'account_created'])
  })
}
