import { users } from '../../contract/users.js'
import { AuthError } from '../../errors.js'
import { impersonate } from '../../flows/control/impersonation/start.js'
import { sessionSchema } from '../answer-schemas.js'
import { issuedAnswer } from '../session/answer.js'
import { defineControlRoute } from './control-route.js'

export const impersonateRoute = defineControlRoute({
  ...users.impersonate,
  form: { page: '/users/:id', section: 'impersonate', ownAnswer: true },
  answers: { 200: sessionSchema },
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
