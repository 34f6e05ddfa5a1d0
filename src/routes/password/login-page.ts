import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { pageValues, providerLinks } from '../page-values.js'
import { optionalSession } from '../session/optional.js'
import { showPage } from '../show-page.js'

export const loginPageRoute = defineRoute({
  method: 'GET',
  path: '/login',
  limit: 'other',
  body: null,
  summary: 'Shows the sign-in page; redirects a signed-in user.',
  async handle(context) {
    const values = pageValues(context)
    // An error means that the visitor was just sent back here: another redirect would loop.
    const fresh = values.error === '' && !values.again
    if (fresh && (await optionalSession(context)).principal !== null) return leadOn(context, values.redirect)
    if (fresh && context.cookies.refresh !== null) {
      const againUrl = withReturnTo(`${context.authPath}/login?again=1`, values.redirect)
      return showPage(context, 'continue', { ...values, againUrl })
    }
    return showPage(context, 'login', { ...values, ...waysIn(context) })
  },
})

/** What there is besides a password. */
function waysIn(context: RouteContext) {
  const { settings } = context
  return {
    providers: providerLinks(context),
    otpEnabled: settings.otp.enabled,
    registrationEnabled: settings.registration.enabled,
  }
}

/** Never to the sign-in page itself: that would redirect forever. */
function leadOn({ settings, authPath }: RouteContext, returnTo: string): HttpResponse {
  const target = returnTo || settings.redirectSuccessUrl
  const isHere = target.replace(/[?#].*$/, '') === `${authPath}/login`
  return redirect(303, isHere ? `${authPath}/account` : target)
}
