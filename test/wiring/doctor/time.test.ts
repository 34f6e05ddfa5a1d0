import { expect, onTestFinished, test } from 'vitest'
import { judgeSkew } from '../../../src/model/doctor/clock-skew.js'
import { diagnosed } from '../../support/doctor.js'
import { startPostgres } from '../../support/pglite.js'

test.each([
  [5_000, true],
  [5_001, false],
  [null, false],
])('a change feed of %s ms, of 10 s at most: fine is %s', async (ageMs, ok) => {
  const [result] = await diagnosed('feed_stale', { place: 'S', context: { feedAgeMs: () => ageMs } })
  expect(result).toMatchObject({ ok, level: 'error', skipped: null })
})

test.each([
  [1_999, null],
  [2_000, { level: 'warn', finding: expect.stringContaining('2 seconds ahead of') }],
  [-29_999, { level: 'warn', finding: expect.stringContaining('30 seconds behind') }],
  [-30_000, { level: 'error', finding: expect.stringContaining('30 seconds behind') }],
])('clocks that differ by %i ms', (aheadMs, expected) => {
  const found = judgeSkew('the database', aheadMs)
  if (expected === null) expect(found).toBeNull()
  else expect(found).toMatchObject(expected)
})

test('a process whose clock differs from that of the database is found', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.close())
  const settings = { database: postgres.dialect() }
  const at = (aheadMs: number) => ({ settings, world: { now: () => Date.now() + aheadMs } })
  expect(await diagnosed('clock_skew', at(0))).toMatchObject([{ ok: true, skipped: null }])
  expect(await diagnosed('clock_skew', at(20_500))).toMatchObject([
    { ok: false, level: 'warn', finding: expect.stringMatching(/^The clock of the database is 2[01] seconds behind/) },
  ])
  expect(await diagnosed('clock_skew', at(-60_000))).toMatchObject([{ ok: false, level: 'error' }])
}, 60_000)

test('a database file has the clock of the process, so nothing is compared', async () => {
  expect(await diagnosed('clock_skew')).toMatchObject([{ ok: true, skipped: 'This database has no clock of its own.' }])
})
