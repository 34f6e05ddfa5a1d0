import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import type { RouteContext } from '../../http/route.js'
import { signInAgainUrl } from '../account-form.js'
import { newPasskeyUrl } from '../passkeys/page.js'
import { showPage } from '../show-page.js'

export const setupPath = '/two-factor/setup'

/** The page at that step. Values that the step does not need may be left out. */
export function showSetup(
  context: RouteContext,
  returnTo: string,
  values: Readonly<Record<string, unknown>>,
): Promise<HttpResponse> {
  const here = withReturnTo(`${context.authPath}${setupPath}`, returnTo)
  const none = {
    secret: '',
    uri: '',
    qrCode: '',
    error: '',
    hasPassword: true,
    stale: false,
    required: false,
    hasPasskey: false,
  }
  return showPage(context, 'two-factor-setup', {
    ...none,
    ...values,
    redirect: returnTo,
    passkeys: context.settings.passkeys.enabled,
    // The account page takes the password that an older sign-in needs.
    newPasskeyUrl:
      values.isRecent === true ? newPasskeyUrl(context.authPath, here) : `${context.authPath}/account#passkeys`,
    here,
    nextUrl: returnTo || `${context.authPath}/account`,
    againUrl: withReturnTo(`${context.authPath}${setupPath}?again=1`, returnTo),
    signInAgainUrl: signInAgainUrl(context, withReturnTo(setupPath, returnTo)),
  })
}
