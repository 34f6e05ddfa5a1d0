import type { SignInResult } from '../../flows/session/sign-in.js'
import { currentRpId } from '../../flows/steps/usable-factors.js'
import type { RouteContext } from '../../http/route.js'
import { hasWayIn, signsInAt } from '../../model/ways-in.js'
import { newPasskeyUrl } from '../passkeys/page.js'

/**
 * Where a confirmed user goes. A user who registered without a password adds a passkey first. The page that takes the code
 * already leads there; a mailed link does not.
 */
export function confirmedLanding({ ports, settings, authPath, landing }: RouteContext, result: SignInResult): string {
  const { enabled, signUp } = settings.passkeys
  const page = newPasskeyUrl(authPath, '')
  if (!enabled || !signUp || result.kind !== 'session' || landing.startsWith(page)) return landing
  return hasWayIn(result.issued.user, signsInAt(currentRpId(ports))) ? landing : newPasskeyUrl(authPath, landing)
}
