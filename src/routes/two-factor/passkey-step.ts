import { z } from 'zod'
import { startPasskeyStep } from '../../flows/two-factor/passkey-step.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { tokenField } from '../fields.js'
import { requestOptionsSchema } from '../passkeys/answer-schemas.js'

/** A field of both routes of the second step. */
export const challenge = tokenField
  .optional()
  .describe('The challenge of the first step. A browser has it in a cookie.')

export const startPasskeyStepRoute = defineRoute({
  method: 'POST',
  path: '/login/two-factor/options',
  limit: 'other',
  body: z.object({ challenge }),
  summary: 'Returns the options to complete a sign-in by passkey.',
  answers: { 200: requestOptionsSchema },
  errors: ['invalid_token', 'not_found', 'passkeys_disabled'],
  cookies: ['challenge'],
  async handle({ ports, cookies }, body) {
    return json(200, { options: await startPasskeyStep(ports, body.challenge ?? cookies.challenge) })
  },
})
