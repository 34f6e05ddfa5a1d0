import { stateSeconds } from '../flows/oauth-state.js'
import { startOAuth } from '../flows/start-oauth.js'
import { wishedLanding } from '../http/landing.js'
import { redirect } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { navigating } from './navigating.js'
import { browserCookie, hasProviders, landingUrl } from './oauth-landing.js'

export const startOAuthRoute = defineRoute({
  method: 'GET',
  path: '/oauth/:provider',
  limit: 'other',
  body: null,
  changes: true,
  enabled: hasProviders,
  summary: 'Sends the browser to the provider; redirect in the query says where it is to end.',
  answers: { 302: null },
  errors: ['not_found'],
  cookies: ['oauth'],
  query: { redirect: 'Where the browser ends: a path, or a URL of a trusted origin.' },
  browserOnly: true,
  handle(context) {
    const { ports, params, request, cookies, settings } = context
    const provider = params.provider ?? ''
    const wish = wishedLanding(settings, new URLSearchParams(request.query).get('redirect'))
    return navigating(context, { provider, wish }, async () => {
      const { url, handle } = await startOAuth(ports, { provider, wish, handle: cookies.oauth })
      const down = { to: 'failure', wish, code: 'oauth_failed' } as const
      const cookie = browserCookie(context, handle, stateSeconds)
      return redirect(302, url ?? landingUrl(context, provider, down), { 'set-cookie': [cookie] })
    })
  },
})
