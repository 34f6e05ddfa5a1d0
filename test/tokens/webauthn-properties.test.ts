import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWebauthn, readAuthenticatorData } from '../../src/tokens/webauthn/ceremonies.js'
import { type Cbor, encodeCbor } from '../support/authenticator/cbor.js'
import { createAuthenticator, type ForgedRegistration } from '../support/authenticator.js'

const webauthn = createWebauthn()
const origin = 'http://localhost:3000'
const site = { rpId: 'localhost', rpName: 'Test', origins: [origin] }
const lax = { present: false, verified: false }
const challenge = 'A'.repeat(43)

const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((given) => Buffer.from(given))
const cbor: fc.Arbitrary<Cbor> = fc.letrec<{ value: Cbor }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: -65_536, max: 65_536 }),
    fc.boolean(),
    fc.string({ maxLength: 8 }),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom('fmt', 'attStmt', 'authData', 'x5c')),
          tie('value'),
        ),
        {
          maxLength: 5,
        },
      )
      .map((entries): Cbor => new Map(entries)),
  ),
})).value

/** Texts that get as far as the parsers. */
const encoded = (given: fc.Arbitrary<Buffer>) => given.map((content) => content.toString('base64url'))

const creationOptions = {
  challenge,
  rp: { id: 'localhost', name: 'Test' },
  user: { id: 'AAAA', name: 'ada', displayName: 'Ada' },
  pubKeyCredParams: [],
}

function registered(forged: ForgedRegistration = {}) {
  const device = createAuthenticator({ origin })
  const { id, response } = device.register(creationOptions, forged)
  return { device, id, clientData: response.clientDataJSON, attestation: response.attestationObject }
}

function read(clientData: string) {
  const made = webauthn.readClientData(clientData)
  if (!made) throw new Error('the client data cannot be read')
  return made
}

/** The bytes with one of them changed. */
function changed(text: string, { at, by }: { at: number; by: number }): string {
  const content = Buffer.from(text, 'base64url')
  const index = at % content.length
  content[index] = (content[index] ?? 0) ^ by
  return content.toString('base64url')
}

/** Tags, lengths and leading zeros in the DER of a signature. The library reads the two numbers, whatever frames them. */
function isFrame({ at }: { at: number }, signature: string): boolean {
  const content = Buffer.from(signature, 'base64url')
  const second = 4 + (content[3] ?? 0)
  const zeros = [4, second + 2].filter((index) => content[index] === 0)
  return [0, 1, 2, 3, second, second + 1, ...zeros].includes(at % content.length)
}

const change = fc.record({ at: fc.nat(4_096), by: fc.integer({ min: 1, max: 255 }) })

describe('whatever bytes come', () => {
  test('authenticator data are read, or null when too short', () => {
    fc.assert(
      fc.property(bytes(200), (data) => {
        const found = readAuthenticatorData(data)
        expect(found === null).toBe(data.length < 37)
        if (found) expect(found.signCount).toBe(data.readUInt32BE(33))
      }),
    )
  })

  test('client data are four fields of the right types, or null', () => {
    const texts = fc.oneof(
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ type: fc.anything(), challenge: fc.anything(), origin: fc.anything() })
        .map((value) => Buffer.from(JSON.stringify(value))),
      bytes(300),
    )
    fc.assert(
      fc.property(fc.oneof(encoded(texts), fc.string()), (text) => {
        const found = webauthn.readClientData(text)
        if (!found) return
        expect([found.type, found.challenge, found.origin].map((value) => typeof value)).toEqual([
          'string',
          'string',
          'string',
        ])
        expect(typeof found.crossOrigin).toBe('boolean')
      }),
    )
  })

  test('an attestation of them is refused, and never fails', async () => {
    const { id, clientData } = registered()
    const attestations = encoded(fc.oneof(bytes(300), cbor.map(encodeCbor)))
    await fc.assert(
      fc.asyncProperty(attestations, async (attestation) => {
        const response = { credentialId: id, clientData, attestation, transports: [] }
        const expected = { site, clientData: read(clientData), demands: lax }
        expect(await webauthn.readCreation(response, expected)).toBeNull()
      }),
    )
  })

  test('a key of them verifies no signature, and never fails', async () => {
    const { device } = registered()
    const { id, response } = device.sign({ challenge, rpId: 'localhost' })
    const { clientDataJSON: clientData, authenticatorData, signature } = response
    const signed = { credentialId: id, clientData, authenticatorData, signature, userHandle: null }
    await fc.assert(
      fc.asyncProperty(encoded(fc.oneof(bytes(120), cbor.map(encodeCbor))), async (publicKey) => {
        expect(await webauthn.isSigned(signed, { site, clientData: read(clientData), publicKey })).toBe(false)
      }),
    )
  })
})

describe('one changed byte', () => {
  test('of a new credential gives null, or a credential with the id that was sent', async () => {
    const { id, clientData, attestation } = registered()
    await fc.assert(
      fc.asyncProperty(change, async (difference) => {
        const response = { credentialId: id, clientData, attestation: changed(attestation, difference), transports: [] }
        const found = await webauthn.readCreation(response, { site, clientData: read(clientData), demands: lax })
        if (found) expect(found.credentialId).toBe(id)
      }),
    )
  })

  test.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'of a response by a key of %s voids its signature',
    async (algorithm) => {
      const { device, clientData, attestation, id } = registered({ algorithm })
      const expected = { site, clientData: read(clientData), demands: lax }
      const made = await webauthn.readCreation({ credentialId: id, clientData, attestation, transports: [] }, expected)
      const { response } = device.sign({ challenge, rpId: 'localhost' })
      const sound = {
        credentialId: id,
        clientData: response.clientDataJSON,
        authenticatorData: response.authenticatorData,
        signature: response.signature,
        userHandle: null,
      }
      const by = { site, clientData: read(sound.clientData), publicKey: made?.publicKey ?? '' }
      expect(await webauthn.isSigned(sound, by)).toBe(true)
      const part = fc.constantFrom('clientData', 'authenticatorData', 'signature')
      await fc.assert(
        fc.asyncProperty(part, change, async (name, difference) => {
          fc.pre(name !== 'signature' || algorithm !== 'ES256' || !isFrame(difference, sound.signature))
          const forged = { ...sound, [name]: changed(sound[name], difference) }
          expect(await webauthn.isSigned(forged, by)).toBe(false)
        }),
      )
    },
  )
})
