import { AuthError } from '../errors.js'
import { ownsVerification } from '../flows/find-verification.js'
import { asset, html } from '../http/problem.js'
import { defineRoute, type RouteContext } from '../http/route.js'

export const verifyEmailPageRoute = defineRoute({
  method: 'GET',
  path: '/verify-email',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the mailed link; opening it confirms nothing.',
  async handle(context) {
    const query = new URLSearchParams(context.request.query)
    const token = query.get('token') ?? ''
    const values = { token, email: query.get('email') ?? '', error: query.get('error') ?? '' }
    const needsPassword = !(await isOwnBrowser(context, token))
    await context.templates.prepare()
    const page = context.templates.page('verify-email', { ...values, needsPassword, basePath: context.authPath })
    return html(200, page, { formOrigins: context.settings.trustedOrigins })
  },
})

export const assetRoute = defineRoute({
  method: 'GET',
  path: '/assets/:file',
  limit: 'other',
  body: null,
  summary: 'Serves the stylesheet of our pages; its name holds a hash of its content.',
  async handle({ templates, params }) {
    const found = templates.asset(params.file ?? '')
    if (!found) throw new AuthError('not_found')
    return asset(found.contentType, found.body)
  },
})

async function isOwnBrowser({ ports, cookies }: RouteContext, token: string): Promise<boolean> {
  if (cookies.registration === null) return false
  return token === '' || ownsVerification(ports, { token, handle: cookies.registration })
}
