import { expect, test } from 'vitest'
import type { Actor } from '../../../src/model/actor.js'
import type { AuditEvent } from '../../../src/model/audit-event.js'
import type { TestStore } from '../../support/databases.js'
import { anEvent, atOnce, createdUser, crowd, now, until } from './rows.js'

const whole = { ok: true, brokenAt: null }

export function auditContract(current: () => TestStore): void {
  listingContract(current)
  timeContract(current)
  onceContract(current)
  chainContract(current)
  retentionContract(current)
}

function listingContract(current: () => TestStore): void {
  test('an event is read as it was written', async () => {
    const { audit } = current().store
    const full = anEvent({ userId: 'user', sessionId: 'session', outcome: 'failure' })
    const bare = anEvent({ ip: null, userAgent: null, detail: {} })
    await audit.record(full)
    await audit.record(bare)
    expect(await audit.list({ limit: 10 })).toEqual([bare, full])
  })

  test.each<Actor>([
    { kind: 'user', userId: 'ada', sessionId: 'session', impersonating: null },
    { kind: 'user', userId: 'ada', sessionId: 'session', impersonating: 'grace' },
    { kind: 'adminToken', tokenId: 'token' },
    { kind: 'tool', osUser: 'Ünïcode "🙂" \ud800' },
    { kind: 'application' },
    { kind: 'system' },
  ])('an event keeps its actor %o', async (actor) => {
    const { audit } = current().store
    const event = anEvent({ actor })
    await audit.record(event)
    await audit.record(anEvent())
    expect(await audit.list({ limit: 10 })).toMatchObject([{ actor: null }, { actor }])
    expect(await audit.verify()).toEqual(whole)
  })

  test('events are listed by the id of the user or the admin token that acted', async () => {
    const { audit } = current().store
    const ada = { kind: 'user', userId: 'ada', sessionId: 'session', impersonating: 'grace' } as const
    const events = [
      anEvent({ actor: ada, userId: 'grace', event: 'logout' }),
      anEvent({ actor: { kind: 'adminToken', tokenId: 'token' }, userId: 'grace' }),
      anEvent({ actor: { kind: 'tool', osUser: 'ada' } }),
      anEvent({ actor: { kind: 'application' }, userId: 'ada' }),
      anEvent({ userId: 'ada' }),
      anEvent({ actor: ada, userId: 'ada' }),
    ]
    for (const event of events) await audit.record(event)
    expect(await audit.list({ actorId: 'ada', limit: 10 })).toEqual([events[5], events[0]])
    expect(await audit.list({ actorId: 'ada', userId: 'grace', event: 'logout', limit: 10 })).toEqual([events[0]])
    expect(await audit.list({ actorId: 'ada', after: events[5]?.id ?? '', limit: 10 })).toEqual([events[0]])
    expect(await audit.list({ actorId: 'token', limit: 10 })).toEqual([events[1]])
    for (const actorId of ['grace', 'session', 'application', '', 'ADA']) {
      expect(await audit.list({ actorId, limit: 10 })).toEqual([])
    }
  })

  test('events are listed newest first, in the order in which the store took them', async () => {
    const { audit } = current().store
    const events = [anEvent(), anEvent(), anEvent({ atMs: (now - 60) * 1_000 }), anEvent()]
    for (const event of events) await audit.record(event)
    expect(await audit.list({ limit: 3 })).toEqual([events[3], events[2], events[1]])
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

  test('a list goes on after an event, whatever was written since', async () => {
    const { audit } = current().store
    const events = [anEvent(), anEvent({ userId: 'ada' }), anEvent(), anEvent({ userId: 'ada' })]
    for (const event of events) await audit.record(event)
    const after = events[3]?.id ?? ''
    await audit.record(anEvent())
    expect(await audit.list({ after, limit: 2 })).toEqual([events[2], events[1]])
    expect(await audit.list({ after, userId: 'ada', limit: 2 })).toEqual([events[1]])
    expect(await audit.list({ after: events[0]?.id ?? '', limit: 2 })).toEqual([])
    expect(await audit.list({ after: 'unknown', limit: 2 })).toEqual([])
  })

  test('what happened to a user outlives the user', async () => {
    const { store } = current()
    const user = await createdUser(store)
    await store.users.delete(user.id, until, anEvent({ userId: user.id, event: 'account_deleted' }))
    const events = await store.audit.list({ userId: user.id, limit: 10 })
    expect(events.map(({ event }) => event)).toEqual(['account_deleted', 'account_created'])
    expect(await store.audit.verify()).toEqual(whole)
  })
}

function timeContract(current: () => TestStore): void {
  const at = (milliseconds: number) => now * 1_000 + milliseconds

  test('events of a span of time are listed by their time, its start included and its end not', async () => {
    const { audit } = current().store
    const events = [0, 2_000, 1_000, 3_000, 1_000].map((ms) => anEvent({ atMs: at(ms) }))
    for (const event of events) await audit.record(event)
    const [first, third, second, fourth, secondToo] = events
    const span = async (filter: { fromMs?: number; toMs?: number }) => audit.list({ ...filter, limit: 10 })
    expect(await span({ fromMs: at(1_000) })).toEqual([fourth, third, secondToo, second])
    expect(await span({ toMs: at(2_000) })).toEqual([secondToo, second, first])
    expect(await span({ fromMs: at(1_000), toMs: at(3_000) })).toEqual([third, secondToo, second])
    expect(await span({ fromMs: at(1_000), toMs: at(1_000) })).toEqual([])
    expect(await span({ fromMs: at(3_001) })).toEqual([])
    expect(await audit.list({ limit: 10 })).toEqual(events.toReversed())
  })

  test('a span of time goes on page after page, each event once, with the other filters', async () => {
    const { audit } = current().store
    const wanted = []
    for (const ms of [500, 0, 500, 900, 500, 1_000]) {
      const event = anEvent({ atMs: at(ms), userId: 'ada', event: 'logout' })
      await audit.record(event)
      await audit.record(anEvent({ atMs: at(ms), userId: 'grace', event: 'logout' }))
      await audit.record(anEvent({ atMs: at(ms), userId: 'ada', event: 'login' }))
      if (ms < 1_000) wanted.push(event)
    }
    const filter = { userId: 'ada', event: 'logout', fromMs: at(0), toMs: at(1_000) }
    const paged: AuditEvent[] = []
    for (let after: { after?: string } = {}; ; ) {
      const [next]: AuditEvent[] = await audit.list({ ...filter, ...after, limit: 1 })
      if (!next) break
      paged.push(next)
      after = { after: next.id }
    }
    expect(paged.map(({ atMs }) => atMs - at(0))).toEqual([900, 500, 500, 500, 0])
    expect(paged).toEqual(await audit.list({ ...filter, limit: 10 }))
    expect(await audit.list({ ...filter, after: 'unknown', limit: 10 })).toEqual([])
  })

  test('a span of time goes on after an event that lies outside of it', async () => {
    const { audit } = current().store
    const events = [0, 1_000, 2_000].map((ms) => anEvent({ atMs: at(ms) }))
    for (const event of events) await audit.record(event)
    const [first, second, third] = events
    expect(await audit.list({ toMs: at(2_000), after: third?.id ?? '', limit: 10 })).toEqual([second, first])
    expect(await audit.list({ fromMs: at(1_000), after: first?.id ?? '', limit: 10 })).toEqual([])
  })
}

function onceContract(current: () => TestStore): void {
  const ada: Actor = { kind: 'user', userId: 'ada', sessionId: 'session', impersonating: null }
  const read = (actor: Actor | null, atMs = now * 1_000) => anEvent({ event: 'audit_read', actor, atMs })

  test('an event is recorded once in a while for each actor', async () => {
    const { audit } = current().store
    const since = now * 1_000
    expect(await audit.recordOnce(read(ada), since)).toBe(true)
    expect(await audit.recordOnce(read({ ...ada, sessionId: 'another' }), since)).toBe(false)
    const others: (Actor | null)[] = [
      { kind: 'user', userId: 'grace', sessionId: 'session', impersonating: null },
      { kind: 'adminToken', tokenId: 'token' },
      { kind: 'tool', osUser: 'ada' },
      { kind: 'tool', osUser: 'root' },
      { kind: 'system' },
      null,
    ]
    for (const actor of others) expect([actor, await audit.recordOnce(read(actor), since)]).toEqual([actor, true])
    for (const actor of others) expect([actor, await audit.recordOnce(read(actor), since)]).toEqual([actor, false])
    expect(await audit.recordOnce({ ...read(ada), event: 'audit_verified' }, since)).toBe(true)
    expect(await audit.recordOnce(read(ada, since + 1), since + 1)).toBe(true)
    expect(await audit.list({ limit: 20 })).toHaveLength(others.length + 3)
    expect(await audit.verify()).toEqual(whole)
  })

  test('of many who record one event once at the same time, exactly one does', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const results = await atOnce((index) => (index % 2 ? store : second).audit.recordOnce(read(ada), now * 1_000))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await store.audit.list({ limit: 20 })).toHaveLength(1)
  })
}

function chainContract(current: () => TestStore): void {
  test('an empty log is whole, and so is one with events of every kind', async () => {
    const { audit } = current().store
    expect(await audit.verify()).toEqual(whole)
    await audit.record(
      anEvent({ userAgent: 'Ünïcode/1.0 "🙂" \ud800', detail: { note: 'two\nlines', half: '\udc00' } }),
    )
    await audit.record(anEvent({ ip: null, userAgent: null, detail: {} }))
    expect(await audit.verify()).toEqual(whole)
  })

  test('of many that write at once, on two processes, all stand in one chain', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    await atOnce((index) => (index % 2 === 0 ? store : second).audit.record(anEvent()))
    expect(await store.audit.list({ limit: 100 })).toHaveLength(crowd)
    expect(await store.audit.verify()).toEqual(whole)
    expect(await second.audit.verify()).toEqual(whole)
  })

  test('a step that fails after its event leaves no gap', async () => {
    const { audit } = current().store
    const event = anEvent()
    await audit.record(event)
    await expect(audit.record(event)).rejects.toMatchObject({ code: 'store_unavailable' })
    await audit.record(anEvent())
    expect(await audit.verify()).toEqual(whole)
  })

  test('a log is read to its end a page at a time, while others write', async () => {
    const { audit } = current().store
    for (let index = 0; index < 600; index += 1) await audit.record(anEvent())
    const [verdict] = await Promise.all([audit.verify(), atOnce(() => audit.record(anEvent()))])
    expect(verdict).toEqual(whole)
  })
}

function retentionContract(current: () => TestStore): void {
  test('the oldest events go, no more than asked for, and the rest is whole', async () => {
    const { audit } = current().store
    const events = Array.from({ length: 6 }, (_, index) => anEvent({ atMs: index }))
    for (const event of events) await audit.record(event)
    expect(await audit.prune(4, 2)).toBe(2)
    expect(await audit.verify()).toEqual(whole)
    expect(await audit.prune(4, 100)).toBe(2)
    expect(await audit.prune(4, 100)).toBe(0)
    expect(await audit.list({ limit: 10 })).toEqual([events[5], events[4]])
    expect(await audit.verify()).toEqual(whole)
    await audit.record(anEvent())
    expect(await audit.verify()).toEqual(whole)
  })

  test('an old event behind a young one waits for it, and the newest stays whatever its age', async () => {
    const { audit } = current().store
    for (const atMs of [1, 50, 2, 3]) await audit.record(anEvent({ atMs }))
    expect(await audit.prune(10, 100)).toBe(1)
    expect(await audit.list({ limit: 10 })).toHaveLength(3)
    expect(await audit.prune(100, 100)).toBe(2)
    expect(await audit.prune(100, 100)).toBe(0)
    expect(await audit.list({ limit: 10 })).toMatchObject([{ atMs: 3 }])
    expect(await audit.verify()).toEqual(whole)
  })

  test('a log from which retention removes while it is read, and written to, is whole', async () => {
    const { audit } = current().store
    for (let index = 0; index < 60; index += 1) await audit.record(anEvent({ atMs: index }))
    const [verdicts, removed] = await Promise.all([
      atOnce(() => audit.verify(), 5),
      atOnce(() => audit.prune(50, 5)),
      atOnce(() => audit.record(anEvent())),
    ])
    expect(verdicts).toEqual(verdicts.map(() => whole))
    expect(removed.reduce((sum, count) => sum + count, 0)).toBe(50)
    expect(await audit.list({ limit: 100 })).toHaveLength(60 - 50 + crowd)
  })
}
