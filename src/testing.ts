/**
 * The test kit: what an application needs to test its sign-ins without waiting, without a mail server and without a
 * browser.
 *
 * @example
 * import { init } from 'latchkey'
 * import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from 'latchkey/testing'
 *
 * const mailbox = createTestMailbox()
 * const runtime = createTestRuntime()
 * const auth = init(app, testSettings({ mailbox }), runtime)
 * const client = createTestClient(auth, { mailbox, clock: runtime.clock, next: () => Response.json({ notes: [] }) })
 *
 * await client.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
 * expect((await client.get('/api/notes')).status).toBe(200)
 * await runtime.clock.advance('15m')
 * expect((await client.get('/api/notes')).status).toBe(401)
 * await client.refresh()
 * expect((await client.get('/api/notes')).status).toBe(200)
 *
 * @module
 */
export type { TestingRuntime } from './lib/runtime.js'
export type { ActorEntry } from './model/session-answer.js'
export type { SignedIn, TestAnswer } from './testing/answer.js'
export {
  createTestClient,
  type TestClient,
  type TestClientOptions,
  type TestCredentials,
  type TestRequestOptions,
} from './testing/client.js'
export { createTestClock, createTestRuntime, type TestClock, type TestRuntime } from './testing/clock.js'
export type { CookieJar, TestCookie } from './testing/cookies.js'
export { createTestMailbox, type ReceivedMail, type TestMailbox, type TestTransport } from './testing/mailbox.js'
export { createOAuthPeer, type OAuthPeer, type OAuthPeerOptions, type PeerRequest } from './testing/oauth-peer.js'
export type { PeerAccount } from './testing/peer-sites.js'
export { testSettings } from './testing/settings.js'
