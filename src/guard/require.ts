import { AuthError } from '../errors.js'
import type { Principal, SessionPrincipal } from '../model/principal.js'
import type { Requirement } from '../settings/requirement.js'

/**
 * Checks a principal against the requirement of a single route. Only sessions have roles and a recent sign-in; no other
 * credential does.
 *
 * @param at Now in Unix seconds, and the path of the route that makes a sign-in recent again
 * @throws {AuthError} `impersonation_forbidden`, `forbidden`, `insufficient_access`, `recent_login_required` (ASVS 5.0, 7.5.3)
 */
export function checkRequirement(
  principal: Principal,
  { roles, access, kinds, recentSeconds, actor }: Requirement,
  { now, reauthenticate }: { now: number; reauthenticate: string },
): void {
  if (actor === false && principal.kind === 'session' && principal.actor !== null) {
    throw new AuthError('impersonation_forbidden')
  }
  if (kinds !== null && !kinds.includes(principal.kind)) throw new AuthError('forbidden')
  if (access === 'READWRITE' && principal.kind === 'apiToken' && principal.access !== 'READWRITE') {
    throw new AuthError('insufficient_access')
  }
  if (roles !== null && !userOf(principal).roles.some((role) => roles.includes(role))) throw new AuthError('forbidden')
  if (recentSeconds !== null && now - userOf(principal).authTime > recentSeconds) {
    throw new AuthError('recent_login_required', { reauthenticate })
  }
}

function userOf(principal: Principal): SessionPrincipal {
  if (principal.kind !== 'session') throw new AuthError('forbidden')
  return principal
}
