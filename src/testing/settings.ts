import { createRandom } from '../lib/random.js'
import type { SettingsInput } from '../wiring/settings.js'
import { createTestMailbox, type TestMailbox } from './mailbox.js'

/**
 * Complete settings for a test: random secrets, SQLite in memory, `http://localhost:3000`, bcrypt cost 4, no requests to
 * the breached-password API, no limits (only a runtime of `createTestRuntime` may turn them off).
 *
 * @param overrides Settings that replace these, each as a whole except `password`, whose members are merged. `mailbox` stands
 *   for `mail` with that mailbox's transport. Without it, mails go to a mailbox that no test reads.
 *
 * @example
 * const mailbox = createTestMailbox()
 * const auth = init(app, testSettings({ mailbox, accessTokenLifetime: '5m' }), createTestRuntime())
 */
export function testSettings(overrides: Partial<SettingsInput> & { mailbox?: TestMailbox } = {}): SettingsInput {
  const { mailbox = createTestMailbox(), password, ...rest } = overrides
  const random = createRandom()
  return {
    JWT_ACCESS_TOKEN_SECRET: random.token(),
    JWT_REFRESH_TOKEN_SECRET: random.token(),
    baseUrl: 'http://localhost:3000',
    database: 'sqlite::memory:',
    mail: { from: 'Test <auth@example.test>', transport: mailbox.transport },
    limits: false,
    ...rest,
    password: { cost: 4, checkBreached: false, ...password },
  }
}
