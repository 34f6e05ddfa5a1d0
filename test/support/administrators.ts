import { onTestFinished } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { createTestMailbox, type TestClient, type TestClientOptions, type TestRuntime } from '../../src/testing.js'
import { ada, type TestAuth, testAuth } from './auth.js'
import { issuerKey, keyServer } from './key-server.js'
import { enrol, type Factor } from './totp.js'

/** The administrator of every world: `admin.emails` names this address. */
export const administrator = { email: 'admin@example.test', password: 'a difference engine of brass' }

export interface Administered extends TestAuth {
  /** The administrator's browser: signed in a moment ago with a second factor. */
  admin: TestClient
  /** The same administrator, whose sign-in is older than `admin.recent`. */
  stale: TestClient
  factor: Factor
  /** A browser, app or server with the administrator's sign-in. */
  signInAsAdmin(options?: TestClientOptions): Promise<TestClient>
  adminId: string
  /** Refuses mails while it is down. */
  mailServer: { isDown: boolean }
}

/** A Latchkey with an administrator, who has a second factor. */
export async function administered(
  overrides: Partial<LatchkeySettings> = {},
  runtime?: TestRuntime,
): Promise<Administered> {
  const mailbox = createTestMailbox()
  const mailServer = { isDown: false }
  const transport: typeof mailbox.transport = {
    ...mailbox.transport,
    send(mail, done) {
      if (mailServer.isDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      mailbox.transport.send(mail, done)
    },
  }
  const settings = {
    admin: { emails: [administrator.email], twoFactor: true },
    mail: { from: 'Test <auth@example.test>', transport },
    ...overrides,
  }
  const opened = await testAuth(settings, runtime)
  const client: TestAuth['client'] = (options) => opened.client({ mailbox, ...options })
  const world = { ...opened, mailbox, client, mailServer }
  const stale = world.client()
  const { body } = await stale.signUp(administrator)
  const factor = await enrol(stale, administrator.password, world.runtime.clock)
  await world.runtime.clock.advance('11m')
  await stale.refresh()

  async function signInAsAdmin(options?: TestClientOptions): Promise<TestClient> {
    const client = world.client(options)
    const first = await client.post<{ challenge: string }>('/auth/login', administrator)
    const code = await factor.nextCode()
    const second = await client.post('/auth/login/two-factor', { challenge: first.body.challenge, code })
    if (second.status !== 200) throw new Error(`the administrator could not sign in: ${second.text}`)
    return client
  }
  return { ...world, stale, factor, signInAsAdmin, admin: await signInAsAdmin(), adminId: body.user.id }
}

/** Callers of the control API by the credential that they send. */
export async function callers(overrides: Partial<LatchkeySettings> = {}) {
  const issuer = await keyServer()
  onTestFinished(() => issuer.stop())
  const key = issuerKey('key-1')
  issuer.publish({ keys: [key.jwk] })
  const world = await administered({
    jwks: { url: issuer.url, audience: 'api' },
    authenticate: ({ headers }) =>
      headers['x-own'] === 'yes' ? { kind: 'hook', subject: 'hook', claims: {} } : undefined,
    ...overrides,
  })
  const { auth, client, runtime, admin, stale } = world
  const user = client()
  await user.signUp(ada)
  // An administrator too: the settings of the matrix name both addresses.
  const second = { email: 'second@example.test', password: administrator.password }
  const noFactor = client()
  await noFactor.signUp(second)

  // An administrator acts as a user of the application, in a third browser.
  const impersonating = await world.signInAsAdmin()
  const target = await auth.users.create({ email: 'target@example.test', emailVerified: true })
  const reason = 'The user asked for help.'
  await impersonating.post(`/auth/admin/api/users/${target.id}/impersonate`, { reason })
  // The version of the administrator has risen.
  await admin.refresh()
  await stale.refresh()

  const tokenOf = async (access: 'READ' | 'READWRITE') => (await auth.apiTokens.create({ name: access, access })).token
  const now = Math.floor(runtime.clock.now() / 1_000)
  const jwt = key.token({ iss: 'https://issuer.example', sub: 'program', aud: 'api', exp: now + 3_600 })
  const server = (headers: Record<string, string>) => client({ as: 'server', headers })
  return {
    world,
    by: {
      'no credential': server({}),
      user,
      'API token READ': server({ 'x-apikey': await tokenOf('READ') }),
      'API token READWRITE': server({ 'x-apikey': await tokenOf('READWRITE') }),
      JWT: server({ authorization: `Bearer ${jwt}` }),
      hook: server({ 'x-own': 'yes' }),
      impersonating,
      'ADMIN without second factor': noFactor,
      'ADMIN, not recent': stale,
      ADMIN: admin,
    } satisfies Record<string, TestClient>,
    secondAdmin: second,
  }
}
