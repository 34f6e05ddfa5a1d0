import { parseDuration } from '../lib/duration.js'
import { type TestingRuntime, testingWorld } from '../lib/runtime.js'

/** A clock that moves only when the test says so. */
export interface TestClock {
  /** Wall clock, Unix milliseconds. */
  now(): number

  /** The clock that never goes back, milliseconds from an arbitrary start. */
  monotonic(): number

  /**
   * Moves both clocks on, by milliseconds or a duration (`'90s'`, `'15m'`, `'2h'`, `'7d'`), and runs every timer that
   * falls due on the way, in order of due time and each at its own due time.
   *
   * After each timer the event loop turns ten times, so all that the timer started has finished as far as it waits
   * for promises, `setImmediate` or an in-process database. What waits for the real outside (sockets, files, worker
   * threads) may still be under way: wait for its effect, as `mailbox.waitFor` does. Two calls at once run one after
   * the other.
   *
   * If more than 250 timers fall due, as in an hour of a poll twice a second, the clock moves the rest of the way in 50
   * equal strides. After each of them, every timer that is then overdue runs once, so a timer may run one stride late.
   *
   * @example
   * await clock.advance('15m')
   * expect((await client.get('/api/notes')).status).toBe(401)
   */
  advance(by: string | number): Promise<void>

  /**
   * Moves both clocks to that moment in one stride, the way a computer wakes that slept: every timer that is then
   * overdue runs once.
   *
   * @throws {RangeError} The moment has passed; only `step` turns the wall clock back.
   */
  set(moment: Date | number): Promise<void>

  /**
   * Moves the wall clock alone, back when negative, as an administrator or NTP does. No timer runs: timers go by the
   * monotonic clock.
   */
  step(milliseconds: number): void

  /**
   * Calls back once when the clock has advanced that far; returns how to cancel it. A timer of 0 ms needs no advance
   * and runs in the next turn of the event loop. No timer keeps the process alive.
   */
  timer(milliseconds: number, callback: () => void): () => void
}

/**
 * Makes a clock that stands still, by default on 1 January 2026, 00:00 UTC.
 *
 * @example
 * const clock = createTestClock('2026-03-01T12:00:00Z')
 * const auth = createAuth(testSettings(), createTestRuntime({ clock }))
 */
export function createTestClock(start: Date | number | string = DEFAULT_START): TestClock {
  const time = new VirtualTime(unixMilliseconds(start))
  return {
    now: () => time.wall,
    monotonic: () => time.monotonic,
    advance: (by) => time.advance(durationMilliseconds(by)),
    set: (moment) => time.set(unixMilliseconds(moment)),
    step(milliseconds) {
      time.wall += milliseconds
    },
    timer: (milliseconds, callback) => time.timer(milliseconds, callback),
  }
}

/** What `createTestRuntime` hands out: the third argument of `init`, the second of `createAuth`. */
export interface TestRuntime extends TestingRuntime {
  clock: TestClock
}

/**
 * Makes the outside world of a test: virtual time, virtual timers, no network. Only with it may `limits` be off.
 *
 * Never give it to an application that serves anybody: its clock stands still, so nothing in it ever expires.
 *
 * @param world.clock Default: a new `createTestClock()`.
 * @param world.fetch Answers the application's outgoing requests. Default: every request fails, naming its address.
 * @param world.lookup Addresses of the hosts that it asks. Default: a public one for all, without asking anybody.
 * @param world.txt TXT records of a name in DNS, which `doctor` reads. Default: DNS does not answer.
 *
 * @example
 * const runtime = createTestRuntime({ fetch: async () => Response.json({ keys: [] }) })
 * const auth = init(app, testSettings(), runtime)
 * await runtime.clock.advance('1h')
 */
export function createTestRuntime(
  world: {
    clock?: TestClock
    fetch?: typeof globalThis.fetch
    lookup?: (hostname: string) => Promise<string[]>
    txt?: (name: string) => Promise<string[]>
  } = {},
): TestRuntime {
  const clock = world.clock ?? createTestClock()
  return {
    clock,
    now: clock.now,
    fetch: world.fetch ?? noNetwork,
    [testingWorld]: {
      monotonic: clock.monotonic,
      timer: clock.timer,
      lookup: world.lookup ?? somewherePublic,
      txt: world.txt ?? noRecords,
    },
  }
}

const DEFAULT_START = Date.UTC(2026, 0, 1)
const TIMERS_ONE_BY_ONE = 250
const STRIDES = 50
const EVENT_LOOP_ROUNDS = 10

interface Timer {
  dueAt: number
  callback: () => void
}

class VirtualTime {
  wall: number
  monotonic = 0
  readonly #timers = new Set<Timer>()
  #last: Promise<void> = Promise.resolve()

  constructor(wall: number) {
    this.wall = wall
  }

  timer(milliseconds: number, callback: () => void): () => void {
    const timer = { dueAt: this.monotonic + Math.max(0, milliseconds), callback }
    this.#timers.add(timer)
    if (timer.dueAt <= this.monotonic) setImmediate(() => this.#run(timer)).unref()
    return () => this.#timers.delete(timer)
  }

  advance(milliseconds: number): Promise<void> {
    return this.#next(() => this.#walk(this.monotonic + milliseconds))
  }

  set(wall: number): Promise<void> {
    return this.#next(async () => {
      if (wall < this.wall) throw new RangeError('This moment has passed; clock.step(-milliseconds) turns it back')
      await letEventLoopRun()
      await this.#stride(this.monotonic + wall - this.wall)
    })
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #walk(goal: number): Promise<void> {
    await letEventLoopRun()
    for (let ran = 0; ran < TIMERS_ONE_BY_ONE; ran += 1) {
      const [timer] = this.#dueBy(goal)
      if (timer === undefined) return this.#moveTo(goal)
      this.#moveTo(Math.max(timer.dueAt, this.monotonic))
      this.#run(timer)
      await letEventLoopRun()
    }
    const rest = goal - this.monotonic
    for (let left = STRIDES - 1; left >= 0; left -= 1) await this.#stride(goal - Math.floor((left * rest) / STRIDES))
  }

  async #stride(goal: number): Promise<void> {
    this.#moveTo(goal)
    for (const timer of this.#dueBy(goal)) {
      this.#run(timer)
      await letEventLoopRun()
    }
  }

  #moveTo(monotonic: number): void {
    this.wall += monotonic - this.monotonic
    this.monotonic = monotonic
  }

  #run(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.callback()
  }

  /** Sorting is stable and a Set keeps its order, so of two timers due at once the older runs first. */
  #dueBy(goal: number): Timer[] {
    return [...this.#timers].filter((timer) => timer.dueAt <= goal).sort((one, other) => one.dueAt - other.dueAt)
  }
}

async function letEventLoopRun(): Promise<void> {
  for (let round = 0; round < EVENT_LOOP_ROUNDS; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

function unixMilliseconds(moment: Date | number | string): number {
  const milliseconds = new Date(moment).getTime()
  if (Number.isNaN(milliseconds)) throw new RangeError('This is no moment: give a Date, Unix milliseconds or ISO 8601')
  return milliseconds
}

function durationMilliseconds(by: string | number): number {
  const milliseconds = typeof by === 'number' ? by : (parseDuration(by) ?? Number.NaN) * 1_000
  if (!(milliseconds >= 0)) throw new RangeError("A clock advances by milliseconds or by a duration such as '15m'")
  return milliseconds
}

/** Nothing is ever sent there. */
async function somewherePublic(): Promise<string[]> {
  return ['8.8.8.8']
}

async function noRecords(name: string): Promise<string[]> {
  throw new TypeError(`No network in a test: ${name} was asked for; give createTestRuntime a txt`)
}

async function noNetwork(input: Parameters<typeof globalThis.fetch>[0]): Promise<Response> {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
  throw new TypeError(`No network in a test: ${origin}${pathname} was asked for; give createTestRuntime a fetch`)
}
