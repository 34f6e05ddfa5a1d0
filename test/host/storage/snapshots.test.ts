import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Snapshot } from '../../../src/host/ports.js'
import type { DataThreadsOptions, SpacePlace } from '../../../src/host/storage/threads.js'
import { createTestClock } from '../../../src/testing/clock.js'
import { temporaryFolder } from '../../support/auth.js'
import { startDataThreads, threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()
/** Ends when it is asked for a collection of this name. */
const mortal = await threadProgram(`
  import { parentPort } from 'node:worker_threads'
  parentPort?.on('message', (message) => { if (JSON.stringify(message).includes('killer')) process.exit(1) })
`)

async function opened(more: Partial<SpacePlace> = {}, options: Partial<DataThreadsOptions> = {}, code = program) {
  const clock = createTestClock()
  const threads = startDataThreads(code, { world: clock, ...options })
  onTestFinished(threads.close)
  const file = join(temporaryFolder(), 'g1.db')
  return { clock, threads, file, space: await threads.open({ spaceId: 'one', file, ...more }) }
}

const first = { after: null, reverse: false, limit: 10_000 }
const unavailable = { code: 'store_unavailable' }
const full = { code: 'quota_exceeded' }
const large = JSON.stringify({ text: 'x'.repeat(100_000) })

const idsIn = async (snapshot: Snapshot) => (await snapshot.scan('notes', first)).documents.map(({ id }) => id)

test('a snapshot has what was there when it was opened, whatever is written meanwhile', async () => {
  const { space } = await opened()
  const { documents, keyValues } = space
  await documents.put('notes', 'a', '{"n":1}', 'absent')
  await keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  const snapshot = await space.snapshot()
  await documents.put('notes', 'a', '{"n":2}', 'any')
  await documents.put('notes', 'b', '{}', 'absent')
  await documents.put('more', 'c', '{}', 'absent')
  await keyValues.set({ keyspace: '', key: 'k' }, '2', null)
  expect(await snapshot.list()).toEqual([{ name: 'notes', count: 1, bytes: 7, indexes: [] }])
  expect((await snapshot.scan('notes', first)).documents).toMatchObject([{ id: 'a', body: '{"n":1}' }])
  expect(await snapshot.scan('more', first)).toEqual({ documents: [], next: null })
  expect(await snapshot.pairs(null)).toEqual({
    rows: [{ keyspace: '', key: 'k', value: '1', endsAt: null }],
    next: null,
  })
  const later = await space.snapshot()
  expect(await idsIn(later)).toEqual(['a', 'b'])

  await documents.drop('notes')
  expect(await idsIn(snapshot)).toEqual(['a'])
  await snapshot.close()
  await expect(snapshot.list()).rejects.toMatchObject(unavailable)
  expect(await idsIn(later)).toEqual(['a', 'b'])
})

test('pairs come page by page in order of keyspace and key, without those that had expired', async () => {
  const { clock, space } = await opened()
  const { keyValues } = space
  await Promise.all(
    Array.from({ length: 1_200 }, (_, n) =>
      keyValues.set({ keyspace: n % 2 ? 'odd' : '', key: `k${n}` }, String(n), n % 3 ? null : 60_000),
    ),
  )
  await clock.advance('1m')
  const snapshot = await space.snapshot()
  const names: string[] = []
  let after: Parameters<Snapshot['pairs']>[0] = null
  do {
    const page = await snapshot.pairs(after)
    names.push(...page.rows.map(({ keyspace, key }) => `${keyspace}/${key}`))
    after = page.next
  } while (after !== null)
  const wanted = Array.from({ length: 1_200 }, (_, n) => n).filter((n) => n % 3)
  expect(names).toEqual(wanted.map((n) => `${n % 2 ? 'odd' : ''}/k${n}`).toSorted())
})

test('a snapshot ends after an hour, however fast it is read', async () => {
  const { clock, space } = await opened()
  await space.documents.put('notes', 'a', large, 'absent')
  const snapshot = await space.snapshot()
  for (let seconds = 30; seconds < 3_600; seconds += 30) {
    for (let page = 0; page < 21; page += 1) await idsIn(snapshot)
    await clock.advance('30s')
  }
  expect(await idsIn(snapshot)).toEqual(['a'])
  await clock.advance('30s')
  await expect(idsIn(snapshot)).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining('an hour') })
})

test('ATK-208 a reader of less than 64 KiB a second is cut off, and the log stays within the quota', async () => {
  const quotaBytes = 4 * 1024 * 1024
  const { clock, space, file } = await opened({ quotaBytes })
  const { documents } = space
  await documents.put('notes', 'a', large, 'absent')
  const snapshot = await space.snapshot()
  await idsIn(snapshot)
  await expect(async () => {
    for (let n = 0; n < 1_000; n += 1) await documents.put('notes', 'a', large, 'any')
  }).rejects.toMatchObject(full)
  expect((await space.usage()).bytes).toBeLessThanOrEqual(quotaBytes)
  // 10 s, and what 100 kB may take.
  await clock.advance('12s')
  await expect(idsIn(snapshot)).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining('slowly') })
  for (let n = 0; n < 100; n += 1) await documents.put('notes', 'a', large, 'any')
  expect(statSync(`${file}-wal`).size).toBeLessThan(quotaBytes)
})

test('a reader that keeps the pace is not cut off by a short pause, nor saves up for a long one', async () => {
  const { clock, space } = await opened()
  await space.documents.put('notes', 'a', large, 'absent')
  const snapshot = await space.snapshot()
  for (let page = 0; page < 100; page += 1) {
    await idsIn(snapshot)
    await clock.advance('1s')
  }
  await clock.advance('30s')
  expect(await idsIn(snapshot)).toEqual(['a'])
  await clock.advance('2m')
  await expect(idsIn(snapshot)).rejects.toMatchObject(unavailable)
})

test('a snapshot ends with its space and with its thread', async () => {
  const { space, threads, file } = await opened({}, {}, mortal)
  await space.documents.put('notes', 'a', '{}', 'absent')
  const lost = await space.snapshot()
  await expect(space.documents.count('killer')).rejects.toMatchObject(unavailable)
  expect(await space.documents.count('notes')).toBe(1)
  await expect(idsIn(lost)).rejects.toMatchObject(unavailable)

  const closed = await space.snapshot()
  await space.close()
  await expect(idsIn(closed)).rejects.toMatchObject(unavailable)
  await expect(space.snapshot()).rejects.toMatchObject(unavailable)
  const again = await threads.open({ spaceId: 'one', file })
  expect(await idsIn(await again.snapshot())).toEqual(['a'])
})

test('a space has 4 snapshots at once and a host 16; those that end make room', async () => {
  const { space, threads } = await opened()
  const own = [await space.snapshot(), await space.snapshot(), await space.snapshot(), await space.snapshot()]
  await expect(space.snapshot()).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining('Too many') })
  await own[0]?.close()
  own.push(await space.snapshot())
  for (const spaceId of ['two', 'three', 'four']) {
    const other = await threads.open({ spaceId, file: join(temporaryFolder(), 'g1.db') })
    for (let n = 0; n < 4; n += 1) await other.snapshot()
    if (spaceId === 'four') await other.close()
  }
  const last = await threads.open({ spaceId: 'five', file: join(temporaryFolder(), 'g1.db') })
  for (let n = 0; n < 4; n += 1) await last.snapshot()
  const none = await threads.open({ spaceId: 'six', file: join(temporaryFolder(), 'g1.db') })
  await expect(none.snapshot()).rejects.toMatchObject(unavailable)
})
