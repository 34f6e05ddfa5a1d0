import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { createBase64urlReader } from '../../lib/base64url.js'
import { sha256 } from '../../lib/digest.js'
import { readFields, textIn } from '../../lib/json-fields.js'
import type {
  Claims,
  ClientData,
  CredentialDescriptor,
  Demands,
  KnownCredential,
  RelyingParty,
  SignedResponse,
} from '../../model/factors/webauthn.js'
import { loadLibrary } from './library.js'
import type { Webauthn } from './webauthn.js'

/**
 * Checks by our own hand what the library leaves open, and the signature by the library. It gets no counter: it would judge it before the
 * signature, so that a forger could cause its error.
 */
export function createWebauthn(): Webauthn {
  return {
    ...createOptions,
    readClientData,
    readCreation,
    readClaims,
    readKey,
    isSigned,
  }
}

/** A P-256 key whose private half was thrown away. */
const unknownKey =
  'pQECAyYgASFYIPBNbNsqztg7WzQSrDVTktKYtiw0CK-RfZaTbjFxNIxVIlggpyzTP7D76xt2N34YqHNvL0jfkKfOWA0UwaNcy9PerWA'

const readCreation: Webauthn['readCreation'] = async (response, { site, clientData, demands }) => {
  if (!isFromSite(clientData, 'webauthn.create', site)) return null
  const library = await loadLibrary()
  return nullIfRefused(async () => {
    const attestation = library.decodeAttestationObject(bytesOf(response.attestation))
    const data = claimsOf(attestation.get('authData'), site, demands)
    if (!data || !isWithoutCertificate(attestation.get('fmt'), attestation.get('attStmt'))) return null
    const { verified, registrationInfo } = await library.verifyRegistrationResponse({
      response: {
        ...envelopeOf(response.credentialId),
        response: { clientDataJSON: response.clientData, attestationObject: response.attestation },
      },
      expectedChallenge: clientData.challenge,
      expectedOrigin: [...site.origins],
      expectedRPID: site.rpId,
      requireUserPresence: demands.present,
      requireUserVerification: demands.verified,
      supportedAlgorithmIDs: [...algorithms],
    })
    if (!verified || registrationInfo.credential.id !== response.credentialId) return null
    const { credential, aaguid } = registrationInfo
    const key = library.decodeCredentialPublicKey(credential.publicKey)
    const algorithm = algorithmOf(key)
    if (algorithm === undefined || !isSound(key)) return null
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      algorithm,
      signCount: credential.counter,
      synced: data.synced,
      backedUp: data.backedUp,
      aaguid,
    }
  })
}

const readClaims: Webauthn['readClaims'] = (response, { site, clientData, demands }) => {
  if (!isFromSite(clientData, 'webauthn.get', site)) return null
  return claimsOf(bytesOf(response.authenticatorData), site, demands)
}

const readKey: Webauthn['readKey'] = async (publicKey) => {
  const library = await loadLibrary()
  return nullIfRefused(async () => {
    const key = library.decodeCredentialPublicKey(bytesOf(publicKey))
    return isSound(key) ? (algorithmOf(key) ?? null) : null
  })
}

const isSigned: Webauthn['isSigned'] = async (response, { site, clientData, publicKey }) => {
  const library = await loadLibrary()
  const signed = await nullIfRefused(async () => {
    const { verified } = await library.verifyAuthenticationResponse({
      response: { ...envelopeOf(response.credentialId), response: signedPart(response) },
      expectedChallenge: clientData.challenge,
      expectedOrigin: [...site.origins],
      expectedRPID: site.rpId,
      credential: { id: response.credentialId, publicKey: bytesOf(publicKey ?? unknownKey), counter: 0 },
      // The flags were judged before, by what the step demands.
      advancedFIDOConfig: { userVerification: 'discouraged' },
    })
    return verified
  })
  return publicKey !== null && signed === true
}

function isFromSite(made: ClientData, type: string, { origins }: RelyingParty): boolean {
  return made.type === type && origins.includes(made.origin) && !made.crossOrigin
}

/** A credential that is backed up but cannot be is a contradiction (WebAuthn §6.1.3). */
function claimsOf(bytes: Uint8Array, { rpId }: RelyingParty, demands: Demands): Claims | null {
  const data = readAuthenticatorData(bytes)
  if (!data || !isOfSite(data, rpId)) return null
  if (demands.present && !data.userPresent) return null
  if (demands.verified && !data.userVerified) return null
  if (data.backedUp && !data.synced) return null
  const { userVerified, synced, backedUp, signCount } = data
  return { userVerified, synced, backedUp, signCount }
}

/** We ask for no attestation. `packed` without a certificate is signed by the new key itself and says nothing more. */
function isWithoutCertificate(format: unknown, statement: { get(name: 'x5c'): unknown }): boolean {
  return format === 'none' || (format === 'packed' && statement.get('x5c') === undefined)
}

function envelopeOf(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const
}

function signedPart({ clientData, authenticatorData, signature }: SignedResponse) {
  return { clientDataJSON: clientData, authenticatorData, signature }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'base64url'))
}

/** The library throws for what it refuses, and for what it cannot read. */
async function nullIfRefused<T>(check: () => Promise<T | null>): Promise<T | null> {
  try {
    return await check()
  } catch {
    return null
  }
}

/** The head of the authenticator data (WebAuthn §6.1). What may follow is left to the library. */
interface AuthenticatorData {
  /** SHA-256, base64url. */
  rpIdHash: string
  userPresent: boolean
  userVerified: boolean
  /** BE */
  synced: boolean
  /** BS */
  backedUp: boolean
  signCount: number
}

const headBytes = 37
const flagsAt = 32
const countAt = 33

/** Null for data that are too short. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.length < headBytes) return null
  const data = Buffer.from(bytes)
  const flags = data.readUInt8(flagsAt)
  return {
    rpIdHash: data.subarray(0, flagsAt).toString('base64url'),
    userPresent: (flags & 0x01) !== 0,
    userVerified: (flags & 0x04) !== 0,
    synced: (flags & 0x08) !== 0,
    backedUp: (flags & 0x10) !== 0,
    signCount: data.readUInt32BE(countAt),
  }
}

function isOfSite(data: AuthenticatorData, rpId: string): boolean {
  return data.rpIdHash === sha256(rpId)
}

/** Origin and challenge are short; the rest leaves room for what browsers add. */
const longest = 8_192

const decode = createBase64urlReader(longest)

/** Null for a text in another than the canonical spelling, and for one that holds no client data. */
function readClientData(encoded: string): ClientData | null {
  return readFields(decode(encoded), (fields) => ({
    type: textIn(fields, 'type'),
    challenge: textIn(fields, 'challenge'),
    origin: textIn(fields, 'origin'),
    // Not every browser names the top origin, so a frame of another origin is refused by each sign of one.
    crossOrigin: (fields.crossOrigin ?? false) !== false || fields.topOrigin !== undefined,
  }))
}

/** EdDSA, ES256 and RS256. Newer ones are left out: a key that one version of Node makes must work on another. */
const algorithms: readonly number[] = [-8, -7, -257]

const createOptions: Pick<Webauthn, 'creationOptions' | 'requestOptions'> = {
  creationOptions: ({ site, user, challenge, seconds, exclude, unasked }) => ({
    rp: { id: site.rpId, name: site.rpName },
    user,
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: seconds * 1_000,
    excludeCredentials: exclude.map(toDescriptor),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: unasked ? 'preferred' : 'required',
    },
    attestation: 'none',
  }),

  requestOptions: ({ site, challenge, seconds, allow, userVerification }) => ({
    challenge,
    timeout: seconds * 1_000,
    rpId: site.rpId,
    allowCredentials: allow.map(toDescriptor),
    userVerification,
  }),
}

function toDescriptor({ credentialId, transports }: KnownCredential): CredentialDescriptor {
  return { type: 'public-key', id: credentialId, transports }
}

/** A COSE key as the library reads it: its values by label (RFC 9052 §7.1, RFC 9053 §7). */
interface CoseKey {
  get(label: number): unknown
}

/** The label `alg`. */
const algorithmLabel = 3

/** The least modulus of an RSA key, in bits (RFC 8812 §2). */
const leastRsaBits = 2_048

/** The COSE algorithm that the key names. */
function algorithmOf(key: CoseKey): number | undefined {
  const algorithm = key.get(algorithmLabel)
  return typeof algorithm === 'number' ? algorithm : undefined
}

/**
 * Whether Node takes the key for the algorithm that it names: a point of the curve, and no short RSA key.
 *
 * @throws {Error} for a key that is none
 */
function isSound(key: CoseKey): boolean {
  const jwk = toJwk(key)
  if (jwk === null) return false
  const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
  return jwk.kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= leastRsaBits
}

/** Of the algorithms that a registration takes. */
function toJwk(key: CoseKey): JsonWebKey | null {
  const [type, first, second, third] = [1, -1, -2, -3].map((label) => key.get(label))
  const algorithm = algorithmOf(key)
  if (algorithm === -7 && type === 2 && first === 1) {
    return { kty: 'EC', crv: 'P-256', x: textOf(second), y: textOf(third) }
  }
  if (algorithm === -8 && type === 1 && first === 6) return { kty: 'OKP', crv: 'Ed25519', x: textOf(second) }
  if (algorithm === -257 && type === 3) return { kty: 'RSA', n: textOf(first), e: textOf(second) }
  return null
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new TypeError('A part of a key is bytes.')
  return Buffer.from(value).toString('base64url')
}
