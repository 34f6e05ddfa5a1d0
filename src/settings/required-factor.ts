import { provesFactor } from '../model/second-factor.js'
import type { Settings } from '../settings.js'

/** Whether `twoFactor.required` demands a second factor for these roles, and the sign-in has not proved one. */
export function lacksFactor(
  { required }: Settings['twoFactor'],
  { roles, amr }: { roles: readonly string[]; amr: readonly string[] },
): boolean {
  const asked = typeof required === 'boolean' ? required : roles.some((role) => required.includes(role))
  return asked && !provesFactor(amr)
}
