import { type Factor, usableFactors } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

/** The RP id whose passkeys work here; null while passkeys are off. */
export function currentRpId({ policy }: Pick<Ports, 'policy'>): string | null {
  return policy.passkeys?.rpId ?? null
}

/** The second factors of a user that can be proved here. */
export function factorsHere(ports: Pick<Ports, 'policy'>, user: Pick<UserRecord, 'factors'>): Factor[] {
  return usableFactors(user, currentRpId(ports))
}

export function hasPasskeyHere(ports: Pick<Ports, 'policy'>, user: Pick<UserRecord, 'factors'>): boolean {
  return factorsHere(ports, user).some(({ kind }) => kind === 'passkey')
}
