import { safeRedirect, withQuery } from '../lib/url.js'
import type { Settings } from '../settings.js'

/** An address with the wish in its query, for pages between here and there. */
export function withWish(address: string, wish: string | null): string {
  return wish === null || wish === '' ? address : withQuery(address, { redirect: wish })
}

/** Where whoever lacks a demanded second factor is led to set one up, and then to where they wanted to go. */
export function enrolUrl(authPath: string, wish: string): string {
  return withWish(`${authPath}/account?enrol=1`, wish)
}

/**
 * Where a browser asked to be led after what it is at: a path of our own origin, or a URL of a trusted one.
 * Null when it asked for nothing, or for anything else (ASVS 5.0, 3.7.2).
 */
export function wishedLanding(
  { origin, trustedOrigins }: Pick<Settings, 'origin' | 'trustedOrigins'>,
  wish: unknown,
): string | null {
  return safeRedirect(wish, origin, trustedOrigins)
}
