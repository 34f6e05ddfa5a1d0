import { type Account, readAccount } from '../../flows/account/read.js'
import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { accountOutcome, signInAgainUrl } from '../account-form.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

export const accountPageRoute = defineRoute({
  method: 'GET',
  path: '/account',
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Shows the page on which the signed-in user changes the account.',
  async handle(context) {
    const { ports, session, settings, authPath, landing } = context
    const { principal } = await session()
    const given = new URLSearchParams(context.request.query)
    const { redirect: returnTo, reasons } = pageValues(context)
    if (given.has('enrol')) return redirect(303, withReturnTo(`${authPath}/two-factor/setup`, returnTo || landing))

    const account = await readAccount(ports, principal)
    return showPage(context, 'account', {
      ...accountValues(account),
      ...accountOutcome(given),
      linking: account.linkable.find(({ name }) => name === given.get('link')) ?? null,
      required: lacksFactor(settings.twoFactor, principal),
      reasons,
      startUrl: settings.redirectSuccessUrl,
      signInAgainUrl: signInAgainUrl(context, '/account'),
    })
  },
})

/** `stale`: what asks for a password cannot be done, since there is none and the sign-in is too old to serve instead. */
function accountValues({ user, hasPassword, isRecent, ...account }: Account) {
  const { email, emailVerified, name } = user
  const stale = !hasPassword && !isRecent
  const hasProviders = account.linked.length + account.linkable.length > 0
  const hasOtherSessions = account.sessions.some(({ current }) => !current)
  return {
    ...account,
    hasProviders,
    hasOtherSessions,
    email,
    emailVerified,
    name: name ?? '',
    hasPassword,
    stale,
    linkAsks: hasPassword && !isRecent,
  }
}
