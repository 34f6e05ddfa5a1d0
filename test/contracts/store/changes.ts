import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import { anEvent, atOnce, createdUser, crowd, openedSession, until } from './rows.js'

/** Ends a session of its own, whose row matters until then. */
async function aChange({ store }: TestStore, matters = until): Promise<string> {
  const session = await openedSession(store, await createdUser(store))
  await store.sessions.end(session.id, null, { until: matters, audit: anEvent() })
  return session.id
}

export function changesContract(current: () => TestStore): void {
  readingContract(current)
  pruningContract(current)
}

function readingContract(current: () => TestStore): void {
  test('an empty feed has no head, but a clock', async () => {
    const { changes } = current().store
    const page = { changes: [], storeNowMs: expect.any(Number), headMs: null }
    expect(await changes.recent(60_000)).toEqual(page)
    expect(await changes.current(until)).toEqual(page)
  })

  test("a row carries the store's clock, which is also the head, and every reader sees the same", async () => {
    const opened = current()
    const before = (await opened.store.changes.recent(60_000)).storeNowMs
    await aChange(opened)
    const page = await opened.store.changes.recent(60_000)
    expect(page.changes).toEqual(opened.changes)
    expect(page.headMs).toBe(opened.changes[0]?.atMs)
    expect(page.headMs).toBeGreaterThanOrEqual(before)
    expect(page.headMs).toBeLessThanOrEqual(page.storeNowMs)

    const second = await opened.openSecond?.()
    if (second) expect((await second.changes.recent(60_000)).changes).toEqual(opened.changes)
  })

  test('recent rows are those younger than the window; the head is that of the whole feed', async () => {
    const opened = current()
    await aChange(opened)
    await opened.age(60_000)
    const young = await aChange(opened)
    const page = await opened.store.changes.recent(60_000)
    expect(page.changes.map(({ subject }) => subject)).toEqual([young])

    await opened.age(70_000)
    const later = await opened.store.changes.recent(60_000)
    expect(later.changes).toEqual([])
    expect(later.headMs).toEqual(expect.any(Number))
  })

  test('current rows are those that still matter, however old', async () => {
    const opened = current()
    const past = await aChange(opened, until - 1)
    const lasting = await aChange(opened, until)
    await opened.age(100_000)
    const subjects = async (now: number) =>
      (await opened.store.changes.current(now)).changes.map(({ subject }) => subject).sort()
    expect(await subjects(until - 1)).toEqual([past, lasting].sort())
    expect(await subjects(until)).toEqual([lasting])
    expect(await subjects(until + 1)).toEqual([])
  })

  test('many changes at once all arrive, each once and under an id of its own', async () => {
    const opened = current()
    const subjects = await atOnce(() => aChange(opened))
    const page = await opened.store.changes.recent(60_000)
    expect(page.changes.map(({ subject }) => subject).sort()).toEqual(subjects.sort())
    expect(new Set(page.changes.map(({ id }) => id)).size).toBe(crowd)
  })
}

function pruningContract(current: () => TestStore): void {
  test('pruning removes old rows that no longer matter, and no others', async () => {
    const opened = current()
    await aChange(opened, until - 1)
    const lasting = await aChange(opened, until)
    await opened.age(24 * 3_600_000)
    const young = await aChange(opened, until - 1)
    await opened.age(1_000)
    const newest = await aChange(opened, until - 1)
    expect(await opened.store.changes.prune(until, 100)).toBe(1)
    const rest = await opened.store.changes.current(0)
    expect(rest.changes.map(({ subject }) => subject).sort()).toEqual([lasting, young, newest].sort())
  })

  test('pruning never moves the head back, so that no reader takes it for an older state', async () => {
    const opened = current()
    await aChange(opened)
    await opened.age(1_000)
    await aChange(opened)
    await opened.age(24 * 3_600_000)
    const { headMs } = await opened.store.changes.recent(60_000)
    expect(await opened.store.changes.prune(until + 1_000, 100)).toBe(1)
    expect((await opened.store.changes.recent(60_000)).headMs).toBe(headMs)
    expect((await opened.store.changes.current(0)).changes).toHaveLength(1)
  })

  test('an empty feed is pruned without a word', async () => {
    const { changes } = current().store
    expect(await changes.prune(until, 100)).toBe(0)
    expect((await changes.recent(60_000)).headMs).toBeNull()
  })

  test('pruning removes no more than asked for, what mattered least long first', async () => {
    const opened = current()
    for (let seconds = 5; seconds > 0; seconds -= 1) await aChange(opened, until - seconds)
    await opened.age(24 * 3_600_000)
    const newest = await aChange(opened, until)
    expect(await opened.store.changes.prune(until, 2)).toBe(2)
    expect((await opened.store.changes.current(until - 4)).changes).toHaveLength(4)
    expect(await opened.store.changes.prune(until, 100)).toBe(3)
    expect((await opened.store.changes.current(0)).changes.map(({ subject }) => subject)).toEqual([newest])
  })
}
