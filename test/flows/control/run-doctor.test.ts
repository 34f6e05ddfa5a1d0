import { expect, test } from 'vitest'
import { examine, runDoctor } from '../../../src/flows/control/run-doctor.js'
import type { Check, Doctor, Outcome } from '../../../src/model/doctor/report.js'
import { createTestClock } from '../../../src/testing.js'

const row = { where: ['S'], level: 'warn', cause: 'Because.', cure: 'Do this.' } as const
const asker = { forwardingHeader: null }
const never = () => new Promise<never>(() => {})

function check(code: string, run: () => Outcome | Promise<Outcome>): Check {
  return { code, row, check: run }
}

function clinic(topics: readonly (readonly Check[])[], load: () => Promise<unknown> = async () => {}) {
  const clock = createTestClock()
  let last: ReturnType<Doctor['last']> = null
  const doctor: Doctor = {
    installationId: 'clinic',
    async topics() {
      await load()
      return topics
    },
    timer: clock.timer,
    last: () => last,
    keep(run) {
      last = run
    },
  }
  const time = {
    now: () => Math.floor(clock.now() / 1000),
    nowMs: clock.now,
    monotonicMs: clock.monotonic,
  }
  return { clock, ports: { doctor, clock: time }, examine: () => examine(topics, { timer: clock.timer, clock: time }) }
}

test('ATK-213 a hundred readers at once and a hundred in the same minute share one run', async () => {
  let runs = 0
  const { clock, ports } = clinic([
    [
      check('one', () => {
        runs += 1
        return null
      }),
    ],
  ])
  const first = await Promise.all(Array.from({ length: 100 }, () => runDoctor(ports, asker)))
  expect(runs).toBe(1)
  expect(new Set(first).size).toBe(1)
  await clock.advance(59_999)
  for (let read = 0; read < 100; read += 1) expect(await runDoctor(ports, asker)).toBe(first[0])
  expect(runs).toBe(1)

  await clock.advance(1)
  expect((await runDoctor(ports, asker)).checkedAt).toBe('2026-01-01T00:01:00.000Z')
  expect(runs).toBe(2)
})

test('checks that could not be loaded are loaded again for the next reader', async () => {
  let loads = 0
  const { ports } = clinic([[check('one', () => null)]], async () => {
    loads += 1
    if (loads === 1) throw new Error('too many open files')
  })
  const readers = await Promise.allSettled([runDoctor(ports, asker), runDoctor(ports, asker)])
  expect(readers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect((await runDoctor(ports, asker)).checks).toMatchObject([{ code: 'one', ok: true }])
  expect(loads).toBe(2)
})

test('a finding has the texts of its row, a finding of its own level and cure has those', async () => {
  const finding = 'It is broken.'
  const { examine } = clinic([
    [
      check('plain', () => ({ finding })),
      check('own', async () => [{ finding, level: 'error' as const, cure: 'Do that.' }, { finding: 'Twice.' }]),
    ],
  ])
  const broken = { ok: false, level: 'warn', cause: 'Because.', cure: 'Do this.', skipped: null }
  expect((await examine()).checks).toEqual([
    { ...broken, code: 'plain', finding },
    { ...broken, code: 'own', finding, level: 'error', cure: 'Do that.' },
    { ...broken, code: 'own', finding: 'Twice.' },
  ])
})

test('a check that hangs is skipped after 5 seconds, and the next one of its topic runs', async () => {
  const { clock, examine } = clinic([[check('hangs', never), check('next', () => null)], [check('other', () => null)]])
  const report = examine()
  await clock.advance(5_000)
  expect((await report).checks).toMatchObject([
    { code: 'hangs', ok: true, skipped: 'It took longer than 5 seconds.' },
    { code: 'next', ok: true, skipped: null },
    { code: 'other', ok: true, skipped: null },
  ])
})

test('a run ends after 30 seconds', async () => {
  const { clock, examine } = clinic([Array.from({ length: 8 }, (_, index) => check(`hangs ${index}`, never))])
  const report = examine()
  await clock.advance(30_000)
  expect((await report).checks.map(({ skipped }) => skipped)).toEqual([
    ...Array.from({ length: 6 }, () => 'It took longer than 5 seconds.'),
    ...Array.from({ length: 2 }, () => 'The checks before it took 30 seconds.'),
  ])
})

test('ATK-123 a check that fails is skipped, without the words of the error', async () => {
  const { examine } = clinic([
    [
      check('fails', () => {
        throw new TypeError('postgres://user:s3cret@db')
      }),
    ],
  ])
  expect((await examine()).checks).toMatchObject([{ ok: true, skipped: 'It failed: TypeError.' }])
})
