import { z } from 'zod'
import { deleteAccount, readProfile, updateProfile } from '../../flows/account/profile.js'
import { clearCookie } from '../../http/cookies.js'
import { empty, json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { accountDone } from '../account-form.js'
import { sessionSchema } from '../answer-schemas.js'
import { nameField, passwordField } from '../fields.js'
import { clearedSession, sessionAnswer } from '../session/answer.js'

export const readMeRoute = defineRoute({
  method: 'GET',
  path: '/me',
  limit: 'other',
  body: null,
  summary: 'Tells who is signed in.',
  signedIn: true,
  answers: { 200: sessionSchema },
  async handle({ ports, session }) {
    const state = await readProfile(ports, (await session()).principal)
    return json(200, sessionAnswer(state.user, state.session))
  },
})

export const updateMeRoute = defineRoute({
  method: 'PATCH',
  path: '/me',
  limit: 'other',
  body: z.looseObject({ name: nameField.nullable().optional() }),
  page: '/account',
  section: 'profile',
  signedIn: true,
  summary: 'Changes the name or the extra fields that the application allows.',
  answers: { 200: sessionSchema },
  async handle(context, { name, ...fields }) {
    const { principal, visitor } = await context.session()
    const changes = { fields, visitor, ...(name === undefined ? {} : { name }) }
    const state = await updateProfile(context.ports, principal, changes)
    if (context.form) return accountDone(context, 'profile', 'profile_changed')
    return json(200, sessionAnswer(state.user, state.session))
  },
})

export const deleteMeRoute = defineRoute({
  method: 'DELETE',
  path: '/me',
  limit: 'login',
  body: z.object({ password: passwordField.optional() }),
  page: '/account',
  section: 'delete',
  signedIn: true,
  summary: 'Deletes the account for good, after its password.',
  answers: { 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'busy'],
  async handle(context, { password = null }) {
    const { ports, session, mode, cookies, settings, authPath, form, returnTo } = context
    const { principal, visitor } = await session()
    await deleteAccount(ports, principal, { password, visitor, device: cookies.device })
    if (mode === 'token') return empty(204)
    const gone = { 'set-cookie': [...clearedSession(context), clearCookie('device', settings, authPath)] }
    return form ? redirect(303, returnTo ?? settings.redirectLogoutUrl, gone) : empty(204, gone)
  },
})
