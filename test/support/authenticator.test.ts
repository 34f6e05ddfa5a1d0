import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  type VerifiedRegistrationResponse,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type WebAuthnCredential,
} from '@simplewebauthn/server'
import { expect, test } from 'vitest'
import { createAuthenticator, type ForgedRegistration, type Forgery } from './authenticator.js'

const origin = 'https://app.example.com'
const rpId = 'example.com'
const challenge = Buffer.from('a challenge of the server').toString('base64url')
const creation = {
  rp: { id: rpId, name: 'Example' },
  user: { id: Buffer.from('handle').toString('base64url'), name: 'alice@example.com', displayName: 'Alice' },
  challenge,
  pubKeyCredParams: [],
}
const request = { challenge, rpId }

test.each(['ES256', 'EdDSA', 'RS256'] as const)('%s: registers a passkey and signs with it', async (algorithm) => {
  const phone = createAuthenticator({ origin, algorithm })
  const { registrationInfo: info } = await verifyRegistration(phone.register(creation))
  expect(info).toMatchObject({ fmt: 'none', userVerified: true, credentialDeviceType: 'multiDevice' })
  expect(info?.credential).toMatchObject({ id: phone.passkeys[0]?.id, counter: 0, transports: ['internal', 'hybrid'] })

  const signed = phone.sign(request)
  expect(signed.response.userHandle).toBe(creation.user.id)
  expect(await verified(signed, info?.credential)).toMatchObject({
    verified: true,
    authenticationInfo: { newCounter: 0, userVerified: true, credentialBackedUp: true, origin },
  })
})

test('a device-bound passkey counts, and says that it is one', async () => {
  const key = createAuthenticator({ origin, synced: false, aaguid: 'ee882879-721c-4913-9775-3dfcce97072a' })
  const { registrationInfo: info } = await verifyRegistration(key.register(creation))
  expect(info).toMatchObject({
    credentialDeviceType: 'singleDevice',
    credentialBackedUp: false,
    aaguid: 'ee882879-721c-4913-9775-3dfcce97072a',
  })
  for (const newCounter of [1, 2]) {
    expect(await verified(key.sign(request), info?.credential)).toMatchObject({ authenticationInfo: { newCounter } })
  }
})

test('it signs with a passkey of the options, and has none for another site', () => {
  const phone = createAuthenticator({ origin })
  const first = phone.register(creation)
  const second = phone.register(creation)
  expect(phone.sign(request).id).toBe(second.id)
  expect(phone.sign({ ...request, allowCredentials: [{ id: first.id, type: 'public-key' }] }).id).toBe(first.id)
  expect(() => phone.sign({ challenge, rpId: 'example.net' })).toThrow('NotAllowedError')
})

test.each<[string, Forgery, RegExp]>([
  ['origin', { origin: 'https://evil.example.com' }, /origin/],
  ['type', { type: 'webauthn.create' }, /type/],
  ['challenge', { challenge: 'YQ' }, /challenge/],
  ['RP id', { rpId: 'example.net' }, /RP ID/],
  ['UP', { userPresent: false }, /present/],
  ['UV', { userVerified: false }, /verification/],
  ['BS without BE', { synced: false, backedUp: true }, /backed up/],
  ['topOrigin', { topOrigin: 'https://evil.example.net', crossOrigin: true }, /cross-origin|top.?origin/i],
  // A random signature may read the same in base64 and in base64url. This one never does.
  ['base64', { encode: (bytes) => bytes.toString('base64'), signature: Buffer.alloc(64, 0xfb) }, /base64url/i],
  ['a key twice', { clientData: (text) => text.replace('{', '{"type":"webauthn.get","type":"x",') }, /verif|^$/],
])('%s can be forged, and the judge sees it', async (name, forged, message) => {
  const phone = createAuthenticator({ origin })
  // These bytes read differently in base64 and in base64url.
  const registered = phone.register(creation, { credentialId: Buffer.alloc(32, 0xfb) })
  const { registrationInfo } = await verifyRegistration(registered)
  const outcome = verified(phone.sign(request, forged), registrationInfo?.credential)
  // Of a key that comes twice the last one counts, so the forged text says what an honest one says.
  if (name === 'a key twice') expect(await outcome).toMatchObject({ verified: true })
  else await expect(outcome).rejects.toThrow(message)
})

test('signature, user handle, counter and passkey can be forged', async () => {
  const phone = createAuthenticator({ origin })
  const { registrationInfo: info } = await verifyRegistration(phone.register(creation))
  const [mine] = phone.passkeys
  phone.register(creation)
  const [, other] = phone.passkeys
  expect(await verified(phone.sign(request, { credential: mine, counter: 7 }), info?.credential)).toMatchObject({
    authenticationInfo: { newCounter: 7 },
  })
  expect(phone.sign(request, { userHandle: null }).response.userHandle).toBeUndefined()
  expect(phone.sign(request, { userHandle: 'x' }).response.userHandle).toBe('x')
  const broken = phone.sign(request, { credential: mine, signature: Buffer.alloc(8) })
  await expect(verified(broken, info?.credential)).rejects.toThrow()
  expect(
    await verified({ ...phone.sign(request, { credential: other }), id: mine?.id ?? '' }, info?.credential).catch(
      () => null,
    ),
  ).not.toMatchObject({ verified: true })
})

test('registrations carry a statement, an id of any size and the algorithm of another key', async () => {
  const phone = createAuthenticator({ origin })
  const registered = async (forged: ForgedRegistration) =>
    (await verifyRegistration(phone.register(creation, forged))).registrationInfo
  expect(await registered({ attestation: 'self' })).toMatchObject({ fmt: 'packed' })
  // A certificate that no authority vouches for is no fault of its form: the judge must ask for it.
  const certified = phone.register(creation, { attestation: 'x5c' })
  expect(Buffer.from(certified.response.attestationObject, 'base64url').includes('x5c')).toBe(true)
  expect((await registered({ credentialId: Buffer.alloc(1023, 7) }))?.credential.id).toHaveLength(1364)
  expect(await registered({ userVerified: false, userPresent: false }).catch(String)).toContain('present')
  expect(await registered({ saysAlgorithm: -65_535 }).catch(String)).toContain('alg')
})

function verifyRegistration(response: RegistrationResponseJSON): Promise<VerifiedRegistrationResponse> {
  return verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    supportedAlgorithmIDs: [-8, -7, -257],
  })
}

async function verified(response: AuthenticationResponseJSON, credential: WebAuthnCredential | undefined) {
  if (!credential) throw new Error('nothing is registered')
  return verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential,
  })
}
