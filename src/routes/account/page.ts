import { type Account, readAccount } from '../../flows/account/read.js'
import { backupCodes } from '../../flows/two-factor/backup-codes.js'
import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { accountOutcome, signInAgainUrl } from '../account-form.js'
import { fieldInputs } from '../field-inputs.js'
import { pageValues } from '../page-values.js'
import { passkeyValues } from '../passkeys/account-values.js'
import { marked } from '../provider-links.js'
import { showPage } from '../show-page.js'

/** With so few backup codes left, the page marks their count. */
const fewCodes = 2

export const accountPageRoute = defineRoute({
  method: 'GET',
  path: '/account',
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Shows the account page of the signed-in user.',
  async handle(context) {
    const { ports, session, settings, authPath, landing } = context
    const { principal } = await session()
    const given = queryOf(context.request)
    const { redirect: returnTo, reasons, wrong } = pageValues(context)
    if (given.has('enrol')) return redirect(303, withReturnTo(`${authPath}/two-factor/setup`, returnTo || landing))

    const account = await readAccount(ports, principal)
    return showPage(context, 'account', {
      ...accountValues(account),
      ...accountOutcome(given),
      ...fieldInputs(context, { ...account.user }, wrong),
      linking: account.linkable.find(({ name }) => name === given.get('link')) ?? null,
      required: lacksFactor(settings.twoFactor, principal),
      reasons,
      ...(await passkeyValues(context, principal)),
      startUrl: settings.redirectSuccessUrl,
      signInAgainUrl: signInAgainUrl(context, '/account'),
    })
  },
})

/** `stale`: the account has no password and the sign-in is too old to replace it, so forms that need a password are off. */
function accountValues({ user, hasPassword, isRecent, ...account }: Account) {
  const { email, emailVerified, name } = user
  const stale = !hasPassword && !isRecent
  const { backupCodesLeft } = account
  return {
    ...account,
    linked: account.linked.map(marked),
    linkable: account.linkable.map(marked),
    backupCodesTotal: backupCodes,
    fewBackupCodes: backupCodesLeft !== null && backupCodesLeft <= fewCodes,
    hasProviders: account.linked.length + account.linkable.length > 0,
    hasOtherSessions: account.sessions.some(({ current }) => !current),
    email,
    emailVerified,
    name: name ?? '',
    hasPassword,
    stale,
    linkAsks: hasPassword && !isRecent,
  }
}
