import { describe, expect, test } from 'vitest'
import { addPasskey } from '../../../src/flows/passkeys/add.js'
import { startPasskey } from '../../../src/flows/passkeys/challenge.js'
import { removePasskey } from '../../../src/flows/passkeys/list.js'
import { openSession } from '../../../src/flows/session/open-session.js'
import type { SessionPrincipal } from '../../../src/model/principal.js'
import type { Ports } from '../../../src/ports.js'
import { ada } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { liveWorld } from '../../support/live.js'
import { addPasskey as addInBrowser, origin } from '../../support/passkey-browser.js'
import { enrol } from '../../support/totp.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }
const browser = { mode: 'cookie', visitor, device: null } as const
const refusal = { code: 'recent_login_required', status: 403 }

/** An account with an authenticator app and a passkey, and a session of it that has proved these. */
async function signedIn(amr: readonly string[]) {
  const world = await liveWorld()
  const owner = world.client()
  await owner.signUp(ada)
  const device = createAuthenticator({ origin })
  const { body } = await addInBrowser(owner, device)
  await enrol(owner, ada.password, world.runtime.clock)
  const user = await world.ports.users.findByEmail(ada.email)
  if (!user) throw new Error('no such user')
  const { session } = await openSession(world.ports, { user, method: 'password', amr, ...browser })
  return { ports: world.ports, principal: await principalOf(world.ports, session.id), passkeyId: body.passkey.id }
}

async function principalOf(ports: Ports, sessionId: string): Promise<SessionPrincipal> {
  const state = await ports.sessions.find(sessionId)
  if (!state) throw new Error('no such session')
  const { id: userId, email, emailVerified, roles } = state.user
  const { amr, authTime } = state.session
  return { kind: 'session', userId, sessionId, email, emailVerified, roles, amr, authTime, actor: null }
}

describe('a session by password alone, of an account with an authenticator app', () => {
  test.each([
    ['a recent sign-in', null, false],
    ['the password', ada.password, false],
    ['an upgrade', null, true],
  ] as const)('starts no passkey by %s', async (_, password, upgrade) => {
    const { ports, principal } = await signedIn(['pwd'])
    const input = { password, upgrade, visitor, device: null }
    await expect(startPasskey(ports, principal, input)).rejects.toMatchObject(refusal)
  })

  test('removes none either', async () => {
    const { ports, principal, passkeyId } = await signedIn(['pwd'])
    const input = { id: passkeyId, password: ada.password, ...browser }
    await expect(removePasskey(ports, principal, input)).rejects.toMatchObject(refusal)
  })

  test('has no challenge that a new passkey could answer', async () => {
    const { ports, principal } = await signedIn(['pwd'])
    const other = await signedIn(['pwd', 'otp', 'mfa'])
    const input = { password: null, upgrade: false, visitor, device: null }
    const { challenge } = await startPasskey(other.ports, other.principal, input)
    const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.create', challenge, origin })).toString('base64url')
    const response = { credentialId: 'AAAA', clientData, attestation: 'AAAA', transports: [] }
    const adding = addPasskey(ports, principal, { response, name: null, visitor })
    await expect(adding).rejects.toMatchObject({ code: 'invalid_token' })
  })
})

test('a session that has proved the second factor starts one', async () => {
  const { ports, principal } = await signedIn(['pwd', 'otp', 'mfa'])
  const input = { password: null, upgrade: false, visitor, device: null }
  expect(await startPasskey(ports, principal, input)).toMatchObject({ rp: { id: 'localhost' } })
})
