import { z } from 'zod'
import { emailField } from '../../contract/fields.js'
import { requestOtp } from '../../flows/otp/request.js'
import { verifyOtp } from '../../flows/otp/verify.js'
import { clearCookie, serializeCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import { json, redirect, withHeaders } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { signInSchema, waitingSchema } from '../answer-schemas.js'
import { codeField, tokenField, transactionField } from '../fields.js'
import { checkingCookie } from '../session/kept-cookies.js'
import { signInAnswer } from '../session/sign-in-answer.js'

const transaction = transactionField.optional()

export const requestOtpRoute = defineRoute({
  method: 'POST',
  path: '/otp',
  limit: 'mail',
  body: z.object({ email: emailField }),
  page: '/otp',
  enabled: ({ otp }) => otp.enabled,
  summary: 'Mails a code, a link or both to sign in with. The answer is the same for every address.',
  answers: { 202: waitingSchema('code_sent') },
  cookies: ['otp'],
  async handle(context, { email }) {
    const { ports, mode, visitor, cookies, form, returnTo, settings, authPath } = context
    const handle = await requestOtp(ports, { email, handle: cookies.otp, visitor, device: cookies.device })
    const answer = { status: 'code_sent' }
    if (mode === 'token') return json(202, { ...answer, transaction: handle })
    const cookie = serializeCookie('otp', handle, ports.policy.otpSeconds, settings, authPath)
    const headers = { 'set-cookie': [cookie] }
    const next = checkingCookie(context, withReturnTo(`${authPath}/otp`, returnTo))
    return form ? redirect(303, next, headers) : json(202, answer, headers)
  },
})

export const verifyOtpRoute = defineRoute({
  method: 'POST',
  path: '/otp/verify',
  limit: 'guess',
  body: z.union([
    z.object({ token: tokenField, transaction }),
    z.object({ email: emailField.optional(), code: codeField, transaction }),
  ]),
  enabled: ({ otp }) => otp.enabled,
  page: '/otp',
  keepsOnError: ['token'],
  summary: 'Signs in with the mailed code or link, in the browser that asked for it.',
  answers: { 200: signInSchema },
  errors: ['invalid_token', 'invalid_credentials', 'hook_failed'],
  cookies: ['otp'],
  async handle(context, { transaction, ...proof }) {
    const { ports, mode, visitor, cookies, settings, authPath } = context
    const handle = mode === 'token' ? (transaction ?? null) : cookies.otp
    const { device, challenge } = cookies
    const result = await verifyOtp(ports, { ...proof, handle, mode, visitor, device, challenge })
    const answer = await signInAnswer(context, result)
    if (mode === 'token') return answer
    return withHeaders(answer, { 'set-cookie': [clearCookie('otp', settings, authPath)] })
  },
})
