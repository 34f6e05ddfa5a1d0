import { randomBytes } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { type Attestation, attestationObject } from './authenticator/attestation.js'
import { type CoseKey, type CoseName, coseKey } from './authenticator/cose.js'
import { type AuthenticatorData, authenticatorData, sha256 } from './authenticator/signed-bytes.js'

/** What a browser and its authenticator say otherwise than they should. Each field takes the place of the honest one. */
export interface Forgery extends Partial<AuthenticatorData> {
  origin?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  topOrigin?: string
  /** The text of the client data, such as one with a key twice. */
  clientData?(text: string): string
  /** The text form of every binary value: base64url without padding. */
  encode?(bytes: Buffer): string
  /** Null leaves it out. */
  userHandle?: string | null
  /** Signs with that passkey, whether it was asked for or not. */
  credential?: HeldPasskey | undefined
  signature?: Buffer
}

export interface ForgedRegistration extends Forgery {
  algorithm?: CoseName
  /** The COSE algorithm that the public key names. */
  saysAlgorithm?: number
  attestation?: Attestation
  credentialId?: Buffer
}

export interface HeldPasskey {
  id: string
  rpId: string
  /** As given at the registration: base64url. */
  userHandle: string
  counter: number
  key: CoseKey
}

export interface AuthenticatorOptions {
  /** The origin of the page. */
  origin: string
  algorithm?: CoseName
  /** Whether passkeys are synchronised, as phones do; their counter stays 0. Default: true. */
  synced?: boolean
  aaguid?: string
}

export interface Authenticator {
  /** What it holds, the oldest first. */
  passkeys: HeldPasskey[]
  /** What `navigator.credentials.create` returns, as JSON. */
  register(options: PublicKeyCredentialCreationOptionsJSON, forged?: ForgedRegistration): RegistrationResponseJSON
  /** What `navigator.credentials.get` returns, as JSON: with the newest passkey that the options allow. */
  sign(options: PublicKeyCredentialRequestOptionsJSON, forged?: Forgery): AuthenticationResponseJSON
}

/** A browser with an authenticator, in software: written from the specification, with nothing of what judges it. */
export function createAuthenticator(settings: AuthenticatorOptions): Authenticator {
  const { synced = true, aaguid = '00000000-0000-0000-0000-000000000000' } = settings
  const passkeys: HeldPasskey[] = []
  const host = new URL(settings.origin).hostname

  function dataOf(rpId: string, counter: number, forged: Forgery): AuthenticatorData {
    const honest = { rpId, userPresent: true, userVerified: true, synced, backedUp: synced, counter }
    const { userPresent, userVerified, backedUp } = { ...honest, ...forged }
    return {
      userPresent,
      userVerified,
      backedUp,
      rpId: forged.rpId ?? rpId,
      synced: forged.synced ?? synced,
      counter: forged.counter ?? counter,
    }
  }

  return {
    passkeys,
    register(options, forged = {}) {
      const encode = forged.encode ?? base64url
      const key = coseKey(forged.algorithm ?? settings.algorithm ?? 'ES256', forged.saysAlgorithm)
      const id = forged.credentialId ?? randomBytes(32)
      const rpId = options.rp.id ?? host
      passkeys.push({ id: base64url(id), rpId, userHandle: options.user.id, counter: 0, key })
      const attested = { aaguid, credentialId: id, publicKey: key.publicKey }
      const data = authenticatorData(dataOf(rpId, 0, forged), attested)
      const client = clientData('webauthn.create', settings.origin, options.challenge, forged)
      const signed = Buffer.concat([data, sha256(client)])
      return {
        id: encode(id),
        rawId: encode(id),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: encode(client),
          attestationObject: encode(attestationObject(forged.attestation ?? 'none', key, data, signed)),
          authenticatorData: encode(data),
          publicKeyAlgorithm: key.algorithm,
          transports: ['internal', 'hybrid'],
        },
      }
    },
    sign(options, forged = {}) {
      const encode = forged.encode ?? base64url
      const held = forged.credential ?? chosen(passkeys, options, host)
      if (!synced) held.counter += 1
      const data = authenticatorData(dataOf(held.rpId, held.counter, forged), undefined)
      const client = clientData('webauthn.get', settings.origin, options.challenge, forged)
      const signature = forged.signature ?? held.key.sign(Buffer.concat([data, sha256(client)]))
      const userHandle = forged.userHandle === undefined ? held.userHandle : forged.userHandle
      return {
        id: encode(Buffer.from(held.id, 'base64url')),
        rawId: encode(Buffer.from(held.id, 'base64url')),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: encode(client),
          authenticatorData: encode(data),
          signature: encode(signature),
          ...(userHandle !== null && { userHandle }),
        },
      }
    },
  }
}

function chosen(
  passkeys: readonly HeldPasskey[],
  { allowCredentials = [], rpId }: PublicKeyCredentialRequestOptionsJSON,
  host: string,
): HeldPasskey {
  const held = passkeys.findLast(
    (passkey) =>
      passkey.rpId === (rpId ?? host) &&
      (allowCredentials.length === 0 || allowCredentials.some(({ id }) => id === passkey.id)),
  )
  if (!held) throw new Error('NotAllowedError: no passkey fits the options')
  return held
}

/** WebAuthn L3 §5.8.1. */
function clientData(type: string, origin: string, challenge: string, forged: Forgery): Buffer {
  const { topOrigin } = forged
  const text = JSON.stringify({
    type: forged.type ?? type,
    challenge: forged.challenge ?? challenge,
    origin: forged.origin ?? origin,
    crossOrigin: forged.crossOrigin ?? false,
    ...(topOrigin !== undefined && { topOrigin }),
  })
  return Buffer.from(forged.clientData?.(text) ?? text)
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url')
}
