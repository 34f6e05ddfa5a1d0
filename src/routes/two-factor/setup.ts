import { readStanding } from '../../flows/account/read.js'
import { hasEnrolment } from '../../flows/two-factor/enrolment.js'
import { redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { accountError } from '../account-form.js'
import { errorAt, pageValues } from '../page-values.js'
import { setupPath, showSetup } from './show-setup.js'

export const twoFactorSetupPageRoute = defineRoute({
  method: 'GET',
  path: setupPath,
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Shows the page to set up two-factor authentication.',
  async handle(context) {
    const { ports, session, settings, authPath } = context
    const { principal } = await session()
    const { user, hasPassword, hasPasskey, isRecent } = await readStanding(ports, principal)
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
      hasPasskey,
      isRecent,
    })
  },
})
