import { describe, expect, test } from 'vitest'
import { exportAudit, listAudit } from '../../../src/flows/control/read-audit.js'
import { noteAuditRead, verifyAudit } from '../../../src/flows/control/watch-audit.js'
import type { AuditFilter } from '../../../src/model/audit-event.js'
import { anEvent, atOnce, now } from '../../contracts/store/rows.js'
import { admin, controlWorld } from '../../support/control-world.js'

describe('a span of the audit log', () => {
  test('begins with its first moment and ends before its last, given as date, time or Date', async () => {
    const { store, ports } = await controlWorld()
    const days = ['2026-01-30T23:59:59.999Z', '2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z']
    for (const day of days) await store.audit.record(anEvent({ atMs: Date.parse(day) }))
    const times = async (filter: AuditFilter) => (await listAudit(ports, filter)).items.map(({ at }) => at)
    expect(await times({ from: '2026-01-31', to: '2026-02-01' })).toEqual([days[2], days[1]])
    expect(await times({ to: '2026-01-31T01:00:00+01:00' })).toEqual([days[0]])
    expect(await times({ from: new Date('2026-01-31T00:00:00.001Z') })).toEqual([days[2]])
    expect(await times({ from: '2026-01-31T23:59Z' })).toEqual([days[2]])
  })

  test('is refused where a time is not one, or has no offset', async () => {
    const { ports } = await controlWorld()
    for (const time of ['', 'yesterday', '2026', '2026-13-01', '2026-01-31T12:00:00', '1', new Date(Number.NaN)]) {
      for (const path of ['from', 'to']) {
        await expect(listAudit(ports, { [path]: time })).rejects.toMatchObject({
          code: 'invalid_request',
          details: { errors: [{ path }] },
        })
      }
    }
  })
})

describe('an export of the audit log', () => {
  test('has more events than a page, and the cursor of the rest', async () => {
    const { store, ports } = await controlWorld()
    for (let index = 0; index < 1_205; index += 1) {
      await store.audit.record(anEvent({ atMs: now * 1_000 + index, detail: { index } }))
    }
    const all = await exportAudit(ports, {})
    expect(all.items.map(({ detail }) => detail.index)).toEqual(Array.from({ length: 1_205 }, (_, n) => 1_204 - n))
    expect(all.nextCursor).toBeNull()

    const filter = { from: new Date(now * 1_000 + 5), limit: 1_100 }
    const first = await exportAudit(ports, filter)
    expect(first.items).toHaveLength(1_100)
    const rest = await exportAudit(ports, { ...filter, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...rest.items]).toEqual(all.items.slice(0, 1_200))
    expect(rest.nextCursor).toBeNull()
    expect((await exportAudit(ports, { limit: 1_205 })).nextCursor).toBeNull()
    await expect(exportAudit(ports, { limit: 10_001 })).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(exportAudit(ports, { cursor: 'no cursor' })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('who reads the audit log', () => {
  test('is recorded once an hour for each reader', async () => {
    const { store, ports, clock } = await controlWorld()
    const read = async () => (await store.audit.list({ event: 'audit_read', limit: 50 })).map(({ actor }) => actor)
    await atOnce(() => noteAuditRead(ports, admin))
    expect(await read()).toEqual([admin.actor])
    const tool = { ...admin, actor: { kind: 'tool', osUser: 'root' } } as const
    await noteAuditRead(ports, tool)
    await noteAuditRead(ports, tool)
    expect(await read()).toEqual([tool.actor, admin.actor])

    await clock.advance('1h')
    await noteAuditRead(ports, admin)
    expect(await read()).toHaveLength(2)
    await clock.advance(1)
    await noteAuditRead(ports, admin)
    expect(await read()).toHaveLength(3)
  })

  test('is not recorded without a credential', async () => {
    const { store, ports } = await controlWorld()
    await noteAuditRead(ports, { ...admin, actor: null })
    expect(await store.audit.list({ limit: 10 })).toEqual([])
  })
})

describe('a verification of the audit log', () => {
  test('is recorded with its result', async () => {
    const { store, ports } = await controlWorld()
    await store.audit.record(anEvent())
    expect(await verifyAudit(ports, { visitor: admin })).toEqual({ ok: true, brokenAt: null })
    const [event] = await store.audit.list({ limit: 1 })
    expect(event).toMatchObject({ event: 'audit_verified', outcome: 'success', actor: admin.actor, detail: {} })
  })

  test('that finds a change is recorded as a failure that names the event', async () => {
    const { store, ports, database } = await controlWorld()
    const events = [anEvent(), anEvent(), anEvent()]
    for (const event of events) await store.audit.record(event)
    const brokenAt = events[1]?.id ?? ''
    database.prepare("update latchkey_audit set outcome = 'failure' where id = ?").run(brokenAt)
    expect(await verifyAudit(ports, { visitor: admin })).toEqual({ ok: false, brokenAt })
    const [event] = await store.audit.list({ limit: 1 })
    expect(event).toMatchObject({ event: 'audit_verified', outcome: 'failure', detail: { brokenAt } })
  })
})
