import { unlinkIdentity } from '../../flows/oauth/link-identity.js'
import { empty } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { passwordBody } from '../fields.js'

export const unlinkIdentityRoute = defineRoute({
  method: 'DELETE',
  path: '/identities/:provider',
  limit: 'login',
  body: passwordBody,
  page: '/account',
  section: 'identities',
  signedIn: true,
  summary: 'Unlinks a provider login from the signed-in account, unless it is the last way to sign in.',
  answers: { 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'last_credential', 'busy'],
  async handle(context, { password }) {
    const { ports, session, params, cookies, form } = context
    const { principal, visitor } = await session()
    const provider = params.provider ?? ''
    const asking = { provider, password: password || null, visitor, device: cookies.device }
    await unlinkIdentity(ports, principal, asking)
    return form ? accountDone(context, 'identities', 'identity_removed') : empty(204)
  },
})
