import { z } from 'zod'
import { time } from '../../contract/fields.js'

const passkeySchema = z
  .object({
    id: z.string().describe('Names the passkey in later requests.'),
    name: z.string().describe('The name that the user gave it.'),
    provider: z
      .string()
      .nullable()
      .describe('Where it is kept, as the authenticator says. Null where that is not known.'),
    synced: z.boolean().describe('Whether it is synchronised between devices.'),
    usable: z
      .boolean()
      .describe('False: it does not sign in, because it may be a copy or was made for a former RP id.'),
    createdAt: time('When it was added.'),
    lastUsedAt: time('When it was last used.').nullable().describe('When it was last used, in UTC.'),
  })
  .describe('A passkey of the account.')

export const onePasskeySchema = z.object({ passkey: passkeySchema })

export const passkeysSchema = z.object({
  passkeys: z.array(passkeySchema).describe('The oldest first.'),
  signals: z
    .object({
      rpId: z.string().describe('For `rpId` of every signal.'),
      userId: z.string().describe('What authenticators keep as the user.'),
      credentialIds: z.array(z.string()).describe('For `signalAllAcceptedCredentials`.'),
      name: z.string().describe('For `signalCurrentUserDetails`.'),
      displayName: z.string().describe('For `signalCurrentUserDetails`.'),
    })
    .nullable()
    .describe(
      'What a page passes to the signals of `PublicKeyCredential`. Null until the user first asks for a passkey.',
    ),
})

const options = z.looseObject({ challenge: z.string().describe('Valid once, for five minutes.') })

export const creationOptionsSchema = z.object({
  options: options.describe('For `PublicKeyCredential.parseCreationOptionsFromJSON`.'),
})
export const requestOptionsSchema = z.object({
  options: options.describe('For `PublicKeyCredential.parseRequestOptionsFromJSON`.'),
})
export const loginOptionsSchema = z.object({
  ...requestOptionsSchema.shape,
  expiresAt: time('Until when the challenge is valid.'),
  transaction: z.string().optional().describe('In token mode: send it back with the response.'),
})
