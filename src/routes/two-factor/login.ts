import { z } from 'zod'
import { passTwoFactor } from '../../flows/two-factor/pass.js'
import { clearCookie } from '../../http/cookies.js'
import { withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { sessionSchema } from '../answer-schemas.js'
import { factorCodeField } from '../fields.js'
import { signedResponse } from '../passkeys/response-schema.js'
import { signedInAnswer } from '../session/answer.js'
import { challenge } from './passkey-step.js'

export const loginTwoFactorRoute = defineRoute({
  method: 'POST',
  path: '/login/two-factor',
  limit: 'login',
  body: z.union([z.object({ challenge, response: signedResponse }), z.object({ challenge, code: factorCodeField })]),
  page: '/two-factor',
  summary: 'Completes a sign-in with a code of the authenticator app, a backup code or a passkey.',
  answers: { 200: sessionSchema },
  errors: [
    'invalid_token',
    'invalid_code',
    'invalid_passkey',
    'password_reset_required',
    'passkeys_disabled',
    'hook_failed',
  ],
  cookies: ['challenge'],
  async handle(context, { challenge, ...proof }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const step = { challenge: challenge ?? cookies.challenge, ...proof, mode, visitor, device: cookies.device }
    const answer = await signedInAnswer(context, 200, await passTwoFactor(ports, step))
    if (mode === 'token') return answer
    return withHeaders(answer, { 'set-cookie': [clearCookie('challenge', settings, authPath)] })
  },
})
