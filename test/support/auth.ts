import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createAuth, type LatchkeySettings, type Principal } from '../../src/index.js'
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

export const ada = { email: 'ada@example.test', password: 'correct horse battery' }

export interface TestAuth {
  auth: ReturnType<typeof createAuth>
  runtime: TestRuntime
  mailbox: TestMailbox
  /** What got through the guard, in order. */
  passed: { request: Request; principal: Principal | null }[]
  client(options?: TestClientOptions): TestClient
}

/** A whole Latchkey on SQLite in memory, closed when the test ends. */
export async function testAuth(overrides: Partial<LatchkeySettings> = {}, runtime?: TestRuntime): Promise<TestAuth> {
  const world = runtime ?? createTestRuntime()
  const mailbox = createTestMailbox()
  const auth = createAuth(testSettings({ mailbox, logger: silent, ...overrides }), world)
  onTestFinished(() => auth.close())
  await auth.ready()

  const passed: TestAuth['passed'] = []
  const next = (request: Request, principal: Principal | null) => {
    passed.push({ request, principal })
    return Response.json({ principal })
  }
  return {
    auth,
    runtime: world,
    mailbox,
    passed,
    client: (options) => createTestClient(auth, { mailbox, clock: world.clock, next, ...options }),
  }
}

/** For what is meant to fail. */
const silent = { warn: () => {}, error: () => {} }

/** A folder that is gone when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Settings with which several instances are one application on one file. */
export function sharedSettings(): Pick<
  LatchkeySettings,
  'database' | 'JWT_ACCESS_TOKEN_SECRET' | 'JWT_REFRESH_TOKEN_SECRET'
> {
  const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
  return {
    JWT_ACCESS_TOKEN_SECRET,
    JWT_REFRESH_TOKEN_SECRET,
    database: `sqlite:${join(temporaryFolder(), 'latchkey.db')}`,
  }
}
