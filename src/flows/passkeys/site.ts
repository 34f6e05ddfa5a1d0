import { AuthError } from '../../errors.js'
import type { PasskeyRecord } from '../../model/factors/passkey.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'

/** @throws {AuthError} `passkeys_disabled` */
export function requirePasskeys({ policy }: Pick<Ports, 'policy'>): PasskeyPolicy {
  if (policy.passkeys === null) throw new AuthError('passkeys_disabled')
  return policy.passkeys
}

/** Whether it signs in here: it is not suspended, and was made for this site. */
export function isUsable({ rpId, suspendedAt }: PasskeyRecord, policy: PasskeyPolicy | null): boolean {
  return rpId === policy?.rpId && suspendedAt === null
}
