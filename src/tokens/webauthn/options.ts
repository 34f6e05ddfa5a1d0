import type { CredentialDescriptor, KnownCredential } from '../../model/factors/webauthn.js'
import type { Webauthn } from './webauthn.js'

/** EdDSA, ES256 and RS256. Newer ones are left out: a key that one version of Node makes must work on another. */
export const algorithms: readonly number[] = [-8, -7, -257]

export const createOptions: Pick<Webauthn, 'creationOptions' | 'requestOptions'> = {
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
