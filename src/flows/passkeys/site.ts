import { AuthError } from '../../errors.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'

/** @throws {AuthError} `passkeys_disabled` */
export function requirePasskeys({ policy }: Pick<Ports, 'policy'>): PasskeyPolicy {
  if (policy.passkeys === null) throw new AuthError('passkeys_disabled')
  return policy.passkeys
}
