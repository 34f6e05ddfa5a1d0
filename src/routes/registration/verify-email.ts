import { z } from 'zod'
import { emailField } from '../../contract/fields.js'
import { verifyEmail } from '../../flows/registration/verify-email.js'
import { clearCookie } from '../../http/cookies.js'
import { withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { signInSchema } from '../answer-schemas.js'
import { codeField, passwordField, tokenField, transactionField } from '../fields.js'
import { signInAnswer } from '../session/sign-in-answer.js'
import { confirmedLanding } from './confirmed-landing.js'

const confirmation = { password: passwordField.optional(), transaction: transactionField.optional() }

const body = z.union([
  z.object({ token: tokenField, ...confirmation }),
  z.object({ email: emailField.optional(), code: codeField, ...confirmation }),
])

export const verifyEmailRoute = defineRoute({
  method: 'POST',
  path: '/verify-email',
  limit: 'guess',
  body,
  page: '/verify-email',
  keepsOnError: ['token'],
  summary: 'Confirms an address with the mailed link or code, and signs in.',
  answers: { 200: signInSchema },
  errors: ['invalid_token', 'invalid_credentials', 'password_reset_required', 'busy', 'hook_failed'],
  cookies: ['registration'],
  async handle(context, { password = null, transaction, ...proof }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const handle = mode === 'token' ? (transaction ?? null) : cookies.registration
    const browser = { handle, mode, visitor, device: cookies.device, challenge: cookies.challenge }
    const result = await verifyEmail(ports, { ...proof, password, ...browser })
    const answer = await signInAnswer({ ...context, landing: confirmedLanding(context, result) }, result)
    if (mode === 'token') return answer
    return withHeaders(answer, { 'set-cookie': [clearCookie('registration', settings, authPath)] })
  },
})
