import { z } from 'zod'
import { emailField, statusSchema } from '../../contract/fields.js'
import { changePassword } from '../../flows/password/change.js'
import { forgotPassword } from '../../flows/password/draft-reset.js'
import { json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { sessionSchema } from '../answer-schemas.js'
import { passwordField } from '../fields.js'
import { issuedAnswer } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'

export const forgotPasswordRoute = defineRoute({
  method: 'POST',
  path: '/password/forgot',
  limit: 'mail',
  body: z.object({ email: emailField }),
  page: '/forgot',
  summary: 'Mails a link to set a new password. The answer is the same for every address.',
  answers: { 202: statusSchema('reset_sent') },
  async handle({ ports, visitor, cookies, form, authPath }, { email }) {
    await forgotPassword(ports, { email, visitor, device: cookies.device })
    return form ? redirect(303, `${authPath}/forgot?done=1`) : json(202, { status: 'reset_sent' })
  },
})

export const changePasswordRoute = defineRoute({
  method: 'POST',
  path: '/password/change',
  limit: 'login',
  body: z.object({
    currentPassword: passwordField.optional().describe('Not needed where the account has no password yet.'),
    newPassword: passwordField.describe('The new password.'),
  }),
  page: '/account',
  section: 'password',
  signedIn: true,
  summary: 'Changes the password of the signed-in user. Every session ends, and a new one begins.',
  answers: { 200: sessionSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'weak_password', 'busy'],
  async handle(context, { currentPassword, newPassword }) {
    const { ports, session, mode, cookies, form } = context
    const { principal, visitor } = await session()
    const device = cookies.device
    const input = { currentPassword: currentPassword ?? null, newPassword, mode, visitor, device }
    const issued = await changePassword(ports, principal, input)
    if (!form) return issuedAnswer(context, 200, issued)
    return accountDone(context, 'password', 'password_changed', { 'set-cookie': sessionCookies(context, issued) })
  },
})
