import { type Factor, hasFactor, type KindProof, kindOf } from './factors/kinds.js'

/** A right answer to the second step. The store uses it up: of concurrent uses, exactly one succeeds. */
export type FactorProof = KindProof | BackupCodeProof

export interface BackupCodeProof {
  kind: 'backup_code'
  id: string
}

/** What ends a sign-in of two steps, and is used up with it. */
export interface SecondStep {
  /** The one-time token of the first step. */
  challengeId: string
  proof: FactorProof
}

/**
 * A code for when every factor is lost; only its keyed digest is kept. Backup codes belong to the account: they stand in
 * for any of its factors, and go with the last one.
 */
export interface BackupCode {
  id: string
  codeHash: string
}

/** What a session that has proved any second factor has among its `amr` (RFC 8176). */
const proved = 'mfa'

/** What the second step accepts for that account, as answers name it. Backup codes come and go with factors that ask. */
export function factorMethods(user: { factors: readonly Factor[] }): string[] {
  const methods = [...new Set(user.factors.flatMap((factor) => kindOf(factor).methods))]
  return hasFactor(user) ? [...methods, 'backup_code'] : methods
}

/** What a session has proved, once that proof is added. */
export function withFactor(amr: readonly string[], proof: FactorProof): string[] {
  const added = proof.kind === 'backup_code' ? [] : kindOf(proof).amr(proof)
  return [...new Set([...amr, ...added, proved])]
}

/** The same without its second factor, so that an application that requires one asks for another. */
export function withoutFactor(amr: readonly string[]): string[] {
  return amr.filter((method) => method !== proved)
}

/** Whether a session has proved a second factor. */
export function provesFactor(amr: readonly string[]): boolean {
  return amr.includes(proved)
}
