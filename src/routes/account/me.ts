import { z } from 'zod'
import { nameField } from '../../contract/fields.js'
import { readMe, updateProfile } from '../../flows/account/profile.js'
import { deleteAccount } from '../../flows/two-factor/delete-account.js'
import { clearCookie } from '../../http/cookies.js'
import { empty, json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { sessionSchema } from '../answer-schemas.js'
import { factorCodeField, passwordField } from '../fields.js'
import { sentFields } from '../sent-fields.js'
import { clearedSession, sessionAnswer } from '../session/answer.js'

export const readMeRoute = defineRoute({
  method: 'GET',
  path: '/me',
  limit: 'other',
  body: null,
  summary: 'Returns the signed-in user.',
  signedIn: true,
  answers: { 200: sessionSchema },
  async handle(context) {
    const state = await readMe(context.ports, (await context.session()).principal)
    return json(200, sessionAnswer(context, state))
  },
})

export const updateMeRoute = defineRoute({
  method: 'PATCH',
  path: '/me',
  limit: 'other',
  body: z.looseObject({ name: nameField.nullable().optional().describe('The name to show. null or empty for none.') }),
  page: '/account',
  section: 'profile',
  signedIn: true,
  summary: 'Changes the name or the extra fields of the signed-in user.',
  answers: { 200: sessionSchema },
  async handle(context, { name, ...sent }) {
    const { principal, visitor } = await context.session()
    const state = await updateProfile(context.ports, principal, { ...sentFields(context, sent), name, visitor })
    if (context.form) return accountDone(context, 'profile', 'profile_changed')
    return json(200, sessionAnswer(context, { ...state, actor: null }))
  },
})

export const deleteMeRoute = defineRoute({
  method: 'DELETE',
  path: '/me',
  limit: 'login',
  body: z.object({ password: passwordField.optional(), code: factorCodeField.optional() }),
  page: '/account',
  section: 'delete',
  signedIn: true,
  summary:
    'Deletes the account for good. Asks for its password, and for a code where two-factor authentication is on. While a former address can take it back, it waits, disabled.',
  answers: { 204: null },
  errors: ['invalid_credentials', 'invalid_code', 'recent_login_required', 'would_lock_out', 'busy'],
  async handle(context, { password = null, code = null }) {
    const { ports, session, mode, cookies, settings, authPath, form, returnTo } = context
    const { principal, visitor } = await session()
    const done = await deleteAccount(ports, principal, { password, code, visitor, device: cookies.device })
    if (mode === 'token') return empty(204)
    const gone = { 'set-cookie': [...clearedSession(context), clearCookie('device', settings, authPath)] }
    return form
      ? redirect(303, returnTo ?? `${authPath}/signed-out?deleted=${done === 'waits' ? 'later' : '1'}`, gone)
      : empty(204, gone)
  },
})
