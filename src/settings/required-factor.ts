import { provesFactor } from '../model/second-factor.js'
import type { Settings } from '../settings.js'

/** Whether `twoFactor.required` asks somebody with these roles for a second factor that their sign-in has not proved. */
export function lacksFactor(
  { required }: Settings['twoFactor'],
  { roles, amr }: { roles: readonly string[]; amr: readonly string[] },
): boolean {
  const asked = typeof required === 'boolean' ? required : roles.some((role) => required.includes(role))
  return asked && !provesFactor(amr)
}
