import { type OtpLink, readOtpLink } from '../../flows/otp/request.js'
import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { errorAt, mailLimit, pageValues } from '../page-values.js'
import { cookieOutcome } from '../session/kept-cookies.js'
import { showPage } from '../show-page.js'

export const otpPageRoute = defineRoute({
  method: 'GET',
  path: '/otp',
  limit: 'other',
  body: null,
  enabled: ({ otp }) => otp.enabled,
  summary:
    'Shows the page that asks for a mailed code or link, and takes it. Opening the mailed link does not sign in.',
  async handle(context) {
    const { cookies, settings, authPath } = context
    const { token, ...values } = pageValues(context)
    const outcome = cookieOutcome(context, cookies.otp)
    if (outcome === 'kept') return redirect(303, withReturnTo(`${authPath}/otp`, values.redirect))

    const link = await linkOf(context, token)
    const waiting = cookies.otp !== null && !values.again
    const linkOnly = settings.otp.mail === 'link'
    const error =
      outcome === 'refused' ? 'cookies_refused' : link?.standing === 'invalid' ? 'invalid_link' : values.error
    const opened = openedValues(link, token)
    const asks = !waiting && opened.token === '' && !opened.elsewhere
    return showPage(context, 'otp', {
      ...values,
      ...opened,
      error,
      at: errorAt(error, waiting && opened.token === '' && !linkOnly ? ['code'] : []),
      waiting,
      linkOnly,
      againUrl: asks ? '' : withReturnTo(`${authPath}/otp?again=1`, values.redirect),
      mailLimit: mailLimit(context),
    })
  },
})

/** null: the page was opened without a link. */
async function linkOf({ ports, cookies }: RouteContext, token: string): Promise<OtpLink | null> {
  return token === '' ? null : readOtpLink(ports, { token, handle: cookies.otp })
}

/** The token only in the browser that asked, which has a button for it. Any other browser gets the code to type there. */
function openedValues(link: OtpLink | null, token: string): { token: string; elsewhere: boolean; code: string } {
  if (link?.standing === 'foreign') return { token: '', elsewhere: true, code: link.code ?? '' }
  return { token: link?.standing === 'own' ? token : '', elsewhere: false, code: '' }
}
