import { z } from 'zod'
import { changeEmail } from '../../flows/email/change.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { statusSchema } from '../answer-schemas.js'
import { emailField, passwordField } from '../fields.js'

export const changeEmailRoute = defineRoute({
  method: 'POST',
  path: '/email/change',
  limit: 'mail',
  body: z.object({ newEmail: emailField, password: passwordField.optional() }),
  page: '/account',
  section: 'email',
  signedIn: true,
  summary: 'Mails a new address a link that makes it the account’s; answers the same whatever the address is.',
  answers: { 202: statusSchema('confirmation_sent') },
  errors: ['invalid_credentials', 'recent_login_required', 'busy'],
  async handle(context, { newEmail, password }) {
    const { ports, session, cookies, form } = context
    const { principal, visitor } = await session()
    const input = { newEmail, password: password ?? null, visitor, device: cookies.device }
    await changeEmail(ports, principal, input)
    const status = 'confirmation_sent'
    return form ? accountDone(context, 'email', status) : json(202, { status })
  },
})
