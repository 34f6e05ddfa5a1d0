import { z } from 'zod'
import { nameField } from '../../contract/fields.js'
import { addPasskey } from '../../flows/passkeys/add.js'
import { startPasskey } from '../../flows/passkeys/challenge.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { toPasskeyEntry } from '../../model/factors/passkey-entry.js'
import { passwordBody } from '../fields.js'
import { creationOptionsSchema, onePasskeySchema } from './answer-schemas.js'
import { creationResponse } from './response-schema.js'

const form = { page: '/account', section: 'passkeys', signedIn: true } as const

export const startPasskeyRoute = defineRoute({
  method: 'POST',
  path: '/passkeys/options',
  limit: 'login',
  body: z.object({
    ...passwordBody.shape,
    upgrade: z
      .literal(true)
      .optional()
      .describe('The browser makes the passkey without a dialog, at most five minutes after a sign-in by password.'),
  }),
  ...form,
  summary: 'Returns the options of a new passkey. Needs the password or a recent sign-in, and the second factor.',
  answers: { 200: creationOptionsSchema },
  errors: [
    'email_not_verified',
    'invalid_credentials',
    'recent_login_required',
    'passkey_limit',
    'passkeys_disabled',
    'busy',
  ],
  async handle({ ports, session, cookies }, { password, upgrade = false }) {
    const { principal, visitor } = await session()
    const input = { password: password || null, upgrade, visitor, device: cookies.device }
    return json(200, { options: await startPasskey(ports, principal, input) })
  },
})

export const addPasskeyRoute = defineRoute({
  method: 'POST',
  path: '/passkeys',
  limit: 'login',
  body: z.object({ response: creationResponse, name: nameField.optional() }),
  ...form,
  summary: 'Adds a passkey by the options that this session asked for.',
  answers: { 201: onePasskeySchema },
  errors: [
    'email_not_verified',
    'invalid_token',
    'invalid_passkey',
    'passkey_taken',
    'passkey_limit',
    'passkeys_disabled',
  ],
  async handle({ ports, session }, { response, name = null }) {
    const { principal, visitor } = await session()
    const passkey = await addPasskey(ports, principal, { response, name, visitor })
    return json(201, { passkey: toPasskeyEntry(passkey, ports.policy.passkeys) })
  },
})
