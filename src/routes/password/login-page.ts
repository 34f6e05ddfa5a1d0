import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { errorAt, pageValues } from '../page-values.js'
import { upgradeUrl } from '../passkeys/page.js'
import { providerLinks } from '../provider-links.js'
import { cookieOutcome } from '../session/kept-cookies.js'
import { optionalSession } from '../session/optional.js'
import { showPage } from '../show-page.js'

/** Errors that the user resolves on the page for the mailed code. */
const unconfirmed = new Set(['email_not_verified', 'verification_sent', 'verification_not_sent'])

export const loginPageRoute = defineRoute({
  method: 'GET',
  path: '/login',
  limit: 'other',
  body: null,
  summary: 'Shows the sign-in page, or redirects a signed-in user.',
  async handle(context) {
    const values = pageValues(context)
    // An error means that the visitor was just sent back here: another redirect would loop.
    const fresh = values.error === '' && !values.again
    if (fresh && (await optionalSession(context)).principal !== null) return leadOn(context, values.redirect)
    if (fresh && context.cookies.refresh !== null) {
      const againUrl = withReturnTo(`${context.authPath}/login?again=1`, values.redirect)
      return showPage(context, 'continue', { ...values, againUrl })
    }
    const { access, refresh } = context.cookies
    const error = cookieOutcome(context, access, refresh) === 'refused' ? 'cookies_refused' : values.error
    const at = errorAt(error, ['password'])
    return showPage(context, 'login', {
      ...values,
      ...waysIn(context),
      ...passkeyWays(context, values.redirect),
      error,
      at,
      unconfirmed: unconfirmed.has(values.error),
      mustReset: values.error === 'password_reset_required',
    })
  },
})

/** The ways to sign in besides the password. */
function waysIn(context: RouteContext) {
  const { settings } = context
  return {
    providers: providerLinks(context),
    otpEnabled: settings.otp.enabled,
    otpLinkOnly: settings.otp.mail === 'link',
    registrationEnabled: settings.registration.enabled,
  }
}

function passkeyWays({ settings, authPath }: RouteContext, returnTo: string) {
  const { enabled, upgrade } = settings.passkeys
  return { passkeys: enabled, upgradeUrl: enabled && upgrade ? upgradeUrl(authPath, returnTo) : '' }
}

/** Never to the sign-in page itself: that would redirect forever. */
function leadOn({ settings, authPath }: RouteContext, returnTo: string): HttpResponse {
  const target = returnTo || settings.redirectSuccessUrl
  const isHere = target.replace(/[?#].*$/, '') === `${authPath}/login`
  return redirect(303, isHere ? `${authPath}/account` : target)
}
