import { describe, expect, test } from 'vitest'
import { createWebauthn } from '../../src/tokens/webauthn/ceremonies.js'
import { readVectors } from '../support/vectors.js'

interface Vector {
  name: string
  rpId: string
  origin: string
  challenge: string
  credentialId: string
  clientDataJSON: string
  expect: 'accepted' | 'unverified' | 'refused'
}

interface Vectors {
  registrations: (Vector & { attestationObject: string })[]
  authentications: (Vector & { publicKey: string; authenticatorData: string; signature: string })[]
}

const { registrations, authentications } = readVectors<Vectors>('simplewebauthn')
const webauthn = createWebauthn()
const demanding = { present: true, verified: true }
const lax = { present: false, verified: false }

function expectedOf({ rpId, origin, clientDataJSON }: Vector) {
  const clientData = webauthn.readClientData(clientDataJSON)
  if (!clientData) throw new Error('the client data cannot be read')
  return { site: { rpId, rpName: rpId, origins: [origin] }, clientData }
}

describe('responses of real authenticators', () => {
  test.each(registrations)('a registration: $name', async (vector) => {
    const { credentialId, clientDataJSON: clientData, attestationObject: attestation, expect: outcome } = vector
    const response = { credentialId, clientData, attestation, transports: [] }
    const expected = expectedOf(vector)
    expect(expected.clientData.challenge).toBe(vector.challenge)
    const [strict, any] = await Promise.all(
      [demanding, lax].map((demands) => webauthn.readCreation(response, { ...expected, demands })),
    )
    expect(strict !== null).toBe(outcome === 'accepted')
    expect(any !== null).toBe(outcome !== 'refused')
    if (any) expect(any).toMatchObject({ credentialId, algorithm: -7 })
  })

  test.each(authentications)('a sign-in: $name', async (vector) => {
    const { credentialId, clientDataJSON: clientData, authenticatorData, signature, expect: outcome } = vector
    const response = { credentialId, clientData, authenticatorData, signature, userHandle: null }
    const expected = expectedOf(vector)
    expect(webauthn.readClaims(response, { ...expected, demands: demanding }) !== null).toBe(
      outcome === 'accepted' || outcome === 'refused',
    )
    expect(webauthn.readClaims(response, { ...expected, demands: lax })).not.toBeNull()
    const isSigned = await webauthn.isSigned(response, { ...expected, publicKey: vector.publicKey })
    expect(isSigned).toBe(outcome !== 'refused')
    expect(await webauthn.isSigned(response, { ...expected, publicKey: null })).toBe(false)
  })

  test('are of another site for every other RP id and origin', async () => {
    for (const vector of authentications) {
      const { credentialId, clientDataJSON: clientData, authenticatorData, signature } = vector
      const response = { credentialId, clientData, authenticatorData, signature, userHandle: null }
      const { site, clientData: made } = expectedOf(vector)
      for (const other of [{ rpId: 'evil.test' }, { origins: ['https://evil.test'] }]) {
        const expected = { site: { ...site, ...other }, clientData: made, demands: lax }
        expect(webauthn.readClaims(response, expected)).toBeNull()
      }
    }
  })
})
