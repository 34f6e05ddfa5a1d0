import { safeRedirect, withQuery } from '../lib/url.js'
import type { Settings } from '../settings.js'

/** An address with the return address in its query, for pages on the way to it. */
export function withReturnTo(address: string, returnTo: string | null): string {
  return returnTo === null || returnTo === '' ? address : withQuery(address, { redirect: returnTo })
}

/** Where users without a required second factor set one up before they reach the page they asked for. */
export function enrolUrl(authPath: string, returnTo: string): string {
  return withReturnTo(`${authPath}/account?enrol=1`, returnTo)
}

/**
 * A return address that is allowed: a path of our own origin, or a URL of a trusted one. Null for none and for any other
 * (ASVS 5.0, 3.7.2).
 */
export function allowedReturnTo(
  { origin, trustedOrigins }: Pick<Settings, 'origin' | 'trustedOrigins'>,
  returnTo: unknown,
): string | null {
  return safeRedirect(returnTo, origin, trustedOrigins)
}
