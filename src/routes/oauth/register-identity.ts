import { z } from 'zod'
import { emailField, statusSchema } from '../../contract/fields.js'
import { findNewcomer, registerIdentity } from '../../flows/oauth/newcomer.js'
import { serializeCookie } from '../../http/cookies.js'
import { json, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const registerIdentityRoute = defineRoute({
  method: 'POST',
  path: '/register/identity',
  limit: 'mail',
  body: z.object({ email: emailField }),
  page: '/register/identity',
  summary: 'Registers a new user of a provider with the address they enter, and mails a link to confirm it.',
  answers: { 202: statusSchema('verification_sent') },
  errors: ['invalid_token', 'registration_disabled', 'hook_failed'],
  cookies: ['oauth'],
  browserOnly: true,
  async handle({ ports, visitor, cookies, settings, authPath, form, returnTo }, { email }) {
    const handle = await registerIdentity(ports, { email, handle: cookies.oauth, visitor, device: cookies.device })
    const cookie = serializeCookie('registration', handle, ports.policy.verificationSeconds, settings, authPath)
    const headers = { 'set-cookie': [cookie] }
    if (!form) return json(202, { status: 'verification_sent' }, headers)
    return redirect(
      303,
      withQuery(`${authPath}/verify-email`, returnTo === null ? {} : { redirect: returnTo }),
      headers,
    )
  },
})

export const registerIdentityPageRoute = defineRoute({
  method: 'GET',
  path: '/register/identity',
  limit: 'other',
  body: null,
  summary: 'Shows the page that asks a new user of a provider for an address.',
  async handle(context) {
    const { ports, cookies, settings } = context
    const newcomer = await findNewcomer(ports, cookies.oauth)
    const provider = newcomer ? (ports.providers.find(newcomer.provider)?.label ?? newcomer.provider) : ''
    return showPage(context, 'register-identity', {
      ...pageValues(context),
      waiting: newcomer !== null,
      provider,
      email: newcomer?.email ?? '',
      signInUrl: settings.redirectFailUrl,
    })
  },
})
