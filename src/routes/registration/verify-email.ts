import { z } from 'zod'
import { resendVerification } from '../../flows/registration/resend-verification.js'
import { verifyEmail } from '../../flows/registration/verify-email.js'
import { clearCookie, serializeCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { json, redirect, withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { signInSchema, waitingSchema } from '../answer-schemas.js'
import { codeField, emailField, passwordField, tokenField, transactionField } from '../fields.js'
import { optionalSession } from '../session/optional.js'
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
    const browser = { handle, mode, visitor, device: cookies.device }
    const result = await verifyEmail(ports, { ...proof, password, ...browser })
    const answer = await signInAnswer({ ...context, landing: confirmedLanding(context, result) }, result)
    if (mode === 'token') return answer
    return withHeaders(answer, { 'set-cookie': [clearCookie('registration', settings, authPath)] })
  },
})

export const resendVerificationRoute = defineRoute({
  method: 'POST',
  path: '/verify-email/resend',
  limit: 'mail',
  body: z.object({ email: emailField.optional(), transaction: transactionField.optional() }),
  page: '/verify-email',
  summary: 'Mails the confirmation again, for this browser or the signed-in user. The answer is always the same.',
  answers: { 202: waitingSchema('verification_sent') },
  cookies: ['registration', 'access'],
  async handle(context, { email = null, transaction }) {
    const { ports, mode, cookies, settings, authPath } = context
    const { principal, visitor } = await optionalSession(context)
    const held = mode === 'token' ? (transaction ?? null) : cookies.registration
    const userId = principal?.userId ?? null
    const handle = await resendVerification(ports, { email, handle: held, userId, visitor, device: cookies.device })

    const answer = { status: 'verification_sent' }
    if (mode === 'token') return json(202, handle === null ? answer : { ...answer, transaction: handle })
    const next = withReturnTo(`${authPath}/verify-email?done=1`, context.returnTo)
    const done = context.form ? redirect(303, next) : json(202, answer)
    if (handle === null) return done
    const cookie = serializeCookie('registration', handle, ports.policy.verificationSeconds, settings, authPath)
    return withHeaders(done, { 'set-cookie': [cookie] })
  },
})
