import { readStanding } from '../../flows/account/read.js'
import { hasEnrolment } from '../../flows/two-factor/enrolment.js'
import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { accountError, signInAgainUrl } from '../account-form.js'
import { errorAt, pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

const path = '/two-factor/setup'

export const twoFactorSetupPageRoute = defineRoute({
  method: 'GET',
  path,
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Shows the page to set up two-factor authentication.',
  async handle(context) {
    const { ports, session, settings, authPath } = context
    const { principal } = await session()
    const { user, hasPassword, isRecent } = await readStanding(ports, principal)
    const { error, again, redirect: returnTo } = pageValues(context)
    if (user.twoFactor) return redirect(303, returnTo || `${authPath}/account#two-factor`)

    const waiting = error !== 'invalid_token' && !again && (await hasEnrolment(ports, principal.sessionId))
    return showSetup(context, returnTo, {
      step: { start: !waiting, scan: false, confirm: waiting },
      error: accountError(error),
      at: errorAt(error, waiting ? ['code'] : ['password']),
      hasPassword,
      stale: !hasPassword && !isRecent,
      required: lacksFactor(settings.twoFactor, principal),
    })
  },
})

/** The page at that step. Values that the step does not need may be left out. */
export function showSetup(
  context: RouteContext,
  returnTo: string,
  values: Readonly<Record<string, unknown>>,
): Promise<HttpResponse> {
  const none = { secret: '', uri: '', qrCode: '', error: '', hasPassword: true, stale: false, required: false }
  return showPage(context, 'two-factor-setup', {
    ...none,
    ...values,
    redirect: returnTo,
    againUrl: withReturnTo(`${context.authPath}${path}?again=1`, returnTo),
    signInAgainUrl: signInAgainUrl(context, withReturnTo(path, returnTo)),
  })
}
