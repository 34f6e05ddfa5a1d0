import { AuthError } from '../../errors.js'
import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { pageValues, providerLinks } from '../page-values.js'
import { showPage } from '../show-page.js'

export const loginPageRoute = defineRoute({
  method: 'GET',
  path: '/login',
  limit: 'other',
  body: null,
  summary: 'Shows the sign-in page; leads on whoever is signed in.',
  async handle(context) {
    const values = pageValues(context)
    // Whoever comes with an error has just been sent back: leading them on again would go round and round.
    const fresh = values.error === '' && !values.again
    if (fresh && (await isSignedIn(context))) return leadOn(context, values.redirect)
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

/** That it cannot be told is an answer of its own. */
async function isSignedIn({ session }: RouteContext): Promise<boolean> {
  try {
    await session()
    return true
  } catch (error) {
    if (error instanceof AuthError && error.status < 500) return false
    throw error
  }
}

/** Never back to where they are. */
function leadOn({ settings, authPath }: RouteContext, returnTo: string): HttpResponse {
  const target = returnTo || settings.redirectSuccessUrl
  const isHere = target.replace(/[?#].*$/, '') === `${authPath}/login`
  return redirect(303, isHere ? `${authPath}/account` : target)
}
