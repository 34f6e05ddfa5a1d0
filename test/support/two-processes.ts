import { onTestFinished } from 'vitest'
import { createAuth, type LatchkeySettings, type Principal } from '../../src/index.js'
import { type TestingRuntime, testingWorld } from '../../src/lib/runtime.js'
import {
  createTestClient,
  createTestMailbox,
  type TestClient,
  type TestClientOptions,
  testSettings,
} from '../../src/testing.js'
import { keptLines, type Lines, realTimer } from './redis-server.js'

/** How often the change feed is polled. */
const pollMs = 400

interface RealRuntimeOptions {
  /** False: the feed is never polled, so that only a wake-up can bring news. */
  polls?: boolean
}

/** The real clock and real timers, with the cheap hashes of a test. */
function realRuntime({ polls = true }: RealRuntimeOptions = {}): TestingRuntime {
  let awaitsPoll = !polls
  function timer(milliseconds: number, callback: () => void): () => void {
    if (!awaitsPoll || milliseconds !== pollMs) return realTimer(milliseconds, callback)
    // The next poll would be armed by this one. Others that take as long are not polls.
    awaitsPoll = false
    return () => {}
  }
  return {
    now: Date.now,
    fetch: () => Promise.reject(new TypeError('No network')),
    [testingWorld]: {
      monotonic: () => performance.now(),
      lookup: async () => ['192.0.2.1'],
      txt: async () => [],
      timer,
    },
  }
}

/** One of several processes of an application, as far as one process can play it: it shares no object with the others. */
export interface OneOfMany {
  auth: ReturnType<typeof createAuth>
  lines: Lines['lines']
  client(options?: TestClientOptions): TestClient
}

/** An application that runs more than once, limits at their defaults; closed when the test ends. */
export function manyOf(settings: Partial<LatchkeySettings>, options?: RealRuntimeOptions): { start(): OneOfMany } {
  const mailbox = createTestMailbox()
  const shared = testSettings({ mailbox, limits: {}, ...settings })
  return {
    start() {
      const { lines, logger } = keptLines()
      const auth = createAuth({ ...shared, logger }, realRuntime(options))
      onTestFinished(() => auth.close())
      const next = (_request: Request, principal: Principal | null) => Response.json({ principal })
      return { auth, lines, client: (client) => createTestClient(auth, { mailbox, next, ...client }) }
    },
  }
}
