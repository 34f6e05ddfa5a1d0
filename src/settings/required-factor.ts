import { provesFactor } from '../model/second-factor.js'
import type { Settings } from '../settings.js'

/** Whether `twoFactor.required` demands a second factor for these roles, and the sign-in has not proved one. */
export function lacksFactor(
  twoFactor: Settings['twoFactor'],
  { roles, amr }: { roles: readonly string[]; amr: readonly string[] },
): boolean {
  return requiresFactor(twoFactor, roles) && !provesFactor(amr)
}

/** Whether `twoFactor.required` demands a second factor for these roles. */
export function requiresFactor({ required }: Settings['twoFactor'], roles: readonly string[]): boolean {
  return typeof required === 'boolean' ? required : roles.some((role) => required.includes(role))
}
