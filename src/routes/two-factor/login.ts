import { z } from 'zod'
import { passTwoFactor } from '../../flows/two-factor/pass.js'
import { offersPasskey } from '../../flows/two-factor/passkey-step.js'
import { clearCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { redirect, withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { sessionSchema } from '../answer-schemas.js'
import { factorCodeField } from '../fields.js'
import { errorAt, pageValues } from '../page-values.js'
import { signedResponse } from '../passkeys/response-schema.js'
import { signedInAnswer } from '../session/answer.js'
import { cookieOutcome } from '../session/kept-cookies.js'
import { showPage } from '../show-page.js'
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

export const twoFactorPageRoute = defineRoute({
  method: 'GET',
  path: '/two-factor',
  limit: 'other',
  body: null,
  summary: 'Shows the page for the second step of a sign-in.',
  async handle(context) {
    const values = pageValues(context)
    const outcome = cookieOutcome(context, context.cookies.challenge)
    if (outcome === 'kept') return redirect(303, withReturnTo(`${context.authPath}/two-factor`, values.redirect))
    const error = outcome === 'refused' ? 'cookies_refused' : values.error
    const waiting = context.cookies.challenge !== null && values.error !== 'invalid_token'
    const at = errorAt(error, waiting ? ['code'] : [])
    const passkeys = waiting && (await offersPasskey(context.ports, context.cookies.challenge))
    const signInUrl = withReturnTo(context.settings.redirectFailUrl, values.redirect)
    return showPage(context, 'two-factor', { ...values, error, at, waiting, passkeys, signInUrl })
  },
})
