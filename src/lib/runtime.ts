import { lookup } from 'node:dns/promises'

/**
 * The outside world as an application may replace it, for tests and unusual hosts.
 *
 * @example createAuth(settings, { now: () => Date.now(), fetch })
 */
export interface Runtime {
  /** Wall clock, Unix milliseconds. Default: `Date.now`. */
  now?: () => number
  /** Every outgoing HTTP request goes through it. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** The whole outside world, defaults filled in. */
export interface World {
  /** Wall clock, Unix milliseconds. */
  now(): number
  /** A clock that never goes back, milliseconds from an arbitrary start. */
  monotonic(): number
  fetch: typeof globalThis.fetch
  /** All addresses of a host name, as a connection would find them. Rejects when there are none. */
  lookup(hostname: string): Promise<string[]>
  /** Calls back once after that many milliseconds without keeping the process alive; returns how to cancel it. */
  timer(milliseconds: number, callback: () => void): () => void
  /** True for the runtime of `latchkey/testing`: limits may be off and hashing may be cheap. */
  testing: boolean
}

/** What `latchkey/testing` hands to `init`: a runtime that also owns monotonic time, timers and names. */
export interface TestingRuntime extends Required<Runtime> {
  [testingWorld]: Pick<World, 'monotonic' | 'timer' | 'lookup'>
}

export const testingWorld = Symbol('latchkey.testing')

/** Fills in what the application did not replace. */
export function createWorld(runtime: Runtime | TestingRuntime = {}): World {
  const testing = testingWorld in runtime ? runtime[testingWorld] : null
  return {
    now: runtime.now ?? Date.now,
    monotonic: testing?.monotonic ?? realMonotonic,
    fetch: runtime.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    lookup: testing?.lookup ?? realLookup,
    timer: testing?.timer ?? realTimer,
    testing: testing !== null,
  }
}

/** Unix seconds of that world's wall clock. */
export function nowSeconds(world: Pick<World, 'now'>): number {
  return Math.floor(world.now() / 1000)
}

async function realLookup(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

function realTimer(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Real time, also under a test clock: for waits that shape how a step is tried, not what it decides. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Lets the event loop run once, so that other pending work goes first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

// Not imported: `node:process` as a module looks at all it exports, and so opens standard input.
const { hrtime } = process

/** The real clock that never goes back, milliseconds: for measuring work, also under a test clock. */
export function realMonotonic(): number {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
