import { defineRoute } from '../http/route.js'
import { pageValues } from './page-values.js'
import { showPage } from './show-page.js'

export const otpPageRoute = defineRoute({
  method: 'GET',
  path: '/otp',
  limit: 'other',
  body: null,
  enabled: ({ otp }) => otp.enabled,
  summary: 'Shows the page that asks for a code, and then takes it; opening the mailed link signs nobody in.',
  handle(context) {
    const again = new URLSearchParams(context.request.query).has('again')
    return showPage(context, 'otp', { ...pageValues(context), waiting: context.cookies.otp !== null && !again })
  },
})
