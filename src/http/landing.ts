import { safeRedirect, withQuery } from '../lib/url.js'
import type { Settings } from '../settings.js'

/** An address with the wish in its query, for pages between here and there. */
export function withReturnTo(address: string, returnTo: string | null): string {
  return returnTo === null || returnTo === '' ? address : withQuery(address, { redirect: returnTo })
}

/** Where whoever lacks a demanded second factor is led to set one up, and then to where they wanted to go. */
export function enrolUrl(authPath: string, returnTo: string): string {
  return withReturnTo(`${authPath}/account?enrol=1`, returnTo)
}

/**
 * Where a browser asked to be led after what it is at: a path of our own origin, or a URL of a trusted one.
 * Null when it asked for nothing, or for anything else (ASVS 5.0, 3.7.2).
 */
export function allowedReturnTo(
  { origin, trustedOrigins }: Pick<Settings, 'origin' | 'trustedOrigins'>,
  returnTo: unknown,
): string | null {
  return safeRedirect(returnTo, origin, trustedOrigins)
}
