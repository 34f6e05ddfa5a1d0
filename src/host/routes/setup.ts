import { z } from 'zod'
import { emailField, nameField } from '../../contract/fields.js'
import { queryOf } from '../../http/query.js'
import { defineRoute, type Route } from '../../http/route.js'
import { sessionSchema } from '../../routes/answer-schemas.js'
import { passwordField } from '../../routes/fields.js'
import { errorAt, pageValues } from '../../routes/page-values.js'
import { signedInAnswer } from '../../routes/session/answer.js'
import { showPage } from '../../routes/show-page.js'
import { requireNoAdmin, type Setup, setUp } from '../flows/people/first-admin.js'

const path = '/setup'
const keyField = z.string().min(1).max(128).describe('The key in the address of the set-up page.')

/** The set-up of a new host: its page, and the call that creates the first administrator. 404 when there is one. */
export function setupRoutes(setup: Setup): readonly Route[] {
  return [setupPageRoute(setup), setupRoute(setup)]
}

function setupPageRoute(setup: Setup): Route {
  return defineRoute({
    method: 'GET',
    path,
    limit: 'guess',
    body: null,
    summary: 'Shows the page that creates the first administrator of the host.',
    async handle(context) {
      await requireNoAdmin(setup)
      const key = queryOf(context.request).get('key') ?? ''
      const values = pageValues(context)
      const isOver = !setup.accepts(key)
      const link = isOver ? { key: '', error: 'invalid_link' } : { key }
      const at = errorAt(values.error, isOver ? [] : ['email', 'password'])
      return showPage(context, 'setup', { ...values, ...link, at })
    },
  })
}

function setupRoute(setup: Setup): Route {
  return defineRoute({
    method: 'POST',
    path,
    limit: 'guess',
    body: z.object({ key: keyField, email: emailField, password: passwordField, name: nameField.optional() }),
    page: path,
    keepsOnError: ['key'],
    summary: 'Creates the first administrator of the host, once, and signs them in.',
    answers: { 201: sessionSchema },
    errors: ['not_found', 'invalid_token', 'email_taken', 'weak_password', 'busy'],
    async handle(context, { name, ...sent }) {
      const { ports, mode, visitor, cookies } = context
      const applicant = { ...sent, name: name ?? null, mode, visitor, device: cookies.device }
      return signedInAnswer(context, 201, await setUp(ports, setup, applicant))
    },
  })
}
