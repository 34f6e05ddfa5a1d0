import { z } from 'zod'
import { reauthenticate, startReauthentication } from '../../flows/two-factor/reauthenticate.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { sessionSchema } from '../answer-schemas.js'
import { factorCodeField, passwordField } from '../fields.js'
import { requestOptionsSchema } from '../passkeys/answer-schemas.js'
import { signedResponse } from '../passkeys/response-schema.js'
import { issuedAnswer } from '../session/answer.js'

export const startReauthenticationRoute = defineRoute({
  method: 'POST',
  path: '/reauthenticate/options',
  limit: 'other',
  body: z.object({}),
  signedIn: true,
  summary: 'Returns the options to prove the signed-in user again by passkey.',
  answers: { 200: requestOptionsSchema },
  errors: ['not_found', 'passkeys_disabled'],
  async handle({ ports, session }) {
    const { principal } = await session()
    return json(200, { options: await startReauthentication(ports, principal) })
  },
})

export const reauthenticateRoute = defineRoute({
  method: 'POST',
  path: '/reauthenticate',
  limit: 'login',
  body: z.union([
    z.object({ response: signedResponse }),
    z.object({
      password: passwordField,
      code: factorCodeField.optional().describe('Needed where two-factor authentication is on.'),
    }),
  ]),
  page: '/account',
  signedIn: true,
  summary: 'Proves the signed-in user again. A new session with a recent sign-in takes the place of this one.',
  answers: { 200: sessionSchema },
  errors: [
    'invalid_token',
    'invalid_credentials',
    'invalid_code',
    'invalid_passkey',
    'password_reset_required',
    'recent_login_required',
    'passkeys_disabled',
    'busy',
  ],
  async handle(context, body) {
    const { ports, session, mode, cookies } = context
    const { principal, visitor } = await session()
    const proof = 'response' in body ? body : { password: body.password, code: body.code ?? null }
    return issuedAnswer(
      context,
      200,
      await reauthenticate(ports, principal, { proof, mode, visitor, device: cookies.device }),
    )
  },
})
