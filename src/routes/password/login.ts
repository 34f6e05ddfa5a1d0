import { z } from 'zod'
import { emailField } from '../../contract/fields.js'
import { login } from '../../flows/password/login.js'
import { defineRoute } from '../../http/route.js'
import { signInSchema } from '../answer-schemas.js'
import { passwordField } from '../fields.js'
import { signInAnswer } from '../session/sign-in-answer.js'

export const loginRoute = defineRoute({
  method: 'POST',
  path: '/login',
  limit: 'login',
  page: '/login',
  body: z.object({ email: emailField, password: passwordField }),
  summary: 'Signs in with an address and password.',
  answers: { 200: signInSchema },
  errors: [
    'invalid_credentials',
    'email_not_verified',
    'account_disabled',
    'password_reset_required',
    'busy',
    'hook_failed',
  ],
  async handle(context, { email, password }) {
    const { ports, mode, visitor, cookies } = context
    const { device, challenge } = cookies
    return signInAnswer(context, await login(ports, { email, password, mode, visitor, device, challenge }))
  },
})
