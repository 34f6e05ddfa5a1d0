import { createRandom } from '../lib/random.js'
import { createTestMailbox, type TestMailbox, type TestTransport } from './mailbox.js'

/** What `testSettings` fills in. */
export interface TestSettings {
  JWT_ACCESS_TOKEN_SECRET: string
  JWT_REFRESH_TOKEN_SECRET: string
  baseUrl: string
  database: string
  mail: { from: string; transport: TestTransport }
  password: { cost: number; checkBreached: false }
  limits: false
}

/**
 * Complete settings for a test: random secrets, SQLite in memory, `http://localhost:3000`, bcrypt cost 4, no question to
 * the breached-password API, no limits (which only a runtime of `createTestRuntime` may do without).
 *
 * @param overrides Settings over these, each as a whole but `password`, whose members are merged. `mailbox` stands for
 *   `mail` with that mailbox's transport; without it mails go to a mailbox nobody looks into.
 *
 * @example
 * const mailbox = createTestMailbox()
 * const auth = init(app, testSettings({ mailbox, accessTokenLifetime: '5m' }), createTestRuntime())
 */
export function testSettings<Overrides extends object = object>(
  overrides?: Overrides & { mailbox?: TestMailbox; password?: object },
): Omit<TestSettings, keyof Overrides> & Omit<Overrides, 'mailbox' | 'password'> & Pick<TestSettings, 'password'> {
  const {
    mailbox = createTestMailbox(),
    password,
    ...rest
  }: { mailbox?: TestMailbox; password?: object } = overrides ?? {}
  const random = createRandom()
  const settings: TestSettings = {
    JWT_ACCESS_TOKEN_SECRET: random.token(),
    JWT_REFRESH_TOKEN_SECRET: random.token(),
    baseUrl: 'http://localhost:3000',
    database: 'sqlite::memory:',
    mail: { from: 'Test <auth@example.test>', transport: mailbox.transport },
    password: { cost: 4, checkBreached: false, ...password },
    limits: false,
  }
  return { ...settings, ...rest }
}
