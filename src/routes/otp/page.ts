import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { errorAt, mailLimit, pageValues } from '../page-values.js'
import { cookieOutcome } from '../session/kept-cookies.js'
import { showPage } from '../show-page.js'

export const otpPageRoute = defineRoute({
  method: 'GET',
  path: '/otp',
  limit: 'other',
  body: null,
  enabled: ({ otp }) => otp.enabled,
  summary: 'Shows the page that asks for a mailed code and takes it. Opening the mailed link does not sign in.',
  async handle(context) {
    const values = pageValues(context)
    const outcome = cookieOutcome(context, context.cookies.otp)
    if (outcome === 'kept') return redirect(303, withReturnTo(`${context.authPath}/otp`, values.redirect))
    const error = outcome === 'refused' ? 'cookies_refused' : values.error
    const waiting = context.cookies.otp !== null && !values.again
    const againUrl = withReturnTo(`${context.authPath}/otp?again=1`, values.redirect)
    const at = errorAt(error, waiting && values.token === '' ? ['code'] : [])
    return showPage(context, 'otp', { ...values, error, at, waiting, againUrl, mailLimit: mailLimit(context) })
  },
})
