import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

const path = '/passkeys/new'

/** Where a sign-in by password leads first: the page asks the password manager for a passkey, and then leads on. */
export function upgradeUrl(authPath: string, returnTo: string): string {
  return withReturnTo(`${authPath}${path}?upgrade=1`, returnTo)
}

/** Where a user goes who has no password yet. */
export function newPasskeyUrl(authPath: string, returnTo: string): string {
  return withReturnTo(`${authPath}${path}`, returnTo)
}

export const newPasskeyPageRoute = defineRoute({
  method: 'GET',
  path,
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Shows the page that adds a passkey.',
  async handle(context) {
    const { session, settings, authPath, request } = context
    await session()
    const { error, redirect: returnTo } = pageValues(context)
    const next = returnTo || settings.redirectSuccessUrl
    if (!settings.passkeys.enabled) return redirect(303, next)
    return showPage(context, 'passkey-new', {
      error,
      passkeys: true,
      upgrade: new URLSearchParams(request.query).has('upgrade'),
      next,
      here: newPasskeyUrl(authPath, returnTo),
    })
  },
})
