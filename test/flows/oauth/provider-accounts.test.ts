import { describe, expect, onTestFinished, test } from 'vitest'
import { finishOAuth } from '../../../src/flows/oauth/finish.js'
import { startOAuth } from '../../../src/flows/oauth/start.js'
import { newUser } from '../../../src/flows/registration/register.js'
import { auditEvent } from '../../../src/flows/steps/audit.js'
import { createLimiter } from '../../../src/limits/counters.js'
import type { ProviderAccount, Providers } from '../../../src/oauth/provider.js'
import { landingUrl } from '../../../src/routes/oauth/landing.js'
import { limits } from '../../../src/settings/limits.js'
import { RotationWorld } from '../../support/rotation-world.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }
const email = 'ada@gmail.com'
const ada: ProviderAccount = { id: '42', email: null, emailVerified: null, authoritative: false, name: null }

/** A provider that is less careful than ours about whom it tells of: what it says is the flow's to judge. */
async function careless() {
  const world = await RotationWorld.create()
  onTestFinished(() => world.store.close())
  const { ports: own } = world.process(0)
  let account = ada
  const provider = {
    name: 'careless',
    label: 'Careless',
    isAuthority: false,
    authorizationUrl: async ({ state }: { state: string }) => state,
    identify: async () => account,
  }
  const providers: Providers = { list: () => [provider], find: () => provider }
  const limiter = createLimiter({ counters: world.store.counters, limits: limits.parse({}), now: own.clock.now })
  const ports = { ...own, providers, limiter }

  async function comeAs(changes: Partial<ProviderAccount>) {
    account = { ...ada, ...changes }
    const { url: state, handle } = await startOAuth(ports, { provider: 'careless', returnTo: null, handle: null })
    const returned = { provider: 'careless', state, code: 'code', error: null, issuer: null, handle }
    const held = { accessToken: null, refreshToken: null, visitor, device: null, challenge: null }
    return finishOAuth(ports, { ...returned, ...held })
  }
  return { ports, comeAs }
}

describe('an id that a provider tells', () => {
  test.each([
    ['nothing', ''],
    ['a blank', ' '],
    ['one with a blank before it', ' 42'],
    ['one with a blank behind it', '42 '],
    ['one with a line break behind it', '42\n'],
    ['one with a zero', '4\u00002'],
    ['one with what nobody sees', '4\u200b2'],
    ['half a character', '4\ud8002'],
    ['256 characters', 'x'.repeat(256)],
  ])('%s is nobody: a database might take it for somebody else’s', async (_, id) => {
    const { ports, comeAs } = await careless()
    const { landing, result } = await comeAs({ id })
    expect([landing, result]).toEqual([{ to: 'failure', returnTo: null, code: 'oauth_failed', mailSent: null }, null])
    const [event] = await ports.audit.list({ event: 'login', limit: 1 })
    expect(event).toMatchObject({ outcome: 'failure', detail: { reason: 'oauth_failed' } })
  })

  test.each(['4', '4 2', 'x'.repeat(255), 'é|42'])('%s is somebody', async (id) => {
    const { comeAs } = await careless()
    expect((await comeAs({ id })).landing).toEqual({ to: 'identity', returnTo: null, code: null, mailSent: null })
  })
})

describe('an address that a provider tells', () => {
  test('ATK-086 joins and makes no account unless it says that it has confirmed it, however much its word counts', async () => {
    const { ports, comeAs } = await careless()
    const said = { email, emailVerified: null, authoritative: true }
    expect((await comeAs(said)).landing).toMatchObject({ to: 'identity' })
    expect(await ports.users.findByEmail(email)).toBeNull()

    const user = newUser(ports, { email, canonical: email, name: null, fields: {} })
    const event = {
      id: ports.random.id(),
      atMs: ports.clock.nowMs(),
      event: 'account_created',
      outcome: 'success',
    } as const
    const facts = { userId: user.id, sessionId: null, ip: null, userAgent: null, actor: null, detail: {} }
    await ports.users.create({ ...user, emailVerified: true }, { ...event, ...facts })
    expect((await comeAs(said)).landing).toMatchObject({ to: 'failure', code: 'oauth_link_required' })
    expect((await ports.users.findByEmail(email))?.identities).toEqual([])

    expect((await comeAs({ ...said, emailVerified: true, authoritative: false })).landing).toMatchObject({
      code: 'oauth_link_required',
    })
    expect((await comeAs({ ...said, emailVerified: true })).landing).toMatchObject({ to: 'success' })
  })
})

test('a login of an account that has yet to confirm its address leads to a page that says whether a mail was sent', async () => {
  const { ports, comeAs } = await careless()
  const user = newUser(ports, { email, canonical: email, name: null, fields: {} })
  const linkedAt = ports.clock.now()
  const identity = { provider: 'careless', subject: ada.id, userId: user.id, linkedAt }
  const created = { ...user, identities: [{ provider: 'careless', linkedAt }] }
  await ports.identities.create(created, identity, auditEvent(ports, 'account_created', visitor, { userId: user.id }))

  const page = { settings: { redirectFailUrl: '/auth/login', redirectSuccessUrl: '/' }, authPath: '/auth' }
  const queries: string[] = []
  for (let nth = 0; nth < 4; nth += 1) queries.push(landingUrl(page, 'careless', (await comeAs({})).landing))
  const url = '/auth/login?error=email_not_verified&provider=careless&mail='
  expect(queries).toEqual(['sent', 'sent', 'sent', 'none'].map((mail) => url + mail))
})
