import { z } from 'zod'
import { statusSchema } from '../../contract/fields.js'
import { resetPassword } from '../../flows/password/reset.js'
import { json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { passwordField, tokenField } from '../fields.js'
import { clearedSession } from '../session/answer.js'

export const resetPasswordRoute = defineRoute({
  method: 'POST',
  path: '/password/reset',
  limit: 'guess',
  body: z.object({ token: tokenField, password: passwordField.describe('The new password.') }),
  page: '/reset',
  keepsOnError: ['token'],
  summary: 'Sets a new password with the mailed link, and ends every session. Does not sign in.',
  answers: { 200: statusSchema('password_changed') },
  errors: ['invalid_token', 'weak_password', 'busy'],
  cookies: ['refresh'],
  async handle(context, { token, password }) {
    const { ports, visitor, cookies, form, authPath } = context
    const { endedHere } = await resetPassword(ports, { token, password, refreshToken: cookies.refresh, visitor })
    const cleared = endedHere ? { 'set-cookie': clearedSession(context) } : {}
    return form
      ? redirect(303, `${authPath}/reset?done=1`, cleared)
      : json(200, { status: 'password_changed' }, cleared)
  },
})
