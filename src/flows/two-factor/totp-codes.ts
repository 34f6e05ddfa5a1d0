import { withoutGaps } from '../../lib/readable-code.js'
import type { Totp, TotpProof } from '../../model/factors/totp.js'
import type { Ports } from '../../ports.js'
import type { CodeCheck } from './code-check.js'

/** Codes of an authenticator app: six digits, in any spacing. */
export const totpCodes: CodeCheck<Totp, TotpProof> = {
  recognises: (typed) => /^\d{6}$/.test(withoutGaps(typed)),

  async prove(ports, { userId, factor }, typed) {
    const secret = openSecret(ports, userId, factor.sealedSecret)
    if (secret === null) return null
    const step = await ports.authenticator.stepOf(secret, withoutGaps(typed), factor.lastStep, ports.clock.now())
    return step === null ? null : { kind: 'totp', step }
  },
}

/** Seals an authenticator's secret for that user; it opens in no other user's row. */
export function sealSecret(ports: Pick<Ports, 'keyring'>, userId: string, secret: string): string {
  return ports.keyring.seal('totp-secret', userId, secret)
}

/** Null when the key that sealed it is gone. */
export function openSecret(ports: Pick<Ports, 'keyring'>, userId: string, sealed: string): string | null {
  return ports.keyring.open('totp-secret', userId, sealed)
}
