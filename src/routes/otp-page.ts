import { html } from '../http/problem.js'
import { defineRoute } from '../http/route.js'

export const otpPageRoute = defineRoute({
  method: 'GET',
  path: '/otp',
  limit: 'other',
  body: null,
  enabled: ({ otp }) => otp.enabled,
  summary: 'Shows the page that asks for a code, and then takes it; opening the mailed link signs nobody in.',
  async handle({ request, cookies, templates, authPath, settings }) {
    const query = new URLSearchParams(request.query)
    const waiting = cookies.otp !== null && !query.has('again')
    const values = { token: query.get('token') ?? '', waiting, error: query.get('error') ?? '' }
    await templates.prepare()
    const page = templates.page('otp', { ...values, basePath: authPath })
    return html(200, page, { formOrigins: settings.trustedOrigins })
  },
})
