import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Actor } from '../../../src/model/actor.js'
import type { AuditEvent } from '../../../src/model/audit-event.js'
import { type ChainPlace, markedText } from '../../../src/store/audit/chain.js'
import { toAuditRow } from '../../../src/store/audit/rows.js'
import type { AuditLog } from '../../../src/store/audit.js'
import { openSqlite } from '../../../src/store/sql/engine/sqlite-driver.js'
import { openSqlStore } from '../../../src/store/sql/store.js'
import { anEvent, atOnce } from '../../contracts/store/rows.js'
import { storeOptions, temporaryFolder, testSeal } from '../../support/databases.js'

const [formerKey, nextKey] = ['former-audit-key-0123456789abcdefgh', 'next-audit-key-0123456789abcdefghij']
const whole = { ok: true, brokenAt: null }

/** Of the events at first, by their place; null for the others, as in rows of 0.1.0. */
const actors: readonly (Actor | null)[] = [
  null,
  { kind: 'application' },
  { kind: 'user', userId: 'ada', sessionId: 'session', impersonating: null },
]

interface Scene {
  audit: AuditLog
  /** What the log holds at first, oldest first. */
  events: AuditEvent[]
  /** What somebody does who may write the file, and has no key. */
  tamper(sql: string, ...values: unknown[]): unknown[]
  /** The same file under other keys. */
  reopen(keys: readonly string[]): Promise<AuditLog>
}

/** A log of that many events, a millisecond apart. */
async function aLog(count = 6): Promise<Scene> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'latchkey.db')
  const toClose: { close(): unknown }[] = []
  async function open(keys: readonly string[]): Promise<AuditLog> {
    const store = await openSqlStore({ ...storeOptions({ seal: testSeal(keys) }), database: { kind: 'sqlite', file } })
    toClose.push(store)
    return store.audit
  }
  onTestFinished(async () => {
    for (const each of toClose) await each.close()
    await folder.remove()
  })
  const audit = await open([formerKey])
  const events = Array.from({ length: count }, (_, index) => anEvent({ atMs: index, actor: actors[index] ?? null }))
  for (const event of events) await audit.record(event)
  const outside = await openSqlite(file)
  toClose.push(outside)
  return {
    audit,
    events,
    reopen: open,
    tamper(sql, ...values) {
      const statement = outside.prepare(sql)
      return statement.reader ? [...statement.all(values)] : [statement.run(values)]
    },
  }
}

const idOf = ({ events }: Scene, index: number) => events.at(index)?.id

/** Everything from that event on, hashed anew as if it had always been so, under marks that only look like some. */
function rehash({ tamper, events }: Scene, from: number, change: Partial<AuditEvent>, mark: string): void {
  const seal = { sealAudit: () => mark, checkAudit: () => 'good' as const }
  const [before] = tamper('select seq, hash from latchkey_audit where seq = ?', from) as ChainPlace[]
  let place = before ?? { seq: 0, hash: '' }
  for (const [index, event] of events.slice(from).entries()) {
    const row = toAuditRow(index === 0 ? { ...event, ...change } : event, place, seal)
    tamper(
      'update latchkey_audit set user_id = ?, hash = ?, mac = ? where seq = ?',
      row.user_id,
      row.hash,
      mark,
      row.seq,
    )
    place = row
  }
  tamper('update latchkey_audit_head set seq = ?, hash = ?', place.seq, place.hash)
}

const ownMark = (key: string) => testSeal([key]).sealAudit('something else')
const strangeMark = ownMark('a key that nobody here has, long enough')

describe('ATK-112 a log that somebody without the key has changed', () => {
  test.each([
    ['id', 'x'],
    ['at_ms', 4711],
    ['event', 'logout'],
    ['outcome', 'failure'],
    ['user_id', 'somebody else'],
    ['session_id', 'x'],
    ['ip', '198.51.100.7'],
    ['user_agent', 'x'],
    ['detail', '{"method":"password","attempts":2, "known":true}'],
    ['actor', '{"kind":"user","userId":"eve","sessionId":"session","impersonating":null}'],
    ['actor', '{"kind":"user","userId":"ada","sessionId":"session", "impersonating":null}'],
    ['actor', '{"kind":"user","userId":"ada","sessionId":"other","impersonating":null}'],
    ['actor', 'no JSON'],
    ['actor', null],
    ['actor_id', 'eve'],
    ['actor_id', null],
    ['hash', 'x'],
    ['mac', ownMark(formerKey)],
  ])('in the field %s is broken at that event', async (column, value) => {
    const scene = await aLog()
    scene.tamper(`update latchkey_audit set ${column} = ? where seq = 3`, value)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: column === 'id' ? 'x' : idOf(scene, 2) })
  })

  test.each([
    ['an actor, in a row without one', 1, 'actor', '{"kind":"application"}'],
    ['the id of an actor, in a row without one', 1, 'actor_id', 'ada'],
    ['the id of an actor that has none', 2, 'actor_id', 'ada'],
  ])('by adding %s, is broken at that event', async (_what, seq, column, value) => {
    const scene = await aLog()
    scene.tamper(`update latchkey_audit set ${column} = ? where seq = ?`, value, seq)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, seq - 1) })
  })

  test('by taking actor and id out of a row is broken at that event', async () => {
    const scene = await aLog()
    scene.tamper('update latchkey_audit set actor = null, actor_id = null where seq = 3')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 2) })
  })

  test('can still be read where an actor became a text that is none', async () => {
    const scene = await aLog()
    for (const text of ['no JSON', '"x"', '[]', '{"kind":"user","userId":7}', '{"kind":"root"}', '{}']) {
      scene.tamper('update latchkey_audit set actor = ? where seq = 3', text)
      expect((await scene.audit.list({ limit: 4 })).at(-1)).toEqual({ ...scene.events[2], actor: null })
    }
  })

  test('by a swap of two events is broken at the first of them', async () => {
    const scene = await aLog()
    scene.tamper(
      'update latchkey_audit set seq = case seq when 3 then -3 when 4 then 3 else seq end where seq in (3, 4)',
    )
    scene.tamper('update latchkey_audit set seq = 4 where seq = -3')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 3) })
  })

  test('by taking events out is broken at the next one', async () => {
    const scene = await aLog()
    scene.tamper('delete from latchkey_audit where seq in (3, 4)')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 4) })
    scene.tamper('update latchkey_audit set seq = seq - 2 where seq > 2')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 4) })
  })

  test('by taking away its beginning is broken at what begins it now', async () => {
    const scene = await aLog()
    scene.tamper('delete from latchkey_audit where seq <= 2')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 2) })
  })

  test('and whose floor was put where it begins now is broken there, also after more events and retention', async () => {
    const scene = await aLog()
    scene.tamper(`update latchkey_audit_head set floor_seq = 2,
      floor_hash = (select hash from latchkey_audit where seq = 2), floor_mac = (select mac from latchkey_audit where seq = 2)`)
    scene.tamper('delete from latchkey_audit where seq <= 2')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 2) })
    await scene.audit.record(anEvent())
    await scene.audit.prune(0, 100)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 2) })
  })

  test('by taking away its end is broken at the last one there is', async () => {
    const scene = await aLog()
    scene.tamper('delete from latchkey_audit where seq > 4')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 3) })
  })

  test('and whose head was put where it ends now stays broken, also after more events', async () => {
    const scene = await aLog()
    scene.tamper('delete from latchkey_audit where seq > 4')
    scene.tamper(`update latchkey_audit_head set seq = 4,
      hash = (select hash from latchkey_audit where seq = 4), mac = (select mac from latchkey_audit where seq = 4)`)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 3) })
    const [next] = [anEvent(), anEvent()]
    await scene.audit.record(next)
    await scene.audit.record(anEvent())
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: next.id })
  })

  test('by emptying it is broken, as is one without its head', async () => {
    const scene = await aLog()
    scene.tamper('delete from latchkey_audit')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: null })
    scene.tamper('update latchkey_audit_head set seq = floor_seq, hash = floor_hash, mac = floor_mac')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: null })
    const next = anEvent()
    await scene.audit.record(next)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: next.id })
    scene.tamper('delete from latchkey_audit_head')
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: null })
    await expect(scene.audit.record(anEvent())).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  test.each([
    ['before its beginning', 0],
    ['beyond its end', 1_000],
  ])('by an event %s is broken at that event', async (_where, seq) => {
    const scene = await aLog()
    scene.tamper(
      `insert into latchkey_audit select 'planted', ${seq}, at_ms, event, outcome, user_id, session_id, ip, user_agent,
        detail, hash, mac, actor, actor_id from latchkey_audit where seq = 3`,
    )
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: 'planted' })
  })

  test.each([
    ['a mark that names our key', ownMark(formerKey)],
    ['a mark that names a key that is gone', strangeMark],
  ])('by rehashing it under %s is broken, also after more events', async (_how, mark) => {
    const scene = await aLog()
    rehash(scene, 3, { userId: 'somebody else' }, mark)
    const found = await scene.audit.verify()
    expect(found).toEqual({ ok: false, brokenAt: idOf(scene, mark === strangeMark ? -1 : 3) })
    const next = anEvent()
    await atOnce(() => scene.audit.record(anEvent({ atMs: 10 })), 3)
    await scene.audit.record(next)
    const later = await scene.audit.verify()
    expect(later.ok).toBe(false)
    expect(later.brokenAt).not.toBe(next.id)
  })

  test('by making young events look old is broken when retention has taken them', async () => {
    const scene = await aLog()
    scene.tamper('update latchkey_audit set at_ms = -5 where seq = 1')
    expect(await scene.audit.prune(0, 100)).toBe(1)
    expect(await scene.audit.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 1) })
  })
})

test('a log into which a process of 0.1.0, which knows no actor, writes meanwhile is whole', async () => {
  const { audit, tamper } = await aLog()
  const seal = testSeal([formerKey])
  const [head] = tamper('select seq, hash from latchkey_audit_head') as ChainPlace[]
  const event = anEvent()
  const { actor, actor_id, ...row } = toAuditRow(event, head ?? { seq: 0, hash: '' }, seal)
  expect([actor, actor_id]).toEqual([null, null])
  const columns = Object.keys(row)
  tamper(`insert into latchkey_audit (${columns}) values (${columns.map(() => '?')})`, ...Object.values(row))
  const mac = seal.sealAudit(markedText('head', row))
  tamper('update latchkey_audit_head set seq = ?, hash = ?, mac = ?', row.seq, row.hash, mac)

  const next = anEvent({ actor: { kind: 'system' } })
  await audit.record(next)
  expect(await audit.list({ limit: 2 })).toEqual([next, event])
  expect(await audit.verify()).toEqual(whole)
})

describe('a log whose keys were rotated', () => {
  test('is whole under both keys, and under the new one alone once that has marked it', async () => {
    const scene = await aLog()
    const both = await scene.reopen([nextKey, formerKey])
    expect(await both.verify()).toEqual(whole)
    await both.record(anEvent({ atMs: 10 }))
    const after = await scene.reopen([nextKey])
    expect(await after.verify()).toEqual(whole)
    await after.record(anEvent({ atMs: 11 }))
    expect(await after.prune(3, 100)).toBe(3)
    expect(await after.verify()).toEqual(whole)
    expect(await after.prune(11, 100)).toBe(4)
    expect(await after.verify()).toEqual(whole)
  })

  test('is marked by the new key also where nothing happens but housekeeping', async () => {
    const scene = await aLog()
    await (await scene.reopen([nextKey, formerKey])).prune(0, 100)
    expect(await (await scene.reopen([nextKey])).verify()).toEqual(whole)
  })

  test('is still broken where it was changed under a key that is gone', async () => {
    const scene = await aLog()
    const both = await scene.reopen([nextKey, formerKey])
    await both.record(anEvent())
    scene.tamper("update latchkey_audit set user_id = 'x' where seq = 2")
    expect(await (await scene.reopen([nextKey])).verify()).toEqual({ ok: false, brokenAt: idOf(scene, 1) })
  })

  test('without a time of both keys begins anew, and nobody vouches for what was before until retention has taken it', async () => {
    const scene = await aLog()
    const replaced = await scene.reopen([nextKey])
    expect((await replaced.verify()).ok).toBe(false)
    const next = [anEvent({ atMs: 10 }), anEvent({ atMs: 11 }), anEvent({ atMs: 12 })]
    for (const event of next) await replaced.record(event)
    expect(await replaced.verify()).toEqual({ ok: false, brokenAt: idOf(scene, 0) })
    expect(await replaced.prune(11, 100)).toBe(7)
    expect(await replaced.verify()).toEqual({ ok: false, brokenAt: next[1]?.id })
    expect(await replaced.prune(12, 100)).toBe(1)
    expect(await replaced.verify()).toEqual(whole)
  })
})
