import type { Claims, ClientData, Demands, RelyingParty, SignedResponse } from '../../model/factors/webauthn.js'
import { isOfSite, readAuthenticatorData } from './authenticator-part.js'
import { readClientData } from './browser-part.js'
import { loadLibrary } from './library.js'
import { algorithms, createOptions } from './options.js'
import { algorithmOf, isSound } from './public-key.js'
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
