import type { Factor } from '../model/factors/kinds.js'
import type { FactorProof } from '../model/second-factor.js'

/** The columns of `latchkey_users` that hold second factors. The columns of one kind are null together. */
export interface FactorColumns {
  totp_secret: string | null
  totp_step: number | null
  totp_at: number | null
}

export const factorColumns = ['totp_secret', 'totp_step', 'totp_at'] as const satisfies (keyof FactorColumns)[]

/** The columns that show whether a kind is on; they hold when it was turned on. */
export const factorIndexes = ['totp_at'] as const satisfies (keyof FactorColumns)[]

/** Their values without a second factor. */
export const noFactor = { totp_secret: null, totp_step: null, totp_at: null } as const satisfies FactorColumns

/** Some drivers return numbers as text. */
export function toFactors({ totp_secret, totp_step, totp_at }: FactorColumns): Factor[] {
  if (totp_secret === null) return []
  return [{ kind: 'totp', sealedSecret: totp_secret, lastStep: Number(totp_step), enabledAt: Number(totp_at) }]
}

/** The columns of that one factor; those of other kinds are left out. */
export function toFactorColumns({ sealedSecret, lastStep, enabledAt }: Factor): Partial<FactorColumns> {
  return { totp_secret: sealedSecret, totp_step: lastStep, totp_at: enabledAt }
}

/** The columns of all of an account's factors. */
export function toAllFactorColumns(factors: readonly Factor[]): FactorColumns {
  let columns: FactorColumns = noFactor
  for (const factor of factors) columns = { ...columns, ...toFactorColumns(factor) }
  return columns
}

/** Whether a factor is on, and the code's time step is newer than any accepted before. */
export function acceptsProof({ totp_step: last }: Pick<FactorColumns, 'totp_step'>, proof: FactorProof): boolean {
  if (last === null) return false
  return proof.kind === 'backup_code' || Number(last) < proof.step
}

/** What an accepted proof changes in the row: codes of its time step and of earlier ones are used up. */
export function raisedStep(proof: FactorProof): Partial<FactorColumns> {
  return proof.kind === 'totp' ? { totp_step: proof.step } : {}
}
