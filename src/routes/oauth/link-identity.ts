import { grantLink, startLink } from '../../flows/oauth/start.js'
import { stateSeconds } from '../../flows/oauth/state.js'
import { singleHeader } from '../../http/message.js'
import { json, withHeaders } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { urlSchema } from '../answer-schemas.js'
import { passwordBody } from '../fields.js'
import { showPage } from '../show-page.js'
import { browserCookie, hasProviders, landingUrl } from './landing.js'

export const linkIdentityRoute = defineRoute({
  method: 'POST',
  path: '/oauth/:provider/link',
  limit: 'login',
  body: passwordBody,
  page: '/account',
  section: 'identities',
  signedIn: true,
  enabled: hasProviders,
  summary: 'Starts to link a provider login to the signed-in account. Returns the URL to open.',
  answers: { 200: urlSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'busy'],
  cookies: ['oauth'],
  browserOnly: true,
  async handle(context, { password }) {
    const { ports, settings, session, params, cookies, returnTo, form, authPath } = context
    const { principal, visitor } = await session()
    const provider = params.provider ?? ''
    const asking = { provider, password: password || null, visitor, device: cookies.device }
    if (!form && isFromAnotherSite(context)) {
      await grantLink(ports, principal, asking)
      return json(200, { url: `${settings.origin}${authPath}/oauth/${provider}?link=1` })
    }
    const started = await startLink(ports, principal, { ...asking, returnTo, handle: cookies.oauth })
    const cookie = { 'set-cookie': [browserCookie(context, started.handle, stateSeconds)] }
    const url = started.url ?? landingUrl(context, provider, { to: 'account', returnTo, code: 'oauth_failed' })
    if (!form) return json(200, { url }, cookie)
    // `form-action` also restricts redirects after a form, and it names no provider. So a page forwards the browser.
    const label = ports.providers.find(provider)?.label ?? provider
    return withHeaders(await showPage(context, 'oauth-continue', { url, provider: label }), cookie)
  },
})

/** Whether the page is of a trusted origin on another site: browsers ignore Lax cookies in responses to its requests. */
function isFromAnotherSite({ request, settings }: Pick<RouteContext, 'request' | 'settings'>): boolean {
  const origin = singleHeader(request, 'origin')
  return origin !== null && !settings.ownOrigins.includes(origin)
}
