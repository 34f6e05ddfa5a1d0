import { withReturnTo } from '../../http/landing.js'
import { redirect } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'
import { pageValues } from '../page-values.js'
import { showPage } from '../show-page.js'

const path = '/passkeys/new'

/**
 * Where a sign-in by password leads first: the page asks the password manager for a passkey, and then leads on.
 *
 * @param returnTo a refused sign-in comes back with the address of this page itself
 */
export function upgradeUrl(authPath: string, returnTo: string): string {
  const address = `${authPath}${path}?upgrade=1`
  const isHere = returnTo === address || returnTo.startsWith(`${address}&`)
  return isHere ? returnTo : withReturnTo(address, returnTo)
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
    const { principal } = await session()
    const { error, redirect: returnTo } = pageValues(context)
    const next = returnTo || settings.redirectSuccessUrl
    const upgrade = queryOf(request).has('upgrade')
    // A session that used a passkey needs no other one.
    if (!settings.passkeys.enabled || (upgrade && principal.amr.includes('pop'))) return redirect(303, next)
    return showPage(context, 'passkey-new', {
      error,
      passkeys: true,
      upgrade,
      next,
      here: newPasskeyUrl(authPath, returnTo),
    })
  },
})
