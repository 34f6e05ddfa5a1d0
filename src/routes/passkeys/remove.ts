import { removePasskey } from '../../flows/passkeys/list.js'
import { empty } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { sessionSchema } from '../answer-schemas.js'
import { passwordBody } from '../fields.js'
import { issuedAnswer } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'

export const removePasskeyRoute = defineRoute({
  method: 'DELETE',
  path: '/passkeys/:id',
  limit: 'login',
  body: passwordBody,
  page: '/account',
  section: 'passkeys',
  signedIn: true,
  summary: 'Removes a passkey. Every session ends, and a new one begins.',
  answers: { 200: sessionSchema, 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'last_credential', 'busy'],
  async handle(context, { password }) {
    const { ports, session, mode, cookies, params } = context
    const { principal, visitor } = await session()
    const input = { id: params.id ?? '', password: password || null, mode, visitor, device: cookies.device }
    const issued = await removePasskey(ports, principal, input)
    // An app without cookies needs the new tokens, which a 204 cannot carry.
    if (mode === 'token') return issuedAnswer(context, 200, issued)
    const kept = { 'set-cookie': sessionCookies(context, issued) }
    return context.form ? accountDone(context, 'passkeys', 'passkey_removed', kept) : empty(204, kept)
  },
})
