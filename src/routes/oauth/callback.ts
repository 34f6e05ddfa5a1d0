import { finishOAuth } from '../../flows/oauth/finish.js'
import { newcomerSeconds } from '../../flows/oauth/newcomer.js'
import { isEmbedded } from '../../http/navigation.js'
import { redirect } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'
import { signInAnswer } from '../session/sign-in-answer.js'
import { showPage } from '../show-page.js'
import { browserCookie, hasProviders, landingUrl } from './landing.js'
import { navigating } from './navigating.js'
import { returnedByProvider } from './return.js'

/** An answer that names a parameter twice. */
const malformed = { to: 'failure', returnTo: null, code: 'oauth_failed' } as const

/** The cookie stays, because other tabs may be at a provider and this callback may be repeated. It gives no access. */
export const finishOAuthRoute = defineRoute({
  method: 'GET',
  path: '/oauthcallback/:provider',
  limit: 'login',
  body: null,
  changes: true,
  enabled: hasProviders,
  summary: 'Receives the browser back from the provider and signs in, or links the login to the account that asked.',
  answers: { 200: 'page', 302: null },
  errors: ['not_found'],
  cookies: ['oauth'],
  query: { state: 'As we sent it.', code: 'As the provider gives it.', error: 'The same.', iss: 'By RFC 9207.' },
  browserOnly: true,
  // Providers navigate the browser. A script of our own pages may repeat the address, in the browser that was sent off.
  unasked: (request, { oauth }) =>
    isEmbedded(request) && (oauth === null || request.headers['sec-fetch-site'] !== 'same-origin'),
  handle(context) {
    const { ports, params, request, cookies, visitor, settings, authPath } = context
    const provider = params.provider ?? ''
    return navigating(context, { provider, returnTo: null }, async () => {
      const { access: accessToken, refresh: refreshToken, oauth: handle, device, challenge } = cookies
      const given = queryOf(request)
      const returned = returnedByProvider(given)
      // Before the state is looked up, so a stranger's request uses up and writes nothing.
      if (!returned) return redirect(302, landingUrl(context, provider, malformed))
      if (settings.cookies.sameSite === 'strict' && !given.has('here')) {
        // A navigation or redirect from another site sends no strict cookie. So a page of ours forwards the browser.
        const url = withQuery(`${authPath}/oauthcallback/${provider}?${request.query}`, { here: '1' })
        return showPage(context, 'oauth-return', { url })
      }
      const held = { accessToken, refreshToken, handle, device, challenge }
      const { landing, result, fault } = await finishOAuth(ports, { provider, ...returned, ...held, visitor })
      if (fault) context.report(fault)
      const url = landingUrl(context, provider, landing)
      if (result) {
        const { returnTo } = landing
        return { ...(await signInAnswer({ ...context, form: true, returnTo, landing: url }, result)), status: 302 }
      }
      const waits = landing.to === 'identity' && handle !== null
      const cookie = waits ? { 'set-cookie': [browserCookie(context, handle, newcomerSeconds)] } : {}
      return redirect(302, url, cookie)
    })
  },
})
