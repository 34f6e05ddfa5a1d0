import type { FactorKind } from './factor-kind.js'
import { type Passkey, passkey } from './passkey.js'
import { totp } from './totp.js'

/** Every kind of second factor, by its name. A new kind is a file in this folder and a line here. */
const kinds = {
  totp,
  passkey,
}

type Kind = (typeof kinds)[keyof typeof kinds]

/** A second factor of an account. Every kind has `kind` and `enabledAt`. */
export type Factor = Parameters<Kind['sameProof']>[0]

/** One that is turned on by an enrolment and kept in the user's own row. Passkeys have rows of their own. */
export type EnrolledFactor = Exclude<Factor, Passkey>

/** What proves one of them, and names the same `kind`. */
export type KindProof = Parameters<Kind['amr']>[0]

/** The second factors of an account. */
interface HasFactors {
  factors: readonly Factor[]
}

export function kindOf({ kind }: Factor | KindProof): FactorKind<Factor, KindProof> {
  return kinds[kind]
}

/**
 * The factors that can be proved here. Passkeys of a former RP id stay on the account, but prove nothing.
 *
 * @param rpId what passkeys must have been made for; null: passkeys are off
 */
export function usableFactors({ factors }: HasFactors, rpId: string | null): Factor[] {
  return factors.filter((factor) => kindOf(factor).worksAt(factor, rpId))
}

/** Whether two-factor authentication is on: every sign-in that is not by a passkey asks for a second step. */
export function hasFactor({ factors }: HasFactors): boolean {
  return factors.some(asks)
}

/** Since when it is (Unix seconds): when the oldest factor that asks was turned on. Null where none is on. */
export function twoFactorSince({ factors }: HasFactors): number | null {
  const asking = factors.filter(asks)
  return asking.length === 0 ? null : Math.min(...asking.map(({ enabledAt }) => enabledAt))
}

function asks(factor: Factor): boolean {
  return kindOf(factor).asks
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
