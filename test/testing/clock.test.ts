import { describe, expect, test } from 'vitest'
import { createWorld } from '../../src/lib/runtime.js'
import { createTestClock, createTestRuntime } from '../../src/testing/clock.js'

const day = 86_400_000

describe('the clock', () => {
  test('stands still until it is advanced, by milliseconds or a duration', async () => {
    const clock = createTestClock('2026-03-01T12:00:00Z')
    expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T12:00:00.000Z')

    await clock.advance('15m')
    await clock.advance(250)
    expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T12:15:00.250Z')
    expect(clock.monotonic()).toBe(900_250)
  })

  test('runs timers at their due times, in that order, older ones first', async () => {
    const clock = createTestClock(0)
    const ran: string[] = []
    clock.timer(2_000, () => ran.push(`late at ${clock.now()}`))
    clock.timer(1_000, () => ran.push(`early at ${clock.now()}`))
    clock.timer(1_000, () => ran.push(`early too at ${clock.now()}`))
    clock.timer(9_000, () => ran.push('not yet due'))

    await clock.advance('5s')
    expect(ran).toEqual(['early at 1000', 'early too at 1000', 'late at 2000'])
    expect(clock.now()).toBe(5_000)
  })

  test('lets the asynchronous work of a timer finish before the next one runs', async () => {
    const clock = createTestClock(0)
    const ran: string[] = []
    clock.timer(1, async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      ran.push('work of the first')
    })
    clock.timer(2, () => ran.push('second'))

    await clock.advance(2)
    expect(ran).toEqual(['work of the first', 'second'])
  })

  test('runs a timer that sets itself again as often as it falls due', async () => {
    const clock = createTestClock(0)
    let polls = 0
    const poll = () => {
      polls += 1
      clock.timer(500, poll)
    }
    clock.timer(500, poll)

    await clock.advance('10s')
    expect(polls).toBe(20)
  })

  test('finishes a long way in equal strides, with every overdue timer run once in each', async () => {
    const clock = createTestClock(0)
    const ran: number[] = []
    const poll = () => {
      ran.push(clock.now())
      clock.timer(500, poll)
    }
    clock.timer(500, poll)
    clock.timer(89 * day, () => ran.push(-1))

    await clock.advance('90d')
    expect(ran).toHaveLength(250 + 50 + 1)
    const stride = (90 * day - 125_000) / 50
    expect(ran.slice(249, 251)).toEqual([125_000, 125_000 + stride])
    expect(ran.slice(-3)).toEqual([90 * day - stride, 90 * day, -1])
    expect(clock.now()).toBe(90 * day)
  })

  test('goes to a moment in one stride, but never back', async () => {
    const clock = createTestClock(0)
    let polls = 0
    const poll = () => {
      polls += 1
      clock.timer(500, poll)
    }
    clock.timer(500, poll)

    await clock.set(new Date(60_000))
    expect([clock.now(), clock.monotonic(), polls]).toEqual([60_000, 60_000, 1])
    await expect(clock.set(59_999)).rejects.toThrow(RangeError)
    await clock.advance(500)
    expect(polls).toBe(2)
  })

  test('steps the wall clock alone', async () => {
    const clock = createTestClock(100_000)
    let ran = false
    clock.timer(1_000, () => {
      ran = true
    })

    clock.step(-30_000)
    expect([clock.now(), clock.monotonic()]).toEqual([70_000, 0])
    clock.step(600_000)
    await clock.advance(999)
    expect(ran).toBe(false)
    await clock.advance(1)
    expect(ran).toBe(true)
  })

  test('forgets a cancelled timer', async () => {
    const clock = createTestClock()
    let ran = false
    const cancel = clock.timer(10, () => {
      ran = true
    })
    cancel()
    await clock.advance('1m')
    expect(ran).toBe(false)
  })

  test('runs a timer of no time by itself, and only once', async () => {
    const clock = createTestClock()
    let runs = 0
    await new Promise<void>((resolve) => {
      clock.timer(0, () => {
        runs += 1
        resolve()
      })
    })
    await clock.advance('1s')
    expect(runs).toBe(1)
  })

  test('takes two advances at once one after the other', async () => {
    const clock = createTestClock(0)
    const seen: number[] = []
    clock.timer(1_500, () => seen.push(clock.now()))
    await Promise.all([clock.advance('1s'), clock.advance('1s')])
    expect([seen, clock.now()]).toEqual([[1_500], 2_000])
  })

  test('hands on what a timer throws, and goes on', async () => {
    const clock = createTestClock(0)
    clock.timer(1, () => {
      throw new Error('the timer failed')
    })
    await expect(clock.advance(10)).rejects.toThrow('the timer failed')
    await clock.advance(10)
    expect(clock.now()).toBe(11)
  })

  test.each(['', '15', '-1m', '1.5h', 'soon', -1, Number.NaN])('refuses to advance by %j', (by) => {
    expect(() => createTestClock().advance(by)).toThrow(RangeError)
  })

  test('refuses a start that is no moment', () => {
    expect(() => createTestClock('yesterday')).toThrow(RangeError)
  })
})

describe('the runtime', () => {
  test('is a testing world whose time is the clock', async () => {
    const runtime = createTestRuntime()
    const world = createWorld(runtime)
    let ran = false
    world.timer(60_000, () => {
      ran = true
    })

    await runtime.clock.advance('1m')
    expect(world.testing).toBe(true)
    expect([world.now(), world.monotonic(), ran]).toEqual([runtime.clock.now(), 60_000, true])
  })

  test('is recognised by its brand alone', () => {
    const { clock, now, fetch } = createTestRuntime()
    expect(createWorld({ now, fetch }).testing).toBe(false)
    expect(createWorld(JSON.parse(JSON.stringify({ clock, testing: true, testingWorld: {} }))).testing).toBe(false)
  })

  test('has no network, and says who asked for it without telling the query', async () => {
    const { fetch } = createWorld(createTestRuntime())
    const asked = fetch('https://api.example.test/range/ABCDE?secret=1')
    await expect(asked).rejects.toThrow(/https:\/\/api\.example\.test\/range\/ABCDE was asked for/)
    await expect(asked).rejects.not.toThrow(/secret/)
    await expect(fetch(new Request('http://localhost/x'))).rejects.toThrow('http://localhost/x')
  })

  test('asks the fetch that it was given', async () => {
    const world = createWorld(createTestRuntime({ fetch: async () => new Response('here') }))
    expect(await (await world.fetch('https://api.example.test/')).text()).toBe('here')
  })
})
