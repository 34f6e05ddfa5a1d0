import { z } from 'zod'
import { emailField } from '../../contract/fields.js'
import { resendVerification } from '../../flows/registration/resend-verification.js'
import { serializeCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { json, redirect, withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { waitingSchema } from '../answer-schemas.js'
import { transactionField } from '../fields.js'
import { optionalSession } from '../session/optional.js'

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
