import { z } from 'zod'
import { passTwoFactor } from '../../flows/two-factor/pass.js'
import { clearCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { sessionSchema } from '../answer-schemas.js'
import { factorCodeField, tokenField } from '../fields.js'
import { pageValues } from '../page-values.js'
import { signedInAnswer } from '../session/answer.js'
import { showPage } from '../show-page.js'

export const loginTwoFactorRoute = defineRoute({
  method: 'POST',
  path: '/login/two-factor',
  limit: 'login',
  body: z.object({ challenge: tokenField.optional(), code: factorCodeField }),
  page: '/two-factor',
  summary: 'Finishes a sign-in by a code of the authenticator or a backup code.',
  answers: { 200: sessionSchema },
  errors: ['invalid_token', 'invalid_code', 'hook_failed'],
  cookies: ['challenge'],
  async handle(context, { challenge, code }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const step = { challenge: challenge ?? cookies.challenge, code, mode, visitor, device: cookies.device }
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
  summary: 'Shows the page that asks for the second step of a sign-in.',
  handle(context) {
    const values = pageValues(context)
    const waiting = context.cookies.challenge !== null && values.error !== 'invalid_token'
    const signInUrl = withReturnTo(context.settings.redirectFailUrl, values.redirect)
    return showPage(context, 'two-factor', { ...values, waiting, signInUrl })
  },
})
