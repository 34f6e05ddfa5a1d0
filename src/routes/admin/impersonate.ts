import { z } from 'zod'
import { AuthError } from '../../errors.js'
import { impersonate } from '../../flows/control/impersonation/start.js'
import { sessionSchema } from '../answer-schemas.js'
import { issuedAnswer } from '../session/answer.js'
import { defineControlRoute } from './control-route.js'

export const impersonateRoute = defineControlRoute({
  method: 'POST',
  path: '/users/:id/impersonate',
  body: z.strictObject({
    reason: z.string().trim().min(10).max(500).describe('Why, for the audit log: 10 to 500 characters.'),
  }),
  form: { page: '/users/:id', section: 'impersonate', ownAnswer: true },
  home: 'application',
  who: 'admin',
  recent: true,
  summary: 'Opens a session as the user, which replaces the own one. Needs the setting admin.impersonation.',
  answers: { 200: sessionSchema },
  errors: ['not_found', 'impersonation_forbidden'],
  enabled: ({ admin }) => admin.impersonation !== null,
  async handle(context, { reason }) {
    const { ports, params, admin, mode, bearer } = context
    // Its cookies replace those of the browser, so only a browser's cookie can ask for it.
    if (mode === 'token' || bearer !== null) throw new AuthError('impersonation_forbidden')
    const { principal, visitor } = admin
    const issued = await impersonate(ports, { principal, id: params.id ?? '', reason, visitor })
    return issuedAnswer(context, 200, issued)
  },
})
