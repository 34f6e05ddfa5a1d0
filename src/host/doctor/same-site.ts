import { registrableDomain } from '../../settings/public-suffix.js'

/**
 * Whether two host names seem to be below one registrable domain. A guess without the public suffix list, for a warning only.
 *
 * @example isSameSite('api.example.org', 'admin.example.org') // true
 */
export function isSameSite(one: string, other: string): boolean {
  return registrableDomain(one) === registrableDomain(other)
}
