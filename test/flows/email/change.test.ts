import { expect, onTestFinished, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { changeEmail } from '../../../src/flows/email/change.js'
import { confirmEmail } from '../../../src/flows/email/confirm.js'
import { newUser } from '../../../src/flows/registration/register.js'
import { newSession, openSession } from '../../../src/flows/session/open-session.js'
import type { SessionPrincipal } from '../../../src/model/principal.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Ports } from '../../../src/ports.js'
import type { AccountStep } from '../../../src/store/users.js'
import { RotationWorld } from '../../support/rotation-world.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }
const browser = { mode: 'cookie', visitor, device: null } as const
const email = 'ada@example.test'
const elsewhere = 'thief@evil.test'

/** An account with a session, over a real store. */
async function signedIn() {
  const world = await RotationWorld.create()
  onTestFinished(() => world.store.close())
  const { ports } = world.process(0)
  const fresh = newUser(ports, { email, canonical: email, name: null, fields: {} })
  await ports.users.create({ ...fresh, emailVerified: true }, anEvent(ports, fresh.id))
  const { user, session } = await openSession(ports, { user: fresh, method: 'otp', amr: ['otp'], ...browser })
  const { id: userId, roles } = user
  const { id: sessionId, amr, authTime } = session
  const principal: SessionPrincipal = {
    kind: 'session',
    userId,
    sessionId,
    email,
    emailVerified: true,
    roles,
    amr,
    authTime,
    actor: null,
  }
  return { ports, user, principal }
}

function anEvent(ports: Ports, userId: string) {
  const at = {
    id: ports.random.id(),
    atMs: ports.clock.nowMs(),
    ip: null,
    userAgent: null,
    actor: null,
    sessionId: null,
  }
  return { ...at, userId, event: 'account_created', outcome: 'success', detail: {} } as const
}

function aStep(ports: Ports, userId: string): AccountStep {
  return { until: ports.clock.now() + 900, audit: anEvent(ports, userId) }
}

/** Asks for a change, while `meanwhile` commits after the password was compared; the secret of the mailed link. */
async function askedWhile(
  { ports, principal }: { ports: Ports; principal: SessionPrincipal },
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  let token = ''
  const compose: Ports['mails']['compose'] = (name, to, values) => {
    if (name === 'email-change') token = new URL(String(values.url)).searchParams.get('token') ?? ''
    return ports.mails.compose(name, to, values)
  }
  const findByEmail: Ports['users']['findByEmail'] = async (address) => {
    await meanwhile()
    return ports.users.findByEmail(address)
  }
  const slow = { ...ports, mails: { ...ports.mails, compose }, users: { ...ports.users, findByEmail } }
  await changeEmail(slow, principal, { newEmail: elsewhere, password: null, visitor, device: null })
  return token
}

type Step = (ports: Ports, user: UserRecord, principal: SessionPrincipal) => Promise<unknown>

const steps: [string, Step][] = [
  [
    'a change of the password',
    (ports, user, { sessionId }) => {
      const session = newSession(ports, { user, amr: ['otp'], mode: 'cookie', visitor })
      const change = { userId: user.id, version: user.version, fromSessionId: sessionId, passwordHash: 'new', session }
      return ports.users.changePassword(change, aStep(ports, user.id))
    },
  ],
  [
    'a password that the application sets',
    (ports, user) => ports.users.setPassword(user.id, 'new', aStep(ports, user.id)),
  ],
  [
    'a shutting and opening of the account',
    async (ports, user) => {
      await ports.users.disable(user.id, { at: ports.clock.now(), until: null, reason: null }, aStep(ports, user.id))
      await ports.users.enable(user.id, ports.clock.now(), aStep(ports, user.id))
    },
  ],
]

test.each(steps)('ATK-035 a change asked for just before %s does not survive it', async (_name, step) => {
  const scene = await signedIn()
  const { ports, user, principal } = scene
  const token = await askedWhile(scene, () => step(ports, user, principal))
  expect(token).not.toBe('')
  const confirmed = confirmEmail(ports, { token, caller: null, mode: 'cookie', visitor })
  await expect(confirmed).rejects.toMatchObject({ code: 'invalid_token' })
  expect((await ports.users.findById(user.id))?.email).toBe(email)
})

test('a change during which nothing else happens to the account goes through', async () => {
  const scene = await signedIn()
  const token = await askedWhile(scene, async () => {})
  await confirmEmail(scene.ports, { token, caller: null, mode: 'cookie', visitor })
  expect((await scene.ports.users.findById(scene.user.id))?.email).toBe(elsewhere)
})

test.each([
  ['that nobody has shown yet names the one before, which its holder is known to have', false, 0],
  ['that was shown names it', true, 1],
])('the fresh access token of a session at a rotation %s', async (_which, shown, counter) => {
  const scene = await signedIn()
  const { ports, user, principal } = scene
  const token = await askedWhile(scene, async () => {})
  const { sessionId } = principal
  const now = ports.clock.now()
  const times = { issuedAt: now, expiresAt: now + 1_000, provenForMs: 30_000, now }
  await ports.sessions.rotate({ sessionId, userId: user.id, mode: 'cookie', counter: 0, ...times })
  if (shown) await ports.sessions.prove([{ sessionId, counter: 1, ageMs: 0 }])

  const issued = await confirmEmail(ports, { token, caller: principal, mode: 'cookie', visitor })
  expect(ports.tokens.checkAccess(issued?.accessToken ?? '')).toMatchObject({ sid: sessionId, ctr: counter })
})

test('a store that fails once the address has changed costs the fresh access token, and not the answer', async () => {
  const scene = await signedIn()
  const { ports, user, principal } = scene
  const token = await askedWhile(scene, async () => {})
  const find = async () => {
    throw new AuthError('store_unavailable')
  }
  const failing = { ...ports, sessions: { ...ports.sessions, find } }
  expect(await confirmEmail(failing, { token, caller: principal, mode: 'cookie', visitor })).toBeNull()
  expect((await ports.users.findById(user.id))?.email).toBe(elsewhere)
})
