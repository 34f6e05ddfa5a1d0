import { findLinkStanding, type LinkStanding } from '../../flows/registration/guess-verification.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { errorAt, type FieldName, mailLimit, pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const verifyEmailPageRoute = defineRoute({
  method: 'GET',
  path: '/verify-email',
  limit: 'other',
  body: null,
  summary: 'Shows the page of the mailed link. Opening it confirms nothing.',
  async handle(context) {
    const { token, error, ...values } = pageValues(context)
    const standing = await standingOf(context, token)
    const isRefused = standing === 'invalid' || error === 'invalid_link'
    const ownBrowser = standing === 'own' || (standing !== 'foreign' && context.cookies.registration !== null)
    const over = isRefused && !ownBrowser
    return showPage(context, 'verify-email', {
      ...values,
      token: standing === 'invalid' ? '' : token,
      error: standing === 'invalid' ? 'invalid_link' : error,
      ownBrowser,
      // The browser that registered can still enter the code. Elsewhere a password would not help any more.
      over,
      at: errorAt(error, over ? [] : fieldsOn(token, ownBrowser)),
      codeDigits: context.settings.otp.length,
      mailLimit: mailLimit(context),
      registrationEnabled: context.settings.registration.enabled,
    })
  },
})

/** null: the page was opened without a link. */
async function standingOf({ ports, cookies }: RouteContext, token: string): Promise<LinkStanding | null> {
  return token === '' ? null : findLinkStanding(ports, { token, handle: cookies.registration })
}

function fieldsOn(token: string, ownBrowser: boolean): FieldName[] {
  const code: FieldName[] = token === '' ? ['code'] : []
  return ownBrowser ? code : [...code, 'password']
}
