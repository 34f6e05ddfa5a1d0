import { withReturnTo } from '../../http/landing.js'
import { defineRoute } from '../../http/route.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const otpPageRoute = defineRoute({
  method: 'GET',
  path: '/otp',
  limit: 'other',
  body: null,
  enabled: ({ otp }) => otp.enabled,
  summary: 'Shows the page that asks for a code, and then takes it; opening the mailed link signs nobody in.',
  handle(context) {
    const values = pageValues(context)
    const waiting = context.cookies.otp !== null && !values.again
    const againUrl = withReturnTo(`${context.authPath}/otp?again=1`, values.redirect)
    return showPage(context, 'otp', { ...values, waiting, againUrl })
  },
})
