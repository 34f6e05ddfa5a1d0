import { z } from 'zod'
import { isCanonicalBase64url } from '../../lib/base64url.js'
import { isTransport } from '../../model/factors/passkey.js'
import type { CreationResponse, SignedResponse } from '../../model/factors/webauthn.js'

/** Of each binary value, in characters of base64url. The longest is an attestation, which we ask to be empty. */
const longest = { id: 1_364, clientData: 8_192, data: 8_192, attestation: 32_768, signature: 2_048, handle: 86 }

function binary(most: number, about: string) {
  return z
    .string()
    .min(1)
    .max(most)
    .refine(isCanonicalBase64url, 'must be base64url without padding')
    .describe(`${about} Base64url.`)
}

const envelope = {
  id: binary(longest.id, 'The id of the credential.'),
  rawId: binary(longest.id, 'The same as `id`.'),
  type: z.literal('public-key').describe('Always `public-key`.'),
}
const clientDataJSON = binary(longest.clientData, 'What the browser signed for.')

/** As `toJSON()` of the browser's credential returns it. Members that are not named here are dropped. */
export const creationResponse = z
  .looseObject({
    ...envelope,
    response: z.looseObject({
      clientDataJSON,
      attestationObject: binary(longest.attestation, 'The new key.'),
      transports: z.array(z.string().max(32)).max(16).optional().describe('How the authenticator is reached.'),
    }),
  })
  .refine(({ id, rawId }) => id === rawId, { path: ['rawId'], message: 'must be the same as id' })
  .describe('The credential that `navigator.credentials.create` returned, as its `toJSON()` gives it.')
  .transform(
    ({ id, response }): CreationResponse => ({
      credentialId: id,
      clientData: response.clientDataJSON,
      attestation: response.attestationObject,
      transports: [...new Set((response.transports ?? []).filter(isTransport))],
    }),
  )

export const signedResponse = z
  .looseObject({
    ...envelope,
    response: z.looseObject({
      clientDataJSON,
      authenticatorData: binary(longest.data, 'What the authenticator says.'),
      signature: binary(longest.signature, 'Its signature.'),
      userHandle: binary(longest.handle, 'The user of the passkey.').nullish(),
    }),
  })
  .refine(({ id, rawId }) => id === rawId, { path: ['rawId'], message: 'must be the same as id' })
  .describe('The credential that `navigator.credentials.get` returned, as its `toJSON()` gives it.')
  .transform(
    ({ id, response }): SignedResponse => ({
      credentialId: id,
      clientData: response.clientDataJSON,
      authenticatorData: response.authenticatorData,
      signature: response.signature,
      userHandle: response.userHandle ?? null,
    }),
  )
