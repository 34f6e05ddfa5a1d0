import type { FactorKind } from './factor-kind.js'
import { totp } from './totp.js'

/** Every kind of second factor, by its name. A new kind is a file in this folder and a line here. */
const kinds = {
  totp,
}

type Kind = (typeof kinds)[keyof typeof kinds]

/** A second factor of an account. Every kind has `kind` and `enabledAt`. */
export type Factor = Parameters<Kind['sameProof']>[0]

/** What proves one of them, and names the same `kind`. */
export type KindProof = Parameters<Kind['amr']>[0]

/** The second factors of an account. */
interface HasFactors {
  factors: readonly Factor[]
}

export function kindOf({ kind }: Factor | KindProof): FactorKind<Factor, KindProof> {
  return kinds[kind]
}

/** Whether signing in asks for a second step. */
export function hasFactor({ factors }: HasFactors): boolean {
  return factors.length > 0
}

/** Since when it does (Unix seconds): when the oldest factor was turned on. Null where none is on. */
export function twoFactorSince({ factors }: HasFactors): number | null {
  return factors.length === 0 ? null : Math.min(...factors.map(({ enabledAt }) => enabledAt))
}

/** Whether a sign-in that was proved for the one account still holds for the other: no factor came, went or changed. */
export function sameFactors(was: HasFactors, is: HasFactors): boolean {
  return (
    was.factors.length === is.factors.length &&
    was.factors.every((former) =>
      is.factors.some((factor) => factor.kind === former.kind && kindOf(factor).sameProof(former, factor)),
    )
  )
}
