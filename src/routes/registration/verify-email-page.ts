import { ownsVerification } from '../../flows/registration/find-verification.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const verifyEmailPageRoute = defineRoute({
  method: 'GET',
  path: '/verify-email',
  limit: 'other',
  body: null,
  summary: 'Shows the page behind the mailed link; opening it confirms nothing.',
  async handle(context) {
    const values = pageValues(context)
    const ownBrowser = await isOwnBrowser(context, values.token)
    return showPage(context, 'verify-email', { ...values, ownBrowser })
  },
})

async function isOwnBrowser({ ports, cookies }: RouteContext, token: string): Promise<boolean> {
  if (cookies.registration === null) return false
  return token === '' || ownsVerification(ports, { token, handle: cookies.registration })
}
