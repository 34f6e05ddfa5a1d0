import { z } from 'zod'
import { emailField, statusSchema } from '../../contract/fields.js'
import { changeEmail } from '../../flows/email/change.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { passwordField } from '../fields.js'
import { mailOutcomeSchema } from '../mail-outcome-schema.js'

export const changeEmailRoute = defineRoute({
  method: 'POST',
  path: '/email/change',
  limit: 'mail',
  body: z.object({ newEmail: emailField.describe('The new email address.'), password: passwordField.optional() }),
  page: '/account',
  section: 'email',
  signedIn: true,
  summary: 'Mails a new address a link to confirm it. The answer is the same for every address.',
  answers: { 202: z.object({ ...statusSchema('confirmation_sent').shape, ...mailOutcomeSchema.shape }) },
  errors: ['invalid_credentials', 'recent_login_required', 'busy'],
  async handle(context, { newEmail, password }) {
    const { ports, session, cookies, form } = context
    const { principal, visitor } = await session()
    const input = { newEmail, password: password ?? null, visitor, device: cookies.device }
    const mail = await changeEmail(ports, principal, input)
    if (!form) return json(202, { status: 'confirmation_sent', ...mail })
    return accountDone(context, 'email', mail.mailSent ? 'confirmation_sent' : 'confirmation_not_sent')
  },
})
