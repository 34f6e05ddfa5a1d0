import { lookup, Resolver } from 'node:dns/promises'

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
  /** Whether the application gave its own `fetch`, which decides where it connects. */
  ownFetch: boolean
  /** All addresses of a host name, as a connection would find them. Rejects when there are none. */
  lookup(hostname: string): Promise<string[]>
  /** The TXT records of a name. Empty when there are none; rejects when DNS does not answer. */
  txt(name: string): Promise<string[]>
  /** Calls back once after that many milliseconds without keeping the process alive; returns how to cancel it. */
  timer(milliseconds: number, callback: () => void): () => void
  /** True for the runtime of `latchkey/testing`: limits may be off, hashing may be cheap, and no thread hashes. */
  testing: boolean
}

/** What `latchkey/testing` hands to `init`: a runtime that also owns monotonic time, timers and names. */
export interface TestingRuntime extends Required<Runtime> {
  [testingWorld]: Pick<World, 'monotonic' | 'timer' | 'lookup' | 'txt'>
}

export const testingWorld = Symbol('latchkey.testing')

/** Fills in what the application did not replace. */
export function createWorld(runtime: Runtime | TestingRuntime = {}): World {
  const testing = testingWorld in runtime ? runtime[testingWorld] : null
  return {
    now: runtime.now ?? Date.now,
    monotonic: testing?.monotonic ?? realMonotonic,
    fetch: runtime.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    ownFetch: runtime.fetch !== undefined,
    lookup: testing?.lookup ?? realLookup,
    txt: testing?.txt ?? createTxtRecords(),
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

/** Two tries of that many milliseconds each; a check of `doctor` has 5 s. */
const timeoutMs = 1_800

/** How DNS says that a name, or a TXT record of it, does not exist. */
const absent = ['ENOTFOUND', 'ENODATA']

/**
 * Reads the TXT records of a name. A long record comes in pieces of 255 bytes, which belong together without a blank
 * (RFC 7208 §3.3).
 *
 * @param servers IP addresses with or without a port; default: those of the machine
 * @returns rejects when DNS does not answer
 */
export function createTxtRecords(servers: readonly string[] = []): (name: string) => Promise<string[]> {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    try {
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
    } catch (error) {
      if (error instanceof Error && 'code' in error && absent.includes(String(error.code))) return []
      throw error
    }
  }
}

/** The real timer, also under a test clock. */
export function realTimer(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Stands for a promise that did not settle in time. */
export const late = Symbol('late')

/**
 * What the promise gives, or `late` after that many milliseconds. The promise goes on by itself, and its late rejection is
 * ignored.
 *
 * @example if ((await within(world.timer, 4_000, ask())) === late) …
 */
export async function within<T>(
  timer: World['timer'],
  milliseconds: number,
  asked: Promise<T>,
): Promise<T | typeof late> {
  let cancel = () => {}
  const over = new Promise<typeof late>((resolve) => {
    cancel = timer(milliseconds, () => resolve(late))
  })
  asked.catch(() => {})
  return Promise.race([asked, over]).finally(() => cancel())
}

/** Real time, also under a test clock: for waits that shape how a step is tried, not what it decides. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Keeps the process running while only connections are open that do not, until it calls `process.exit`. */
export function keepProcessRunning(): void {
  setInterval(() => {}, 2 ** 31 - 1)
}

/** Lets the event loop run once, so that other pending work goes first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

// Not imported, because importing `node:process` reads all its exports and so opens standard input.
const { hrtime } = process

/** The real clock that never goes back, milliseconds: for measuring work, also under a test clock. */
export function realMonotonic(): number {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
