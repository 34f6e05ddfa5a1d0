import { z } from 'zod'
import { startLink, unlinkIdentity } from '../flows/link-identity.js'
import { stateSeconds } from '../flows/oauth-state.js'
import { empty, json, withHeaders } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { accountDone } from './account-form.js'
import { urlSchema } from './answer-schemas.js'
import { passwordField } from './fields.js'
import { browserCookie, hasProviders, landingUrl } from './oauth-landing.js'
import { showPage } from './show-page.js'

/** An empty field of a form is none: an account may have no password to ask for. */
const body = z.object({ password: z.union([z.literal(''), passwordField]).optional() })

export const linkIdentityRoute = defineRoute({
  method: 'POST',
  path: '/oauth/:provider/link',
  limit: 'login',
  body,
  page: '/account',
  section: 'identities',
  signedIn: true,
  enabled: hasProviders,
  summary: 'Begins to link a login at the provider to the account of whoever is signed in; answers where to go.',
  answers: { 200: urlSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'busy'],
  cookies: ['oauth'],
  browserOnly: true,
  async handle(context, { password }) {
    const { ports, session, params, visitor, cookies, wish, form } = context
    const provider = params.provider ?? ''
    const asking = { provider, password: password || null, visitor, device: cookies.device }
    const started = await startLink(ports, await session(), { ...asking, wish, handle: cookies.oauth })
    const cookie = { 'set-cookie': [browserCookie(context, started.handle, stateSeconds)] }
    const url = started.url ?? landingUrl(context, provider, { to: 'account', wish, code: 'oauth_failed' })
    if (!form) return json(200, { url }, cookie)
    // Browsers hold the redirects after a form to `form-action`, and no provider stands there: a page leads on.
    const label = ports.providers.find(provider)?.label ?? provider
    return withHeaders(await showPage(context, 'oauth-continue', { url, provider: label }), cookie)
  },
})

export const unlinkIdentityRoute = defineRoute({
  method: 'DELETE',
  path: '/identities/:provider',
  limit: 'login',
  body,
  page: '/account',
  section: 'identities',
  signedIn: true,
  summary: 'Takes a login at a provider away from the account of whoever is signed in, never the last way in.',
  answers: { 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'last_credential', 'busy'],
  async handle(context, { password }) {
    const { ports, session, params, visitor, cookies, form } = context
    const provider = params.provider ?? ''
    const asking = { provider, password: password || null, visitor, device: cookies.device }
    await unlinkIdentity(ports, await session(), asking)
    return form ? accountDone(context, 'identities', 'identity_removed') : empty(204)
  },
})
