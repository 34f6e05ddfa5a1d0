import { startGrantedLink, startOAuth } from '../../flows/oauth/start.js'
import { stateSeconds } from '../../flows/oauth/state.js'
import { allowedReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { browserCookie, hasProviders, landingUrl } from './landing.js'
import { navigating } from './navigating.js'

export const startOAuthRoute = defineRoute({
  method: 'GET',
  path: '/oauth/:provider',
  limit: 'other',
  body: null,
  changes: true,
  enabled: hasProviders,
  summary:
    'Redirects the browser to the provider. The query parameter redirect names the page that follows the sign-in.',
  answers: { 302: null },
  errors: ['not_found'],
  cookies: ['oauth'],
  query: {
    redirect: 'Where the browser ends: a path, or a URL of a trusted origin.',
    link: '1 where `/oauth/:provider/link` has led here: links instead of signing in.',
  },
  browserOnly: true,
  handle(context) {
    const { ports, params, request, cookies, settings, session } = context
    const provider = params.provider ?? ''
    const given = queryOf(request)
    const returnTo = allowedReturnTo(settings, given.get('redirect'))
    const asked = { provider, returnTo, handle: cookies.oauth }
    const links = given.get('link') === '1'
    return navigating(context, { provider, returnTo }, async () => {
      const started = links
        ? await startGrantedLink(ports, (await session()).principal, asked)
        : await startOAuth(ports, asked)
      if (!started)
        return redirect(302, landingUrl(context, provider, { to: 'account', returnTo, code: 'oauth_state' }))
      const { url, handle } = started
      const down = { to: links ? 'account' : 'failure', returnTo, code: 'oauth_failed' } as const
      const cookie = browserCookie(context, handle, stateSeconds)
      return redirect(302, url ?? landingUrl(context, provider, down), { 'set-cookie': [cookie] })
    })
  },
})
