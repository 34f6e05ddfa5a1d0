import { waysOfStep } from '../../flows/two-factor/passkey-step.js'
import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { errorAt, pageValues } from '../page-values.js'
import { cookieOutcome } from '../session/kept-cookies.js'
import { showPage } from '../show-page.js'

export const twoFactorPageRoute = defineRoute({
  method: 'GET',
  path: '/two-factor',
  limit: 'other',
  body: null,
  summary: 'Shows the page for the second step of a sign-in.',
  async handle(context) {
    const values = pageValues(context)
    const outcome = cookieOutcome(context, context.cookies.challenge)
    if (outcome === 'kept') return redirect(303, withReturnTo(`${context.authPath}/two-factor`, values.redirect))
    const error = outcome === 'refused' ? 'cookies_refused' : values.error
    const waiting = context.cookies.challenge !== null && values.error !== 'invalid_token'
    const ways = await waysOfStep(context.ports, waiting ? context.cookies.challenge : null)
    const at = errorAt(error, waiting && ways.code ? ['code'] : [])
    const signInUrl = withReturnTo(context.settings.redirectFailUrl, values.redirect)
    return showPage(context, 'two-factor', {
      ...values,
      error,
      at,
      waiting,
      codes: ways.code,
      passkeys: ways.passkey,
      signInUrl,
    })
  },
})
