import { onTestFinished } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import type { LatchkeySettings } from '../../src/index.js'
import type { Ports } from '../../src/ports.js'
import {
  createTestClient,
  createTestMailbox,
  createTestRuntime,
  type TestClient,
  type TestClientOptions,
  type TestMailbox,
  type TestRuntime,
  testSettings,
} from '../../src/testing.js'
import { createEarly } from '../../src/wiring/early.js'
import { open } from '../../src/wiring/open.js'

export interface LiveWorld {
  /** What the flows of this Latchkey reach. */
  ports: Ports
  runtime: TestRuntime
  mailbox: TestMailbox
  client(options?: TestClientOptions): TestClient
}

/** A whole Latchkey with its ports, for flows that no route calls. Closed when the test ends. */
export async function liveWorld(overrides: Partial<LatchkeySettings> = {}): Promise<LiveWorld> {
  const runtime = createTestRuntime()
  const mailbox = createTestMailbox()
  const logger = { warn: () => {}, error: () => {} }
  const live = await open(createEarly(testSettings({ mailbox, logger, ...overrides }), runtime), null)
  onTestFinished(() => live.close())
  const fetch = createFetch(live.handle, () => ({ status: 404, headers: {}, body: '' }))
  const next = () => Response.json({})
  return {
    ports: live.ports,
    runtime,
    mailbox,
    client: (options) => createTestClient({ fetch }, { mailbox, clock: runtime.clock, next, ...options }),
  }
}
