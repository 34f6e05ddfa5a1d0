import type { Factor, KindProof } from '../../model/factors/kinds.js'
import type { CodeCheck } from './code-check.js'
import { totpCodes } from './totp-codes.js'

/** The kinds of factor that are proved by a typed code. A new one is a line here. */
const checks: Readonly<Partial<Record<Factor['kind'], CodeCheck<Factor, KindProof>>>> = {
  totp: totpCodes,
}

/** The factor whose code that text looks like, and its check; null where none of the account's has such codes. */
export function checkFor(
  factors: readonly Factor[],
  typed: string,
): { factor: Factor; check: CodeCheck<Factor, KindProof> } | null {
  for (const factor of factors) {
    const check = checks[factor.kind]
    if (check?.recognises(typed)) return { factor, check }
  }
  return null
}
